//! Group-addressed frames: one transmission at the lowest basic rate to all nodes, without
//! acknowledgement and without retries (802.11-2020 clause 10.3.6). Each node receives or loses it
//! independently.
//!
//! In the hardware, such a frame has its own sender as receiver.

use super::channel::OnAir;
use super::node::Exchange;
use super::{Air, Output, Transmission};
use crate::aggregation::{Fit, Framing, Limits, Sender};
use crate::edca::AccessCategory;
use crate::packet::{MANAGEMENT, NodeId, Packet, Queued};
use crate::queue::{StationState, Tin};
use netburn_units::{Instant, Stream};

impl<P: std::fmt::Debug + Send> Air<P> {
    /// Sends a group-addressed frame at the lowest basic rate, past the transmit queue. Its end is an
    /// [`Output::Group`]. `packet` is data, or a management frame ([`Packet::management`]). Without a link
    /// it ends at once, and nothing is transmitted.
    pub fn send_group(
        &mut self,
        now: Instant,
        from: NodeId,
        category: AccessCategory,
        framing: &Framing,
        packet: Packet<P>,
    ) {
        self.handle_timeout(now);
        self.due = None;
        let now = self.now;
        let node = &mut self.nodes[from.index()];
        let Some(sending) = node.links.first().map(|link| link.frame) else {
            let heard = Vec::new();
            let at = now;
            self.outputs.push_back(Output::Group {
                at,
                from,
                packet,
                heard,
            });
            return;
        };
        let tin = Tin {
            to: from,
            tid: MANAGEMENT,
        };
        let mut packet = Some(Queued {
            to: from,
            since: now,
            arrival: node.arrivals,
            packet,
        });
        let mpdus = node.spare.pop().unwrap_or_default();
        let limits = &Limits::NONE;
        let frame = Sender::default().build(now, tin, &sending, limits, framing, 1, Fit::Keep, mpdus, |_| {
            packet.take()
        });
        if let Some(mut frame) = frame {
            frame.probe = false;
            node.categories[category.index()].hardware.push(frame);
        }
        self.contend(now, from, category.index());
    }

    /// Processes the end of a group-addressed frame.
    pub(super) fn handle_group_end(&mut self, now: Instant, frame: &OnAir) {
        let id = frame.from.expect("a group-addressed frame has a sender");
        let node = &mut self.nodes[id.index()];
        let Exchange {
            category,
            mut aggregate,
            arrived,
            txop_end,
            ..
        } = node.exchange.take().expect("the frame belongs to an exchange");
        node.spare_arrived = arrived;
        let mut heard = Vec::new();
        for mpdu in aggregate.mpdus.drain(..) {
            let Some(queued) = mpdu.packet else { continue };
            for link in &mut node.links {
                let chance = link.success(&aggregate.sending.vector, mpdu.length);
                let clear = self.channels[node.channel].is_clear_at(frame, link.to);
                if happens(&mut self.group_loss, chance) && clear && link.state != StationState::Gone {
                    heard.push(link.to);
                }
            }
            if let Some(trace) = &mut self.trace {
                trace.push_back(Transmission {
                    at: frame.start,
                    duration: aggregate.duration,
                    from: id,
                    to: id,
                    tid: MANAGEMENT,
                    vector: aggregate.sending.vector,
                    mpdus: 1,
                    arrived: u32::from(!heard.is_empty()),
                    collided: frame.has_collided(),
                    length: aggregate.length,
                });
            }
            self.outputs.push_back(Output::Group {
                at: now,
                from: id,
                packet: queued.packet,
                heard: std::mem::take(&mut heard),
            });
        }
        node.account.collisions += u64::from(frame.has_collided());
        node.recycle(aggregate.mpdus);
        // Without an acknowledgement the contention window stays at its minimum (clause 10.3.3).
        let slot = &mut node.categories[category];
        slot.window.succeed(&slot.parameters);
        slot.hardware.set_on_air(0);
        self.fill_all(now, id, Some(category));
        if !self.continue_txop(now, id, category, txop_end) {
            self.back_off(now, id, category, false);
        }
    }
}

fn happens(stream: &mut Stream, chance: f64) -> bool {
    ((stream.next_u64() >> 11) as f64) < chance * (1_u64 << 53) as f64
}
