//! TXOP: the first exchange after winning the medium, and further ones as far as they fit (clause
//! 10.23.2.8).

use super::hardware::{Addressed, Receiver};
use super::node::Node;
use super::sequence::{FrameSequence, Opening};
use super::{Air, Event};
use crate::packet::NodeId;
use crate::phy::response;
use netburn_units::Instant;

impl<P: std::fmt::Debug + Send> Air<P> {
    /// Starts a TXOP: the node sends the first aggregate of that category.
    pub(super) fn begin_access(&mut self, now: Instant, id: NodeId, category: usize) {
        let node = &mut self.nodes[id.index()];
        if node.away {
            return;
        }
        let txop_end = now + node.categories[category].parameters.txop;
        let Some(addressed) = node.take(now, category, None) else {
            self.fill_all(now, id, None);
            return;
        };
        let opening = self.opening(&self.nodes[id.index()], &addressed);
        self.begin_exchange(id, category, addressed, opening, txop_end);
        self.send_step(now, id);
        self.report_drops(now, id);
    }

    fn begin_exchange(
        &mut self,
        id: NodeId,
        category: usize,
        addressed: Addressed<P>,
        opening: Opening,
        txop_end: Instant,
    ) {
        let node = &mut self.nodes[id.index()];
        let payload = node.payload(addressed);
        let sequence = FrameSequence::new(opening, &payload, &self.channels[node.channel].timing);
        node.begin(category, payload, sequence, txop_end);
    }

    /// Frames ahead of an aggregate: RTS and CTS above the threshold, or protection from 802.11b stations, which can't decode
    /// the aggregate.
    fn opening(&self, node: &Node<P>, Addressed { to, aggregate }: &Addressed<P>) -> Opening {
        let data = &aggregate.sending.vector;
        let protected = self.channels[node.channel].protection;
        let protection = protected.then(|| response::protection(data)).flatten();
        let has_rts = node.rts_threshold.is_some_and(|least| aggregate.length >= least);
        match (to, protection) {
            (Receiver::Station(_), protection) if has_rts => {
                Opening::RtsCts(protection.unwrap_or_else(|| response::legacy(node.rts_rate, data)))
            }
            (_, Some(protection)) => Opening::CtsToSelf(protection),
            (_, None) => Opening::Contention,
        }
    }

    /// Sends the next frame of a TXOP if one is ready and fits. Returns true if it was sent.
    pub(super) fn continue_txop(&mut self, now: Instant, id: NodeId, category: usize, txop_end: Instant) -> bool {
        let node = &mut self.nodes[id.index()];
        if node.categories[category].parameters.txop.is_zero() || node.categories[category].hardware.is_empty() {
            return false;
        }
        let sifs = node.sifs;
        let Some(left) = txop_end.checked_since(now + sifs * 2) else {
            return false;
        };
        let Some(addressed) = node.take(now, category, Some(left)) else {
            self.fill_all(now, id, Some(category));
            return false;
        };
        if addressed.aggregate.duration + addressed.aggregate.response() > left {
            node.categories[category]
                .hardware
                .push_again(addressed.to, addressed.aggregate);
            return false;
        }
        self.begin_exchange(id, category, addressed, Opening::Txop, txop_end);
        self.schedule(now + sifs, Event::Begin { node: id });
        true
    }
}
