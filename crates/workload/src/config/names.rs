//! How kinds, priorities and connections are written, and how a goal reads.

use super::{Connections, Goal, Kind, Priority};
use std::fmt;
use std::str::FromStr;

/// A name that is none of the known ones.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("unknown {what} `{found}`; known: {}", .known.join(", "))]
pub struct UnknownName {
    /// What it should have named.
    pub what: &'static str,
    /// The text as found.
    pub found: String,
    /// The names that would do.
    pub known: &'static [&'static str],
}

/// Gives an enum its names as written in scenario files, and reads them back.
macro_rules! named {
    ($type:ident, $what:literal, $($variant:ident = $name:literal),+ $(,)?) => {
        impl $type {
            /// All of them.
            pub const ALL: &[$type] = &[$($type::$variant),+];
            /// All names, in the same order.
            pub const NAMES: &[&str] = &[$($name),+];

            /// The name, as written in scenario files.
            #[must_use]
            pub const fn as_str(self) -> &'static str {
                match self {
                    $($type::$variant => $name),+
                }
            }
        }

        impl FromStr for $type {
            type Err = UnknownName;

            /// Reads the name exactly as [`as_str`](Self::as_str) writes it.
            fn from_str(text: &str) -> Result<Self, UnknownName> {
                match text {
                    $($name => Ok($type::$variant),)+
                    _ => Err(UnknownName { what: $what, found: text.to_owned(), known: Self::NAMES }),
                }
            }
        }

        impl fmt::Display for $type {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.pad(self.as_str())
            }
        }
    };
}

named!(
    Kind,
    "kind",
    Pages = "pages",
    Stream = "stream",
    Calls = "calls",
    Download = "download",
    Upload = "upload",
    Probe = "probe",
);

named!(Connections, "connections", New = "new", Keep = "keep");

named!(
    Priority,
    "priority",
    Background = "background",
    BestEffort = "best-effort",
    Video = "video",
    Voice = "voice",
);

impl Goal {
    /// The goal as people read it: `page load ≤ 500 ms`, `latency ≤ 150 ms`, `every 2 s ≥ 20 Mbit/s`, `no stall`.
    #[must_use]
    pub fn describe(&self, kind: Kind) -> String {
        match self {
            Goal::Latency { limit } => {
                let what = match kind {
                    Kind::Pages => "page load",
                    Kind::Probe => "round trip",
                    Kind::Stream | Kind::Calls | Kind::Download | Kind::Upload => "latency",
                };
                format!("{what} ≤ {limit}")
            }
            Goal::Rate { at_least, window, .. } => format!("every {window} ≥ {at_least}"),
            Goal::NoStall => "no stall".to_owned(),
        }
    }
}
