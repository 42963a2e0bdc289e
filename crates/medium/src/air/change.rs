//! What may change while the air is used.

use super::Air;
use crate::config::AdapterRate;
use crate::packet::NodeId;
use crate::phy::{PhyError, TxVector};
use crate::queue::codel::CodelParameters;
use crate::queue::{Tin, TransmitQueue};
use crate::rate::RateChoice;
use netburn_units::Instant;

impl<P: std::fmt::Debug + Send> Air<P> {
    /// How `from` sends to `to` from now on, whatever the signal.
    ///
    /// # Errors
    /// When the standard has no such vector.
    pub fn set_vector(&mut self, from: NodeId, to: NodeId, vector: TxVector) -> Result<(), PhyError> {
        match self.nodes[from.index()].link(to) {
            Some(link) => link.set_vector(vector),
            None => Ok(()),
        }
    }

    /// How good the signal of `from` is at `to` from now on, in decibels over noise.
    pub fn set_snr(&mut self, from: NodeId, to: NodeId, snr_db: Option<f64>) {
        if let Some(link) = self.nodes[from.index()].link(to) {
            link.set_snr(snr_db);
        }
    }

    /// How `from` chooses its rate to `to` from now on: what was learnt is forgotten. `vector` as in
    /// [`LinkConfig`](super::LinkConfig).
    ///
    /// # Errors
    /// When the standard has no such vector.
    pub fn set_rate(&mut self, from: NodeId, to: NodeId, vector: TxVector, rate: RateChoice) -> Result<(), PhyError> {
        match self.nodes[from.index()].link(to) {
            Some(link) => link.set_rate(vector, rate),
            None => Ok(()),
        }
    }

    /// What a node's adapter can move from now on. What it holds is moved on at the old rate.
    pub fn set_limit(&mut self, node: NodeId, limit: AdapterRate) {
        self.nodes[node.index()].set_limit(limit);
    }

    /// A node's transmit queue from now on. What waits in the old one is dropped; what the hardware has goes out.
    pub fn set_queue(&mut self, now: Instant, node: NodeId, queue: Box<dyn TransmitQueue<P>>) {
        self.handle_timeout(now);
        self.due = None;
        let Self { nodes, now, .. } = self;
        let (at, now) = (&mut nodes[node.index()], *now);
        at.queue.clear(&mut at.drops);
        at.queue = queue;
        at.restore_unsent(now);
        self.report_drops(now, node);
        self.fill_all(now, node, None);
    }

    /// The CoDel parameters of a station at a node's queue from now on, where that has such.
    pub fn set_codel(&mut self, node: NodeId, station: NodeId, codel: CodelParameters) {
        for tid in 0..8 {
            self.nodes[node.index()]
                .queue
                .set_codel(Tin { to: station, tid }, codel);
        }
    }

    /// A station's weight in a node's schedule by airtime, where its queue has one.
    pub fn set_weight(&mut self, node: NodeId, station: NodeId, weight: u32) {
        self.nodes[node.index()].queue.set_weight(station, weight);
    }

    /// The share of a channel that others take from now on, 0 to 0.95.
    pub fn set_busy(&mut self, now: Instant, channel: usize, share: f64) {
        self.handle_timeout(now);
        self.due = None;
        let now = self.now;
        if self.channels[channel].others.set_share(share) {
            self.others_next(now, channel);
        }
    }
}
