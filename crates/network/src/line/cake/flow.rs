//! A queue of a tin, with its position in the rotation.

use super::cobalt::Cobalt;
use netburn_medium::packet::Queued;
use std::collections::VecDeque;

/// Position of a flow in the rotation (`cake_flow.set`).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) enum Set {
    /// In no list.
    #[default]
    None,
    /// Counts as sparse.
    Sparse,
    /// Empty, counts as sparse, and waits among the old flows because of its deficit.
    SparseWait,
    /// Counts as bulk.
    Bulk,
    /// Empty, and kept until its AQM has decayed.
    Decaying,
}

/// A queue of a tin.
#[derive(Debug)]
pub(super) struct Flow<P> {
    pub(super) packets: VecDeque<Queued<P>>,
    pub(super) bytes: u64,
    /// In 2⁻¹⁶ bytes, because a quantum is divided by the flows of a host.
    pub(super) deficit: i64,
    pub(super) set: Set,
    pub(super) source: u32,
    pub(super) destination: u32,
    pub(super) cobalt: Cobalt,
}

impl<P> Default for Flow<P> {
    fn default() -> Self {
        Flow {
            packets: VecDeque::new(),
            bytes: 0,
            deficit: 0,
            set: Set::None,
            source: 0,
            destination: 0,
            cobalt: Cobalt::default(),
        }
    }
}

impl<P> Flow<P> {
    /// Returns true if the flow is in a list of its tin.
    pub(super) fn is_listed(&self) -> bool {
        self.set != Set::None
    }

    /// Removes the first packet.
    pub(super) fn pop(&mut self) -> Option<Queued<P>> {
        let packet = self.packets.pop_front()?;
        self.bytes -= u64::from(packet.packet.length);
        Some(packet)
    }
}
