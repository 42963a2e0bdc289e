//! Reception of data: which MPDUs arrive, and delivery to the host in order.

use super::channel::OnAir;
use super::host_bus::RxBus;
use super::link::Received;
use super::sequence::{Party, User};
use super::{Account, Air, Event, Output, Transmission};
use crate::packet::{DropReason, MANAGEMENT, NodeId, Packet};
use crate::queue::StationTid;
use netburn_units::Instant;
use std::collections::VecDeque;

impl<P: std::fmt::Debug + Send> Air<P> {
    /// Processes the end of the data that `id` sent to its users. Returns true if at least one MPDU arrived.
    pub(super) fn handle_data(&mut self, now: Instant, id: NodeId, frame: &OnAir) -> bool {
        let users = self.nodes[id.index()].exchange().payload.users().count() as u8;
        let (mut is_heard, mut has_collided) = (false, false);
        for user in (0..users).map(Party::User) {
            let lost = !self.hears(id, user, frame);
            has_collided |= lost;
            is_heard |= self.receive(now, id, user, frame, lost);
        }
        self.nodes[id.index()].account.collisions += u64::from(has_collided);
        is_heard
    }

    /// Receives the data that `id` sent to one of its users: MPDU losses and delivery. Returns true if at least one MPDU
    /// arrived.
    fn receive(&mut self, now: Instant, id: NodeId, user: Party, frame: &OnAir, lost: bool) -> bool {
        let receiver = self.nodes[id.index()].exchange().user(user);
        let receiver = receiver.expect("a receiver of the data").tin.to;
        let has_limit = self.nodes[receiver.index()].bus.down.is_some();
        let node = &mut self.nodes[id.index()];
        let exchange = node.exchange.as_mut();
        let user = exchange.and_then(|exchange| exchange.user_mut(user));
        let User {
            tin,
            aggregate,
            arrived: arrivals,
        } = user.expect("a receiver of the data");
        let (tin, to) = (*tin, tin.to);
        let place = node.link_to[to.index()].expect("an exchange has a link");
        let link = &mut node.links[usize::from(place)];
        let (account, outputs, released) = (&mut node.account, &mut self.outputs, &mut self.released);
        let mut release = |content: Received<P>| {
            if has_limit {
                released.push(content);
                return;
            }
            deliver(now, id, to, content.first, account, outputs);
            for packet in content.more {
                deliver(now, id, to, packet, account, outputs);
            }
        };
        let mut arrived = 0;
        // MPDUs often have the same length.
        let (mut known, mut chance) = (None, 0.0);
        arrivals.clear();
        for mpdu in &mut aggregate.mpdus {
            if known.replace(mpdu.length) != Some(mpdu.length) {
                chance = link.success(&aggregate.sending.vector, mpdu.length);
            }
            let ok =
                !lost && (chance >= 1.0 || ((self.loss_rng.next_u64() >> 11) as f64) < chance * (1_u64 << 53) as f64);
            arrivals.push(ok);
            if !ok {
                continue;
            }
            arrived += 1;
            // A retransmission of an MPDU whose acknowledgement was lost has no content.
            let Some(first) = mpdu.packet.take() else { continue };
            let content = Received {
                first: first.packet,
                more: mpdu.more.as_mut().map_or_else(Vec::new, |more| {
                    more.packets.drain(..).map(|queued| queued.packet).collect()
                }),
            };
            let reorder = &mut link.reorder[usize::from(tin.tid)];
            reorder.receive(mpdu.sequence, content, &mut release);
        }
        let (mpdus, duration) = (aggregate.mpdus.len() as u32, aggregate.duration);
        node.account.retries += u64::from(mpdus - arrived);
        if let Some(trace) = &mut self.trace {
            trace.push_back(Transmission {
                at: frame.start,
                duration,
                from: id,
                to: Some(to),
                tid: tin.tid,
                vector: aggregate.sending.vector,
                mpdus,
                arrived,
                collided: lost,
                length: aggregate.length,
            });
        }
        let receiver = &mut self.nodes[to.index()];
        receiver.account.received += duration;
        receiver.account.received_transmissions += 1;
        receiver.account.received_mpdus += u64::from(mpdus);
        receiver.account.received_retries += u64::from(mpdus - arrived);
        if tin.tid != MANAGEMENT {
            let tin = StationTid { to: id, tid: tin.tid };
            receiver.queue.charge_airtime(tin, duration);
        }
        self.release(now, id, to);
        arrived > 0
    }

    /// Delivers the content of MPDUs, directly or through the receiver's adapter.
    pub(super) fn release(&mut self, now: Instant, from: NodeId, to: NodeId) {
        let mut released = std::mem::take(&mut self.released);
        for content in released.drain(..) {
            for packet in std::iter::once(content.first).chain(content.more) {
                let Some(down) = &mut self.nodes[to.index()].bus.down else {
                    let account = &mut self.nodes[from.index()].account;
                    deliver(now, from, to, packet, account, &mut self.outputs);
                    continue;
                };
                match down.receive(now, from, packet) {
                    Ok(None) => {}
                    Ok(Some(at)) => self.schedule(at, Event::Down { node: to }),
                    Err(packet) => {
                        self.nodes[to.index()].account.drops += 1;
                        self.outputs.push_back(Output::Dropped {
                            at: now,
                            from,
                            to,
                            reason: DropReason::AdapterFull,
                            packet: Some(packet),
                        });
                    }
                }
            }
        }
        self.released = released;
    }

    /// Delivers a packet that has passed the adapter of `to`.
    pub(super) fn handle_down(&mut self, now: Instant, to: NodeId) {
        let down = self.nodes[to.index()].bus.down.as_mut();
        let Some((from, packet, next)) = down.and_then(RxBus::pop) else {
            return;
        };
        if let Some(at) = next {
            self.schedule(at, Event::Down { node: to });
        }
        deliver(
            now,
            from,
            to,
            packet,
            &mut self.nodes[from.index()].account,
            &mut self.outputs,
        );
    }
}

/// Reports a packet delivered to its receiver's host.
fn deliver<P>(
    now: Instant,
    from: NodeId,
    to: NodeId,
    packet: Packet<P>,
    account: &mut Account,
    outputs: &mut VecDeque<Output<P>>,
) {
    account.delivered += 1;
    account.delivered_bytes += u64::from(packet.length);
    outputs.push_back(Output::Delivered {
        at: now,
        from,
        to,
        packet,
    });
}
