//! Changes of the air at run time.

use super::Air;
use crate::config::AdapterRate;
use crate::packet::NodeId;
use crate::phy::{PhyError, TxVector};
use crate::queue::codel::CodelParameters;
use crate::queue::{StationTid, TransmitQueue};
use crate::rate::RateChoice;
use netburn_units::Instant;

impl<P: std::fmt::Debug + Send> Air<P> {
    /// Sets a fixed vector from `from` to `to`, for every signal.
    ///
    /// # Errors
    /// If the standard doesn't have this vector.
    pub fn set_vector(&mut self, from: NodeId, to: NodeId, vector: TxVector) -> Result<(), PhyError> {
        match self.nodes[from.index()].link(to) {
            Some(link) => link.set_vector(vector),
            None => Ok(()),
        }
    }

    /// Sets the SNR of `from` at `to`, in dB.
    pub fn set_snr(&mut self, from: NodeId, to: NodeId, snr_db: Option<f64>) {
        if let Some(link) = self.nodes[from.index()].link(to) {
            link.set_snr(snr_db);
        }
    }

    /// Replaces the rate control from `from` to `to`; its statistics are lost. `vector` as in
    /// [`LinkConfig`](super::LinkConfig).
    ///
    /// # Errors
    /// If the standard doesn't have this vector.
    pub fn set_rate(&mut self, from: NodeId, to: NodeId, vector: TxVector, rate: RateChoice) -> Result<(), PhyError> {
        match self.nodes[from.index()].link(to) {
            Some(link) => link.set_rate(vector, rate),
            None => Ok(()),
        }
    }

    /// Ends the rate control from `from` to `to`, which forgets its statistics: the last vector
    /// remains. [`set_rate`](Self::set_rate) starts another one.
    pub fn end_rate_control(&mut self, from: NodeId, to: NodeId) {
        if let Some(link) = self.nodes[from.index()].link(to) {
            link.end_rate_control();
        }
    }

    /// Sets the further bytes in the MAC header of data from `from` to `to`: 6 for a fourth address
    /// (802.11-2020 figure 9-30), 6 to 18 for mesh control (clause 9.2.4.7.3).
    pub fn set_extra_header(&mut self, from: NodeId, to: NodeId, bytes: u32) {
        if let Some(link) = self.nodes[from.index()].link(to) {
            link.set_extra_header(bytes);
        }
    }

    /// Sets the throughput limits of a node's adapter. Packets in it complete at the old rate.
    pub fn set_limit(&mut self, node: NodeId, limit: AdapterRate) {
        self.nodes[node.index()].set_limit(limit);
    }

    /// Replaces a node's transmit queue. Packets in the old queue are dropped; those in the
    /// hardware are sent.
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

    /// Sets the CoDel parameters of a station at a node's queue, if the queue has them.
    pub fn set_codel(&mut self, node: NodeId, station: NodeId, codel: CodelParameters) {
        for tid in 0..8 {
            self.nodes[node.index()]
                .queue
                .set_codel(StationTid { to: station, tid }, codel);
        }
    }

    /// Sets a station's weight in a node's airtime scheduler, if its queue has one.
    pub fn set_weight(&mut self, node: NodeId, station: NodeId, weight: u32) {
        self.nodes[node.index()].queue.set_weight(station, weight);
    }

    /// Sets the share of a channel that other networks use, 0 to 0.95.
    pub fn set_busy(&mut self, now: Instant, channel: usize, share: f64) {
        self.handle_timeout(now);
        self.due = None;
        let now = self.now;
        if self.channels[channel].obss.set_share(share) {
            self.schedule_obss(now, channel);
        }
    }
}
