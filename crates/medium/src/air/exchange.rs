//! A frame exchange: [RTS, CTS,] data, acknowledgement; what follows success and failure.

use super::channel::{Flight, Kind};
use super::link::Received;
use super::node::{Exchange, limits_within};
use super::{Air, Event, Output, Step, Transmission};
use crate::aggregation::{Aggregate, Mpdu};
use crate::packet::{DropReason, NodeId};
use crate::phy::response;
use netburn_units::{Duration, Instant};

impl<P: std::fmt::Debug + Send> Air<P> {
    /// The medium is the node's: it sends what is first of that category.
    pub(super) fn begin_access(&mut self, now: Instant, id: NodeId, category: usize) {
        let node = &mut self.nodes[id.index()];
        let txop_end = now + node.categories[category].parameters.txop;
        let Some(aggregate) = node.take(now, category) else {
            self.report_drops(now, id);
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
        let protected = node.rts_threshold.is_some_and(|least| aggregate.length >= least);
        node.categories[category].hardware.set_on_air(true);
        let mut arrived = node.exchange.take().map_or_else(Vec::new, |done| done.arrived);
        arrived.clear();
        node.exchange = Some(Exchange {
            category,
            aggregate,
            arrived,
            txop_end,
            reserved: false,
            data_sent: false,
        });
        if protected {
            self.send_rts(now, id);
        } else {
            self.send_data(now, id);
        }
    }

    pub(super) fn handle_event(&mut self, now: Instant, event: Event) {
        match event {
            Event::End { channel, flight } => {
                let flight = self.channels[channel].end(flight);
                self.handle_end(now, channel, &flight);
            }
            Event::Begin { node, step: Step::Cts } => self.send_cts(now, node),
            Event::Begin { node, step: Step::Data } => self.send_data(now, node),
            Event::Begin {
                node,
                step: Step::Response,
            } => self.send_response(now, node),
            Event::TimeOut { node } => self.handle_failure(now, node),
            Event::Up { node } => {
                self.nodes[node.index()].cross();
                self.fill_all(now, node, None);
            }
            Event::Down { node } => self.handle_down(now, node),
            Event::Others { channel } => self.others_arrive(now, channel),
        }
    }

    fn handle_end(&mut self, now: Instant, channel: usize, flight: &Flight) {
        let sifs = self.sifs(channel);
        let after = |step| (now + sifs, step);
        let next = match (flight.kind, flight.lost) {
            (Kind::Others, _) => {
                self.others_end(now, channel);
                return;
            }
            (Kind::Rts, false) => Some((flight.from, after(Step::Cts))),
            (Kind::Cts, false) => {
                let id = flight.to.expect("CTS has a receiver");
                let exchange = self.nodes[id.index()].exchange.as_mut();
                exchange.expect("CTS belongs to an exchange").reserved = true;
                Some((Some(id), after(Step::Data)))
            }
            (Kind::Data, lost) => {
                let arrived = self.handle_data(now, flight, lost);
                arrived.then_some((flight.from, after(Step::Response)))
            }
            (Kind::Response, false) => {
                self.handle_success(now, flight.to.expect("a response has a receiver"));
                return;
            }
            (Kind::Rts | Kind::Cts | Kind::Response, true) => None,
        };
        let timeout = self.channels[channel].timing.response_timeout();
        match next {
            Some((node, (at, step))) => {
                let node = node.expect("frames but the others' have ends");
                self.schedule(at, Event::Begin { node, step });
            }
            None => {
                // The one that waits: the sender of what was not understood, or of what its broken answer was for.
                let (waits, left) = match flight.kind {
                    Kind::Rts | Kind::Data => (flight.from, timeout),
                    _ => (flight.to, Duration::ZERO),
                };
                let node = waits.expect("frames but the others' have ends");
                self.schedule(now + left, Event::TimeOut { node });
            }
        }
    }

    fn send_rts(&mut self, now: Instant, id: NodeId) {
        let node = &self.nodes[id.index()];
        let exchange = node.exchange.as_ref().expect("RTS belongs to an exchange");
        let vector = response::legacy(node.rts_rate, &exchange.aggregate.sending.vector);
        let (rts, cts) = (
            response::duration(&vector, response::RTS),
            response::duration(&vector, response::CTS),
        );
        let channel = node.channel;
        let flight = Flight::new(Kind::Rts, Some(id), Some(exchange.aggregate.tin.to), now, rts);
        // Only as far as the data, which are heard themselves: a missing CTS then costs no one more (clause 10.3.2.4 lets them
        // reset it).
        self.fly(flight.reserving(self.sifs(channel) * 2 + cts), channel);
    }

    /// The receiver answers the RTS of `id`.
    fn send_cts(&mut self, now: Instant, id: NodeId) {
        let node = &self.nodes[id.index()];
        let exchange = node.exchange.as_ref().expect("CTS belongs to an exchange");
        let to = exchange.aggregate.tin.to;
        let vector = response::legacy(node.rts_rate, &exchange.aggregate.sending.vector);
        let (duration, answer) = (exchange.aggregate.duration, self.answer(id));
        let channel = node.channel;
        let flight = Flight::new(
            Kind::Cts,
            Some(to),
            Some(id),
            now,
            response::duration(&vector, response::CTS),
        );
        self.fly(flight.reserving(self.sifs(channel) * 2 + duration + answer), channel);
    }

    fn send_data(&mut self, now: Instant, id: NodeId) {
        let answer = self.answer(id);
        let node = &mut self.nodes[id.index()];
        let exchange = node.exchange.as_mut().expect("data belong to an exchange");
        exchange.data_sent = true;
        let aggregate = &mut exchange.aggregate;
        for mpdu in &mut aggregate.mpdus {
            mpdu.tries += 1;
        }
        let (to, duration) = (aggregate.tin.to, aggregate.duration);
        node.account.sent += duration;
        node.account.transmissions += 1;
        node.account.mpdus += aggregate.mpdus.len() as u64;
        let tin = aggregate.tin;
        node.queue.charge(tin, duration);
        let channel = node.channel;
        let flight = Flight::new(Kind::Data, Some(id), Some(to), now, duration);
        self.fly(flight.reserving(self.sifs(channel) + answer), channel);
    }

    /// The receiver acknowledges the data of `id`.
    fn send_response(&mut self, now: Instant, id: NodeId) {
        let node = &self.nodes[id.index()];
        let to = node
            .exchange
            .as_ref()
            .expect("a response belongs to an exchange")
            .aggregate
            .tin
            .to;
        let flight = Flight::new(Kind::Response, Some(to), Some(id), now, self.answer(id));
        self.fly(flight, self.nodes[id.index()].channel);
    }

    /// How long the acknowledgement of the exchange of `id` lasts.
    fn answer(&self, id: NodeId) -> Duration {
        let exchange = self.nodes[id.index()].exchange.as_ref();
        exchange.expect("an exchange is under way").aggregate.answer()
    }

    /// The data of an exchange have ended: which MPDUs arrived, and what of them goes up. Whether any did.
    fn handle_data(&mut self, now: Instant, flight: &Flight, lost: bool) -> bool {
        let id = flight.from.expect("data have a sender");
        let to = flight.to.expect("data have a receiver");
        let node = &mut self.nodes[id.index()];
        let exchange = node.exchange.as_mut().expect("data belong to an exchange");
        let tin = exchange.aggregate.tin;
        let place = node.link_to[to.index()].expect("an exchange has a link");
        let link = &mut node.links[usize::from(place)];
        let mut arrived = 0;
        exchange.arrived.clear();
        for mpdu in &mut exchange.aggregate.mpdus {
            let chance = link.success(&exchange.aggregate.sending.vector, mpdu.length);
            let ok = !lost && (chance >= 1.0 || ((self.loss.next_u64() >> 11) as f64) < chance * (1_u64 << 53) as f64);
            exchange.arrived.push(ok);
            if !ok {
                continue;
            }
            arrived += 1;
            let reorder = &mut link.reorder[usize::from(tin.tid)];
            // What was received already and only its acknowledgement lost brings nothing.
            let Some(first) = mpdu.packet.take() else { continue };
            let content = Received {
                first: first.packet,
                more: mpdu.more.drain(..).map(|queued| queued.packet).collect(),
            };
            let released = &mut self.released;
            reorder.receive(mpdu.sequence, content, |content| released.push(content));
        }
        let mpdus = exchange.aggregate.mpdus.len() as u32;
        node.account.collisions += u64::from(lost);
        node.account.retries += u64::from(mpdus - arrived);
        if let Some(trace) = &mut self.trace {
            trace.push_back(Transmission {
                at: flight.start,
                duration: exchange.aggregate.duration,
                from: id,
                to,
                tid: tin.tid,
                vector: exchange.aggregate.sending.vector,
                mpdus,
                arrived,
                collided: lost,
                length: exchange.aggregate.length,
            });
        }
        let duration = exchange.aggregate.duration;
        let receiver = &mut self.nodes[to.index()];
        receiver.account.received += duration;
        receiver
            .queue
            .charge(crate::queue::Tin { to: id, tid: tin.tid }, duration);
        self.release(now, id, to);
        arrived > 0
    }

    /// What MPDUs brought goes up, at once or through the receiver's adapter.
    fn release(&mut self, now: Instant, from: NodeId, to: NodeId) {
        let mut released = std::mem::take(&mut self.released);
        for content in released.drain(..) {
            for packet in std::iter::once(content.first).chain(content.more) {
                let Some(down) = &mut self.nodes[to.index()].down else {
                    let account = &mut self.nodes[from.index()].account;
                    super::deliver(now, from, to, packet, account, &mut self.outputs);
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

    /// The acknowledgement came.
    fn handle_success(&mut self, now: Instant, id: NodeId) {
        let node = &mut self.nodes[id.index()];
        let exchange = node.exchange.as_mut().expect("an acknowledgement ends an exchange");
        let category = exchange.category;
        let window = node.categories[category].parameters.cw_min;
        node.categories[category].window = window;
        let txop_end = exchange.txop_end;
        self.settle(now, id, true);
        if !self.continue_txop(now, id, category, txop_end) {
            self.back_off(now, id, category, false);
        }
    }

    /// No acknowledgement came, or no CTS.
    fn handle_failure(&mut self, now: Instant, id: NodeId) {
        let node = &mut self.nodes[id.index()];
        let exchange = node.exchange.as_mut().expect("a time-out ends an exchange");
        let category = exchange.category;
        // None was acknowledged, whatever arrived.
        exchange.arrived.clear();
        if !exchange.data_sent {
            // RTS without CTS counts like a try (dot11ShortRetryLimit): else no one would give up a receiver that has gone.
            for mpdu in &mut exchange.aggregate.mpdus {
                mpdu.tries += 1;
            }
        }
        let slot = &mut node.categories[category];
        slot.window = slot.parameters.doubled(slot.window);
        self.settle(now, id, false);
        self.back_off(now, id, category, true);
    }

    /// Takes the exchange apart: acknowledged MPDUs are done, the others go back or are given up.
    fn settle(&mut self, now: Instant, id: NodeId, acknowledged: bool) {
        let node = &mut self.nodes[id.index()];
        let Exchange {
            category,
            mut aggregate,
            arrived,
            reserved,
            data_sent,
            ..
        } = node.exchange.take().expect("an exchange to settle");
        let (tin, to, handed) = (aggregate.tin, aggregate.tin.to, aggregate.handed);
        let place = node.link_to[to.index()].expect("an exchange has a link");
        let link = &mut node.links[usize::from(place)];
        if data_sent {
            let count = arrived.iter().filter(|arrived| **arrived).count() as u32;
            link.report(now, &aggregate, count, reserved);
        }
        let sender = &mut link.senders[usize::from(tin.tid)];
        let (mut packets, mut bytes, mut given_up) = (0, 0, false);
        let mut kept = Vec::new();
        for (index, mpdu) in aggregate.mpdus.drain(..).enumerate() {
            if arrived.get(index) == Some(&true) {
                sender.settle(mpdu.sequence);
                packets += mpdu.packets;
                bytes += mpdu.content;
            } else if mpdu.tries >= link.limits.tries {
                sender.settle(mpdu.sequence);
                given_up = true;
                packets += mpdu.packets;
                bytes += mpdu.content;
                drop_mpdu(now, id, to, mpdu, &mut node.account, &mut self.outputs);
            } else {
                kept.push(mpdu);
            }
        }
        // What was given up, now or before, must not hold up what came after it any longer than the window does (BlockAckReq).
        let start = sender.window_start();
        let released = &mut self.released;
        link.reorder[usize::from(tin.tid)].move_to(start, |content| released.push(content));
        let slot = &mut node.categories[category];
        if given_up && kept.is_empty() {
            slot.window = slot.parameters.cw_min;
        }
        slot.hardware.set_on_air(false);
        if kept.is_empty() {
            node.queue.finished(tin, handed);
            node.recycle(aggregate.mpdus);
        } else if acknowledged || given_up || aggregate.probe {
            sender.send_again(kept.drain(..));
            node.queue.finished(tin, handed);
            node.queue.resend(now, tin, true);
            node.recycle(aggregate.mpdus);
        } else {
            // Nothing was acknowledged: the hardware tries the same again, as much of it as fits at the rate that is due now. (What
            // tried a rate out goes with a full aggregate next.)
            aggregate.mpdus.append(&mut kept);
            aggregate.failures += 1;
            let (sending, _) = link.choose(now, aggregate.failures);
            if sending.vector != aggregate.sending.vector {
                let limits = limits_within(&link.limits, &sending, &slot.parameters, node.sifs);
                let rest = aggregate.send_by(sending, &limits);
                if !rest.is_empty() {
                    let sender = &mut link.senders[usize::from(tin.tid)];
                    sender.send_again(rest.into_iter());
                    node.queue.resend(now, tin, true);
                }
            }
            slot.hardware.push_again(aggregate);
        }
        if packets > 0 {
            self.outputs.push_back(Output::Sent {
                at: now,
                from: id,
                to,
                packets,
                bytes,
            });
        }
        self.release(now, id, to);
        // What leaves the queue for one category may let packets of another to the front.
        self.fill_all(now, id, Some(category));
    }

    /// Sends the next frame of a TXOP if one is ready and fits. Whether it does.
    fn continue_txop(&mut self, now: Instant, id: NodeId, category: usize, txop_end: Instant) -> bool {
        let node = &mut self.nodes[id.index()];
        if node.categories[category].parameters.txop.is_zero() || node.categories[category].hardware.is_empty() {
            return false;
        }
        let Some(aggregate) = node.take(now, category) else {
            return false;
        };
        let answer = aggregate.answer();
        let sifs = self.channels[node.channel].timing.sifs;
        if now + sifs * 2 + aggregate.duration + answer > txop_end {
            node.categories[category].hardware.push_again(aggregate);
            return false;
        }
        node.categories[category].hardware.set_on_air(true);
        node.exchange = Some(Exchange {
            category,
            aggregate,
            arrived: Vec::new(),
            txop_end,
            reserved: true,
            data_sent: false,
        });
        self.schedule(
            now + sifs,
            Event::Begin {
                node: id,
                step: Step::Data,
            },
        );
        true
    }

    /// Draws a new backoff, and contends if there is more to send.
    fn back_off(&mut self, now: Instant, id: NodeId, category: usize, failed: bool) {
        let node = &mut self.nodes[id.index()];
        let slots = node.draw(category);
        let slot = &mut node.categories[category];
        let contention = &mut self.channels[node.channel].contention;
        if slot.hardware.is_empty() {
            contention.back_off(now, slot.contender, slots, failed);
        } else {
            slot.waiting = true;
            contention.wait(slot.contender);
            contention.back_off(now, slot.contender, slots, failed);
        }
    }
}

/// An MPDU that was tried as often as it may be.
fn drop_mpdu<P>(
    now: Instant,
    from: NodeId,
    to: NodeId,
    mpdu: Mpdu<P>,
    account: &mut super::Account,
    outputs: &mut std::collections::VecDeque<Output<P>>,
) {
    for queued in mpdu.packet.into_iter().chain(mpdu.more) {
        account.drops += 1;
        outputs.push_back(Output::Dropped {
            at: now,
            from,
            to,
            reason: DropReason::RetryLimit,
            packet: Some(queued.packet),
        });
    }
}
