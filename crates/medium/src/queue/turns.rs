//! Whose turn it is among tins that have something to send.

use super::Tin;
use super::tins::Tins;
use std::collections::VecDeque;

/// Tins in the order of their turn, each at most once.
#[derive(Debug, Default)]
pub(super) struct Turns {
    order: VecDeque<Tin>,
    /// Of each tin: whether it has a place.
    listed: Tins<bool>,
}

impl Turns {
    /// At the end, if it has no place yet.
    pub(super) fn join_last(&mut self, tin: Tin) {
        if !std::mem::replace(self.listed.entry(tin, || false), true) {
            self.order.push_back(tin);
        }
    }

    /// In front, if it has no place yet.
    pub(super) fn join_first(&mut self, tin: Tin) {
        if !std::mem::replace(self.listed.entry(tin, || false), true) {
            self.order.push_front(tin);
        }
    }

    /// Whose turn it is.
    pub(super) fn first(&self) -> Option<Tin> {
        self.order.front().copied()
    }

    /// The first goes to the end.
    pub(super) fn pass(&mut self) {
        self.order.rotate_left(usize::from(!self.order.is_empty()));
    }

    /// The first leaves.
    pub(super) fn leave(&mut self) {
        if let Some(tin) = self.order.pop_front() {
            *self.listed.entry(tin, || false) = false;
        }
    }

    pub(super) fn len(&self) -> usize {
        self.order.len()
    }
}
