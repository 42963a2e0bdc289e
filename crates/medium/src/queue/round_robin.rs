//! Round-robin order of tins with something to send.

use super::StationTid;
use super::tins::Tins;
use std::collections::VecDeque;

/// Tins in their order, each at most once.
#[derive(Debug, Default)]
pub(super) struct RoundRobin {
    order: VecDeque<StationTid>,
    /// For each tin: true if it has a position.
    listed: Tins<bool>,
}

impl RoundRobin {
    /// Adds a tin at the end, if it has no position yet.
    pub(super) fn join_last(&mut self, tin: StationTid) {
        if !std::mem::replace(self.listed.entry(tin, || false), true) {
            self.order.push_back(tin);
        }
    }

    /// Adds a tin in front, if it has no position yet.
    pub(super) fn join_first(&mut self, tin: StationTid) {
        if !std::mem::replace(self.listed.entry(tin, || false), true) {
            self.order.push_front(tin);
        }
    }

    pub(super) fn first(&self) -> Option<StationTid> {
        self.order.front().copied()
    }

    /// Moves the first tin to the end.
    pub(super) fn pass(&mut self) {
        self.order.rotate_left(usize::from(!self.order.is_empty()));
    }

    /// Removes the first tin.
    pub(super) fn leave(&mut self) {
        if let Some(tin) = self.order.pop_front() {
            *self.listed.entry(tin, || false) = false;
        }
    }

    pub(super) fn len(&self) -> usize {
        self.order.len()
    }
}
