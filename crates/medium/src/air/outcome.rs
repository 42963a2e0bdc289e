//! Completion of a frame exchange: acknowledged, retried or dropped MPDUs.

use super::hardware::{Fill, Place, Receiver};
use super::link::limits_in_txop;
use super::node::Node;
use super::sent::Sent;
use super::sequence::{Exchange, FrameSequence, Payload, User};
use super::{Account, Air, Output};
use crate::aggregation::{Aggregate, Limits, Mpdu};
use crate::packet::{DropReason, MANAGEMENT, NodeId};
use crate::queue::{StationState, StationTid};
use netburn_units::Instant;
use std::collections::VecDeque;

/// A rate hardly works if less than one of this many MPDUs arrives. The number is an assumption.
const HARDLY_WORKS: usize = 8;

impl<P: std::fmt::Debug + Send> Air<P> {
    /// Ends the exchange of `id`: acknowledged MPDUs are settled, the others are retried or dropped.
    pub(super) fn end_exchange(&mut self, now: Instant, id: NodeId) {
        let node = &mut self.nodes[id.index()];
        let Exchange {
            category,
            txop_end,
            sequence,
            mut payload,
        } = node.exchange.take().expect("an exchange is in progress");
        // Without an acknowledgement, the contention window of a group-addressed frame stays at its minimum (clause 10.3.3).
        let succeeded = matches!(payload, Payload::Group(_)) || payload.users().any(User::has_received);
        let slot = &mut node.categories[category];
        if succeeded {
            slot.window.succeed(&slot.parameters);
        } else {
            slot.window.fail(&slot.parameters, node.retry_limit);
        }
        if !sequence.has_sent_data() {
            // RTS without CTS counts as a try (dot11ShortRetryLimit): otherwise a sender would
            // never give up an absent receiver.
            payload.count_try();
        }
        slot.hardware.set_on_air(0);
        match payload {
            Payload::Group(aggregate) => node.recycle(aggregate.mpdus),
            Payload::Users { first, others } => {
                self.settle(now, id, category, &sequence, first);
                for user in others {
                    self.settle(now, id, category, &sequence, user);
                }
            }
        }
        // Packets that leave the queue for one category may expose packets of another.
        self.fill_all(now, id, Some(category));
        if succeeded && self.continue_txop(now, id, category, txop_end) {
            return;
        }
        let by_itself = !succeeded && !self.channels[self.nodes[id.index()].channel].failures_known_at_once;
        self.back_off(now, id, category, by_itself);
    }

    /// Settles the acknowledged MPDUs of a user; the others are retried or dropped.
    fn settle(&mut self, now: Instant, id: NodeId, category: usize, sequence: &FrameSequence, user: User<P>) {
        let User {
            tin,
            mut aggregate,
            mut arrived,
        } = user;
        let to = tin.to;
        let node = &mut self.nodes[id.index()];
        let place = node.place_of(to).expect("an exchange has a link");
        let link = &mut node.links[usize::from(place)];
        let is_frame = tin.tid == MANAGEMENT;
        let tries = if is_frame {
            Limits::NONE.tries
        } else {
            link.limits.tries
        };
        let received = arrived.iter().filter(|arrived| **arrived).count();
        if sequence.has_sent_data() && !is_frame {
            link.report(now, &aggregate, received as u32, sequence.reserved);
        }
        // A radio that composes falls back along its chain of rates if hardly any MPDU arrived, as if none had: otherwise a rate
        // that hardly works would use up all tries before the rate control's next update.
        let falls_back =
            node.categories[category].hardware.composes() && received * HARDLY_WORKS < aggregate.mpdus.len();
        let sender = &mut link.senders[usize::from(tin.tid)];
        let (mut sent, mut given_up) = (Sent::new(now, id, to), false);
        let mut arrivals = arrived.iter();
        aggregate.mpdus.retain_mut(|mpdu| {
            if arrivals.next() == Some(&true) {
                sender.settle(mpdu.sequence);
                if !is_frame {
                    sent.add(mpdu, &mut self.outputs);
                }
                false
            } else if mpdu.tries >= tries || link.state == StationState::Gone && !is_frame {
                sender.settle(mpdu.sequence);
                given_up = true;
                if !is_frame {
                    sent.add(mpdu, &mut self.outputs);
                }
                let reason = if mpdu.tries >= tries {
                    DropReason::RetryLimit
                } else {
                    DropReason::Disassociated
                };
                drop_mpdu((now, id, to), reason, mpdu, &mut node.account, &mut self.outputs);
                false
            } else {
                true
            }
        });
        arrived.clear();
        node.spare_arrived = arrived;
        // An MPDU that was given up, now or before, must not block later ones longer than the
        // window does (BlockAckReq).
        let start = sender.window_start();
        let released = &mut self.released;
        link.reorder[usize::from(tin.tid)].move_to(start, |content| released.push(content));
        let hardware = &node.categories[category].hardware;
        let retry = if is_frame {
            Retry::Frame
        } else if aggregate.mpdus.is_empty() {
            Retry::Nothing
        } else if (received > 0 && !falls_back) || given_up || aggregate.probe || link.state == StationState::Asleep {
            Retry::FromQueue
        } else if hardware.composes() {
            Retry::Composed
        } else {
            Retry::SameAggregate
        };
        node.retry(now, category, tin, aggregate, retry);
        sent.flush(&mut self.outputs);
        self.release(now, id, to);
    }
}

/// Next attempt for the MPDUs that were neither acknowledged nor dropped.
enum Retry {
    /// There is none.
    Nothing,
    /// A management frame is retried by itself, at the same rate.
    Frame,
    /// They are sent again before the packets of the queue.
    FromQueue,
    /// Hardly anything was acknowledged: the radio composes the next attempt at its TXOP.
    Composed,
    /// Nothing was acknowledged: the hardware retries the same aggregate, as far as it fits at the new rate. (A probe is
    /// retried in a full aggregate.)
    SameAggregate,
}

impl<P> Node<P> {
    /// Ends the attempt to send an aggregate, with the MPDUs that were neither acknowledged nor dropped.
    fn retry(&mut self, now: Instant, category: usize, tin: StationTid, mut aggregate: Aggregate<P>, retry: Retry) {
        let estimated_airtime = aggregate.estimated_airtime;
        let place = self.place_of(tin.to).expect("an exchange has a link");
        let link = &mut self.links[usize::from(place)];
        let sender = &mut link.senders[usize::from(tin.tid)];
        let slot = &mut self.categories[category];
        match retry {
            Retry::Nothing => {
                self.queue.on_completed(tin, estimated_airtime);
                self.recycle(aggregate.mpdus);
            }
            Retry::Frame if aggregate.mpdus.is_empty() => self.recycle(aggregate.mpdus),
            Retry::Frame => {
                aggregate.failures += 1;
                slot.hardware.push_again(Receiver::Station(tin), aggregate);
            }
            Retry::FromQueue => {
                sender.send_again(aggregate.mpdus.drain(..));
                self.queue.on_completed(tin, estimated_airtime);
                self.set_unsent(now, tin);
                self.recycle(aggregate.mpdus);
            }
            Retry::Composed => {
                slot.hardware.put_place_first(Place {
                    tin,
                    failures: aggregate.failures + 1,
                    estimated_airtime,
                    mpdus: aggregate.mpdus.len(),
                    fill: Fill::default(),
                    full: false,
                    closed: false,
                });
                sender.send_again(aggregate.mpdus.drain(..));
                if !slot.hardware.takes_packets() {
                    self.set_unsent(now, tin);
                }
                self.recycle(aggregate.mpdus);
            }
            Retry::SameAggregate => {
                aggregate.failures += 1;
                let (sending, _) = link.choose(now, aggregate.failures);
                if sending.vector != aggregate.sending.vector {
                    let limits = limits_in_txop(&link.limits, &sending, &slot.parameters, self.sifs);
                    let rest = aggregate.send_by(sending, &limits);
                    if !rest.is_empty() {
                        let sender = &mut link.senders[usize::from(tin.tid)];
                        sender.send_again(rest.into_iter());
                        self.queue.set_unsent(now, tin, sender.unsent());
                    }
                }
                slot.hardware.push_again(Receiver::Station(tin), aggregate);
            }
        }
    }
}

/// Drops an MPDU.
fn drop_mpdu<P>(
    (now, from, to): (Instant, NodeId, NodeId),
    reason: DropReason,
    mpdu: &mut Mpdu<P>,
    account: &mut Account,
    outputs: &mut VecDeque<Output<P>>,
) {
    for queued in mpdu.packet.take().into_iter().chain(mpdu.take_more()) {
        account.drops += 1;
        outputs.push_back(Output::Dropped {
            at: now,
            from,
            to,
            reason,
            packet: Some(queued.packet),
        });
    }
}
