//! A frame exchange on the air: [RTS, CTS,] data, acknowledgement, each SIFS after the other, or the wait for one that doesn't come.

use super::channel::{Flight, Kind};
use super::{Air, Event, Step};
use crate::packet::NodeId;
use crate::phy::response;
use netburn_units::{Duration, Instant};

impl<P: std::fmt::Debug + Send> Air<P> {
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
        let timeout = match self.channels[channel].failures_known_at_once {
            true => Duration::ZERO,
            false => self.channels[channel].timing.response_timeout(),
        };
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

    pub(super) fn send_rts(&mut self, now: Instant, id: NodeId) {
        let node = &self.nodes[id.index()];
        let exchange = node.exchange.as_ref().expect("RTS belongs to an exchange");
        let vector = response::legacy(node.rts_rate, &exchange.aggregate.sending.vector);
        let channel = node.channel;
        let clock = self.channels[channel].timing.clock;
        let rts = response::duration(&vector, response::RTS) * clock;
        let cts = response::duration(&vector, response::CTS) * clock;
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
        let cts = response::duration(&vector, response::CTS) * self.channels[channel].timing.clock;
        let flight = Flight::new(Kind::Cts, Some(to), Some(id), now, cts);
        self.fly(flight.reserving(self.sifs(channel) * 2 + duration + answer), channel);
    }

    pub(super) fn send_data(&mut self, now: Instant, id: NodeId) {
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
}
