//! Text form of types with a fixed set of values.

/// Unknown name.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("unknown {what} `{found}`; known: {}", .known.join(", "))]
pub struct UnknownName {
    /// Kind of name that is expected.
    pub what: &'static str,
    /// Input text.
    pub found: String,
    /// Known names.
    pub known: &'static [&'static str],
}

/// Implements the text form of an enum as in scenario files, and its parser.
macro_rules! named {
    ($type:ident, $what:literal, $($variant:ident = $name:literal),+ $(,)?) => {
        impl $type {
            /// All variants.
            pub const ALL: &[$type] = &[$($type::$variant),+];
            /// All names, in the order of `ALL`.
            pub const NAMES: &[&str] = &[$($name),+];

            /// Name in scenario files.
            #[must_use]
            pub const fn as_str(self) -> &'static str {
                match self {
                    $($type::$variant => $name),+
                }
            }
        }

        impl std::str::FromStr for $type {
            type Err = $crate::common::UnknownName;

            /// Parses the name exactly as [`as_str`](Self::as_str) returns it.
            fn from_str(text: &str) -> Result<Self, Self::Err> {
                match text {
                    $($name => Ok($type::$variant),)+
                    _ => Err($crate::common::UnknownName { what: $what, found: text.to_owned(), known: Self::NAMES }),
                }
            }
        }

        impl std::fmt::Display for $type {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.pad(self.as_str())
            }
        }
    };
}

pub(crate) use named;
