//! Group-addressed frames: one transmission at the lowest basic rate or a set rate to all nodes, without
//! acknowledgement and without retries (802.11-2020 clause 10.3.6). Each node receives or loses it
//! independently.

use super::channel::OnAir;
use super::hardware::Receiver;
use super::link::Link;
use super::sequence::Payload;
use super::{Air, Output, Transmission};
use crate::aggregation::{Fit, Framing, Limits, Sender};
use crate::edca::AccessCategory;
use crate::packet::{MANAGEMENT, NodeId, Packet, Queued};
use crate::phy::Modulation;
use crate::queue::StationState;
use netburn_units::{Instant, RandomStream};

impl<P: std::fmt::Debug + Send> Air<P> {
    /// Sends a group-addressed frame past the transmit queue. `rate`: its DSSS or OFDM modulation; `None`: the lowest
    /// basic rate. Its end is an [`Output::Group`]. `packet` is data, or a management frame ([`Packet::management`]). Without a link
    /// it ends at once, and nothing is transmitted.
    pub fn send_group(
        &mut self,
        now: Instant,
        from: NodeId,
        category: AccessCategory,
        framing: &Framing,
        rate: Option<Modulation>,
        packet: Packet<P>,
    ) {
        self.handle_timeout(now);
        self.due = None;
        let now = self.now;
        let node = &mut self.nodes[from.index()];
        let sending = |link: &Link<P>| rate.map_or(link.frame, |rate| link.legacy_sending(rate));
        let Some(sending) = node.links.first().map(sending) else {
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
        let mut packet = Some(Queued {
            to: from,
            since: now,
            arrival: node.arrivals,
            packet,
        });
        let mpdus = node.spare.pop().unwrap_or_default();
        let limits = &Limits::NONE;
        let frame = Sender::default().build(now, &sending, limits, framing, 1, Fit::Keep, mpdus, |_| packet.take());
        if let Some(mut frame) = frame {
            frame.probe = false;
            node.categories[category.index()].hardware.push(Receiver::Group, frame);
        }
        self.contend(now, from, category.index());
    }

    /// Processes the end of the group-addressed frame of `id`. Returns true if a node received it.
    pub(super) fn handle_group_data(&mut self, now: Instant, id: NodeId, frame: &OnAir) -> bool {
        let node = &mut self.nodes[id.index()];
        let channel = &self.channels[node.channel];
        let Some(Payload::Group(aggregate)) = node.exchange.as_mut().map(|exchange| &mut exchange.payload) else {
            return false;
        };
        let mut heard = Vec::new();
        let has_collided = channel.has_collided(frame);
        let mut is_heard = false;
        for mpdu in aggregate.mpdus.drain(..) {
            let Some(queued) = mpdu.packet else { continue };
            for link in &mut node.links {
                let chance = link.success(&aggregate.sending.vector, mpdu.length);
                let clear = channel.is_clear_at(frame, link.to);
                if happens(&mut self.group_loss_rng, chance) && clear && link.state != StationState::Gone {
                    heard.push(link.to);
                }
            }
            is_heard |= !heard.is_empty();
            if let Some(trace) = &mut self.trace {
                trace.push_back(Transmission {
                    at: frame.start,
                    duration: aggregate.duration,
                    from: id,
                    to: None,
                    tid: MANAGEMENT,
                    vector: aggregate.sending.vector,
                    mpdus: 1,
                    arrived: u32::from(!heard.is_empty()),
                    collided: has_collided,
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
        node.account.collisions += u64::from(has_collided);
        is_heard
    }
}

fn happens(rng: &mut RandomStream, chance: f64) -> bool {
    ((rng.next_u64() >> 11) as f64) < chance * (1_u64 << 53) as f64
}
