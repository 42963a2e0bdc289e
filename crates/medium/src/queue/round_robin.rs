//! Round-robin order of tins with something to send.

use super::StationTid;
use std::collections::VecDeque;

/// Tins in their order, each at most once.
#[derive(Debug, Default)]
pub(super) struct RoundRobin {
    order: VecDeque<StationTid>,
    /// By station: a bit for each TID, set if the tin has a position.
    listed: Vec<u16>,
}

impl RoundRobin {
    /// Adds a tin at the end, if it has no position yet.
    pub(super) fn join_last(&mut self, tin: StationTid) {
        if self.list(tin) {
            self.order.push_back(tin);
        }
    }

    /// Adds a tin in front, if it has no position yet.
    pub(super) fn join_first(&mut self, tin: StationTid) {
        if self.list(tin) {
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
            self.listed[tin.to.index()] &= !bit(tin);
        }
    }

    /// Sets that a tin has a position. Returns false if it already had one.
    #[inline]
    fn list(&mut self, tin: StationTid) -> bool {
        let station = tin.to.index();
        if self.listed.len() <= station {
            self.listed.resize(station + 1, 0);
        }
        let tids = &mut self.listed[station];
        let is_new = *tids & bit(tin) == 0;
        *tids |= bit(tin);
        is_new
    }

    pub(super) fn len(&self) -> usize {
        self.order.len()
    }
}

const fn bit(tin: StationTid) -> u16 {
    1 << (tin.tid % 16)
}
