//! TXOP: the first exchange after winning the medium, and further ones as far as they fit (clause
//! 10.23.2.8).

use super::{Air, Event, Step};
use crate::aggregation::Aggregate;
use crate::packet::NodeId;
use netburn_units::Instant;

impl<P: std::fmt::Debug + Send> Air<P> {
    /// Starts a TXOP: the node sends the first aggregate of that category.
    pub(super) fn begin_access(&mut self, now: Instant, id: NodeId, category: usize) {
        let node = &mut self.nodes[id.index()];
        if node.away {
            return;
        }
        let txop_end = now + node.categories[category].parameters.txop;
        let Some(aggregate) = node.take(now, category, None) else {
            self.fill_all(now, id, None);
            return;
        };
        self.begin_exchange(now, id, category, aggregate, txop_end);
        self.report_drops(now, id);
    }

    fn begin_exchange(
        &mut self,
        now: Instant,
        id: NodeId,
        category: usize,
        aggregate: Aggregate<P>,
        txop_end: Instant,
    ) {
        let node = &mut self.nodes[id.index()];
        let to_group = aggregate.tin.to == id;
        let with_rts = !to_group && node.rts_threshold.is_some_and(|least| aggregate.length >= least);
        let vector = aggregate.sending.vector;
        node.begin(category, aggregate, txop_end, false);
        if with_rts {
            self.send_rts(now, id);
        } else if let Some(protection) = self.protection(&self.nodes[id.index()], &vector) {
            self.send_cts_to_self(now, id, &protection);
        } else {
            self.send_data(now, id);
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
        let Some(aggregate) = node.take(now, category, Some(left)) else {
            self.fill_all(now, id, Some(category));
            return false;
        };
        if aggregate.duration + aggregate.response() > left {
            node.categories[category].hardware.push_again(aggregate);
            return false;
        }
        node.begin(category, aggregate, txop_end, true);
        self.schedule(
            now + sifs,
            Event::Begin {
                node: id,
                step: Step::Data,
            },
        );
        true
    }
}
