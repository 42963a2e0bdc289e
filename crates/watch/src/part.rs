//! Parts of the way to the server, and the answers to their probes.

use netburn_units::{Duration, Instant};
use std::fmt;

/// Part of the way that a probe measures, in the order of a packet's way.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Part {
    /// To the router.
    Near,
    /// To the first hop beyond the router.
    Line,
    /// To the server.
    Server,
}

impl Part {
    /// All parts.
    pub const ALL: [Part; 3] = [Part::Near, Part::Line, Part::Server];

    /// Name, which is that of the workload in the record.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Part::Near => "near",
            Part::Line => "line",
            Part::Server => "server",
        }
    }

    /// The part of this name.
    #[must_use]
    pub fn by_name(name: &str) -> Option<Part> {
        Part::ALL.into_iter().find(|part| part.name() == name)
    }

    /// Place in [`ALL`](Self::ALL).
    #[must_use]
    pub const fn index(self) -> usize {
        self as usize
    }
}

impl fmt::Display for Part {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// A probe whose result is known.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Sample {
    /// Part that it measured.
    pub part: Part,
    /// Due time, by the monotonic clock of the watch.
    pub at: Instant,
    /// Round trip; `None` for a lost probe.
    pub round_trip: Option<Duration>,
}
