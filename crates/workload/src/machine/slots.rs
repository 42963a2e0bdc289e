//! The numbers of kept connections.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// Hands out the lowest number that is free.
#[derive(Debug, Default)]
pub(super) struct Slots {
    /// Numbers below `next` that were given back.
    free: BinaryHeap<Reverse<u32>>,
    /// All numbers from here on have never been used.
    next: u32,
}

impl Slots {
    /// Takes the lowest free number.
    pub(super) fn take(&mut self) -> u32 {
        if let Some(Reverse(slot)) = self.free.pop() {
            return slot;
        }
        let slot = self.next;
        self.next += 1;
        slot
    }

    /// Gives a number back.
    pub(super) fn release(&mut self, slot: u32) {
        self.free.push(Reverse(slot));
    }
}
