//! Completion of a frame exchange: acknowledged, retried or dropped MPDUs.

use super::hardware::{Fill, Place};
use super::node::{Exchange, Node, limits_in_txop};
use super::sent::Sent;
use super::{Account, Air, Output};
use crate::aggregation::{Aggregate, Limits, Mpdu};
use crate::packet::{DropReason, MANAGEMENT, NodeId};
use crate::queue::StationState;
use netburn_units::Instant;
use std::collections::VecDeque;

/// A rate hardly works if less than one of this many MPDUs arrives. The number is an assumption.
const HARDLY_WORKS: usize = 8;

impl<P: std::fmt::Debug + Send> Air<P> {
    /// Processes the received acknowledgement.
    pub(super) fn handle_success(&mut self, now: Instant, id: NodeId) {
        let node = &mut self.nodes[id.index()];
        let exchange = node.exchange.as_mut().expect("an acknowledgement ends an exchange");
        let category = exchange.category;
        let slot = &mut node.categories[category];
        slot.window.succeed(&slot.parameters);
        let txop_end = exchange.txop_end;
        self.settle(now, id, true);
        if !self.continue_txop(now, id, category, txop_end) {
            self.back_off(now, id, category, false);
        }
    }

    /// Processes a missing acknowledgement or CTS.
    pub(super) fn handle_failure(&mut self, now: Instant, id: NodeId) {
        let node = &mut self.nodes[id.index()];
        let exchange = node.exchange.as_mut().expect("a time-out ends an exchange");
        let category = exchange.category;
        // No MPDU was acknowledged, even if some arrived.
        exchange.arrived.clear();
        if !exchange.data_sent {
            // RTS without CTS counts as a try (dot11ShortRetryLimit): otherwise a sender would
            // never give up an absent receiver.
            for mpdu in &mut exchange.aggregate.mpdus {
                mpdu.tries += 1;
            }
        }
        let slot = &mut node.categories[category];
        slot.window.fail(&slot.parameters, node.retry_limit);
        self.settle(now, id, false);
        let by_itself = !self.channels[self.nodes[id.index()].channel].failures_known_at_once;
        self.back_off(now, id, category, by_itself);
    }

    /// Ends the exchange: acknowledged MPDUs are settled, the others are retried or dropped.
    pub(super) fn settle(&mut self, now: Instant, id: NodeId, acknowledged: bool) {
        let node = &mut self.nodes[id.index()];
        let Exchange {
            category,
            mut aggregate,
            mut arrived,
            reserved,
            data_sent,
            ..
        } = node.exchange.take().expect("an exchange to settle");
        let (tin, to) = (aggregate.tin, aggregate.tin.to);
        let place = node.place_of(to).expect("an exchange has a link");
        let link = &mut node.links[usize::from(place)];
        let is_frame = tin.tid == MANAGEMENT;
        let tries = if is_frame {
            Limits::NONE.tries
        } else {
            link.limits.tries
        };
        if data_sent && !is_frame {
            let count = arrived.iter().filter(|arrived| **arrived).count() as u32;
            link.report(now, &aggregate, count, reserved);
        }
        // A radio that composes falls back along its chain of rates if hardly any MPDU arrived, as if none had: otherwise a rate
        // that hardly works would use up all tries before the rate control's next update.
        let received = arrived.iter().filter(|arrived| **arrived).count();
        let falls_back =
            node.categories[category].hardware.composes() && received * HARDLY_WORKS < aggregate.mpdus.len();
        let sender = &mut link.senders[usize::from(tin.tid)];
        let (mut sent, mut given_up) = (Sent::new(now, id, to), false);
        let mut kept = node.spare.pop().unwrap_or_default();
        for (index, mpdu) in aggregate.mpdus.drain(..).enumerate() {
            if arrived.get(index) == Some(&true) {
                sender.settle(mpdu.sequence);
                if !is_frame {
                    sent.add(&mpdu, &mut self.outputs);
                }
            } else if mpdu.tries >= tries || link.state == StationState::Gone && !is_frame {
                sender.settle(mpdu.sequence);
                given_up = true;
                if !is_frame {
                    sent.add(&mpdu, &mut self.outputs);
                }
                let reason = if mpdu.tries >= tries {
                    DropReason::RetryLimit
                } else {
                    DropReason::Disassociated
                };
                drop_mpdu((now, id, to), reason, mpdu, &mut node.account, &mut self.outputs);
            } else {
                kept.push(mpdu);
            }
        }
        arrived.clear();
        node.spare_arrived = arrived;
        // An MPDU that was given up, now or before, must not block later ones longer than the
        // window does (BlockAckReq).
        let start = sender.window_start();
        let released = &mut self.released;
        link.reorder[usize::from(tin.tid)].move_to(start, |content| released.push(content));
        let slot = &mut node.categories[category];
        slot.hardware.set_on_air(0);
        let retry = if is_frame {
            Retry::Frame
        } else if kept.is_empty() {
            Retry::Nothing
        } else if (acknowledged && !falls_back) || given_up || aggregate.probe || link.state == StationState::Asleep {
            Retry::FromQueue
        } else if slot.hardware.composes() {
            Retry::Composed
        } else {
            Retry::SameAggregate
        };
        node.retry(now, category, aggregate, &mut kept, retry);
        node.recycle(kept);
        sent.flush(&mut self.outputs);
        self.release(now, id, to);
        // Packets that leave the queue for one category may expose packets of another.
        self.fill_all(now, id, Some(category));
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
    /// Ends the attempt to send `aggregate`, of which `kept` remains.
    fn retry(
        &mut self,
        now: Instant,
        category: usize,
        mut aggregate: Aggregate<P>,
        kept: &mut Vec<Mpdu<P>>,
        retry: Retry,
    ) {
        let (tin, estimated_airtime) = (aggregate.tin, aggregate.estimated_airtime);
        let place = self.place_of(tin.to).expect("an exchange has a link");
        let link = &mut self.links[usize::from(place)];
        let sender = &mut link.senders[usize::from(tin.tid)];
        let slot = &mut self.categories[category];
        match retry {
            Retry::Nothing => {
                self.queue.on_completed(tin, estimated_airtime);
                self.recycle(aggregate.mpdus);
            }
            Retry::Frame if kept.is_empty() => self.recycle(aggregate.mpdus),
            Retry::Frame => {
                aggregate.mpdus.append(kept);
                aggregate.failures += 1;
                slot.hardware.push_again(aggregate);
            }
            Retry::FromQueue => {
                sender.send_again(kept.drain(..));
                self.queue.on_completed(tin, estimated_airtime);
                self.set_unsent(now, tin);
                self.recycle(aggregate.mpdus);
            }
            Retry::Composed => {
                slot.hardware.put_place_first(Place {
                    tin,
                    failures: aggregate.failures + 1,
                    estimated_airtime,
                    mpdus: kept.len(),
                    fill: Fill::default(),
                    full: false,
                    closed: false,
                });
                sender.send_again(kept.drain(..));
                if !slot.hardware.takes_packets() {
                    self.set_unsent(now, tin);
                }
                self.recycle(aggregate.mpdus);
            }
            Retry::SameAggregate => {
                aggregate.mpdus.append(kept);
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
                slot.hardware.push_again(aggregate);
            }
        }
    }
}

/// Drops an MPDU.
fn drop_mpdu<P>(
    (now, from, to): (Instant, NodeId, NodeId),
    reason: DropReason,
    mpdu: Mpdu<P>,
    account: &mut Account,
    outputs: &mut VecDeque<Output<P>>,
) {
    for queued in mpdu.packet.into_iter().chain(mpdu.more) {
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
