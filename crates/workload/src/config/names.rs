//! Text form of kinds, priorities, connections and goals.

use super::{Connections, GAP, Goal, Kind, Priority, ProbeTarget};
use netburn_units::{BitRate, Duration};
use std::fmt;
use std::str::FromStr;

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

        impl FromStr for $type {
            type Err = UnknownName;

            /// Parses the name exactly as [`as_str`](Self::as_str) returns it.
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
    Voice = "voice",
    Datagrams = "datagrams",
    Game = "game",
    CloudGaming = "cloud-gaming",
    VideoCall = "video-call",
    Responsiveness = "responsiveness",
    Dash = "dash",
);

named!(ProbeTarget, "target", Near = "near", Line = "line", Server = "server",);

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
    /// Maximum latency of an operation; `None` for other goals.
    #[must_use]
    pub fn latency(&self) -> Option<Duration> {
        match *self {
            Goal::Latency { limit } => Some(limit),
            Goal::Rate { .. }
            | Goal::NoStall
            | Goal::Quality { .. }
            | Goal::Loss { .. }
            | Goal::NoGap
            | Goal::NoFreeze
            | Goal::Rpm { .. }
            | Goal::Frames => None,
        }
    }

    /// Minimum rate and the length of its window; `None` for other goals.
    #[must_use]
    pub fn rate(&self) -> Option<(BitRate, Duration)> {
        match *self {
            Goal::Rate { at_least, window, .. } => Some((at_least, window)),
            Goal::Latency { .. }
            | Goal::NoStall
            | Goal::Quality { .. }
            | Goal::Loss { .. }
            | Goal::NoGap
            | Goal::NoFreeze
            | Goal::Rpm { .. }
            | Goal::Frames => None,
        }
    }

    /// Text form in reports: `page load ≤ 500 ms`, `latency ≤ 150 ms`, `every 2 s ≥ 20 Mbit/s`, `no
    /// stall`, `every 10 s R ≥ 80`, `every 10 s lost ≤ 1 %`, `no gap
    /// of 100 ms`, `frames on time`, `no freeze`, `every 5 s ≥ 1000 rpm`,
    /// `segments ≥ 4.5 Mbit/s`.
    #[must_use]
    pub fn describe(&self, kind: Kind) -> String {
        match self {
            Goal::Latency { limit } => {
                let what = match kind {
                    Kind::Pages => "page load",
                    Kind::Probe | Kind::Game | Kind::CloudGaming => "round trip",
                    Kind::Voice | Kind::Datagrams => "one-way delay",
                    Kind::VideoCall => "frame delay",
                    Kind::Stream | Kind::Calls | Kind::Download | Kind::Upload | Kind::Responsiveness => "latency",
                    Kind::Dash => "segment",
                };
                format!("{what} ≤ {limit}")
            }
            Goal::Rate { at_least, .. } if kind == Kind::Dash => format!("segments ≥ {at_least}"),
            Goal::Rate { at_least, window, .. } => format!("every {window} ≥ {at_least}"),
            Goal::NoStall => "no stall".to_owned(),
            Goal::Frames => "frames on time".to_owned(),
            Goal::NoFreeze => "no freeze".to_owned(),
            Goal::NoGap => format!("no gap of {GAP}"),
            Goal::Quality { at_least, window, .. } => format!("every {window} R ≥ {at_least}"),
            Goal::Rpm { at_least, window, .. } => format!("every {window} ≥ {at_least} rpm"),
            Goal::Loss { at_most, window, .. } => format!("every {window} lost ≤ {at_most}"),
        }
    }
}
