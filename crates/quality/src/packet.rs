//! One packet of a stream.

use netburn_units::{Duration, Instant};

/// A packet that was sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Packet {
    /// Time at which it was due to be sent.
    pub due: Instant,
    /// Time from `due` to its arrival; `None` if it never arrived.
    pub delay: Option<Duration>,
}
