//! Enums whose variants have names.

/// Implements `ALL`, the variants of an enum in this order, and `name`, the name of each.
#[macro_export]
macro_rules! variants {
    ($visibility:vis $type:ident: $($variant:ident = $name:expr),+ $(,)?) => {
        impl $type {
            /// All variants.
            $visibility const ALL: [$type; [$($name),+].len()] = [$($type::$variant),+];

            /// Name of the variant.
            #[must_use]
            $visibility const fn name(self) -> &'static str {
                match self {
                    $($type::$variant => $name,)+
                }
            }
        }
    };
}
