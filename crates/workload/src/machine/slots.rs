//! Numbers of persistent connections.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// Allocator of the lowest free number.
#[derive(Debug, Default)]
pub(super) struct Slots {
    /// Released numbers below `next`.
    free: BinaryHeap<Reverse<u32>>,
    /// This number and all larger ones have never been used.
    next: u32,
}

impl Slots {
    pub(super) fn take(&mut self) -> u32 {
        if let Some(Reverse(slot)) = self.free.pop() {
            return slot;
        }
        let slot = self.next;
        self.next += 1;
        slot
    }

    pub(super) fn release(&mut self, slot: u32) {
        self.free.push(Reverse(slot));
    }
}
