//! Common parts of the fuzz targets with arbitrary operations, and of tests.

pub mod air;
pub mod rating;

use crate::packet::{Ecn, NodeId, Packet, Queued};
use netburn_units::Instant;

/// A best-effort packet of 1500 bytes that entered a queue at `since`, for tests of queue disciplines.
#[must_use]
pub const fn queued(since: Instant, ecn: Ecn) -> Queued<()> {
    Queued {
        to: NodeId(0),
        since,
        arrival: 0,
        packet: Packet {
            length: 1_500,
            flow: 0,
            tid: 0,
            ecn,
            payload: (),
        },
    }
}

/// Reader of single bytes; zeros after the end.
#[derive(Debug)]
pub struct Bytes<'a>(&'a [u8]);

impl<'a> Bytes<'a> {
    /// Starts at the first byte.
    #[must_use]
    pub const fn new(bytes: &'a [u8]) -> Self {
        Bytes(bytes)
    }

    /// Next byte.
    pub fn byte(&mut self) -> u8 {
        let Some((first, rest)) = self.0.split_first() else {
            return 0;
        };
        self.0 = rest;
        *first
    }

    /// A number below `bound` (1 to 256).
    pub fn below(&mut self, bound: usize) -> usize {
        usize::from(self.byte()) % bound.max(1)
    }

    /// One of several values.
    pub fn one_of<T: Copy>(&mut self, of: &[T]) -> T {
        of[self.below(of.len())]
    }

    /// Returns true after the last byte.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}
