//! Frame exchange on the air: [RTS, CTS or CTS-to-self,] data, acknowledgement, with SIFS between them, or the timeout for a
//! missing response.

use super::channel::{Kind, OnAir};
use super::node::Node;
use super::{Air, Event, Step};
use crate::packet::{MANAGEMENT, NodeId};
use crate::phy::{TxVector, response};
use netburn_units::{Duration, Instant};

impl<P: std::fmt::Debug + Send> Air<P> {
    pub(super) fn handle_event(&mut self, now: Instant, event: Event) {
        match event {
            Event::End { channel, frame } => {
                let frame = self.channels[channel].end(frame);
                self.handle_end(now, channel, &frame);
            }
            Event::Begin { node, step: Step::Cts } => self.send_cts(now, node),
            Event::Begin { node, step: Step::Data } => self.send_data(now, node),
            Event::Begin {
                node,
                step: Step::Response,
            } => self.send_response(now, node),
            Event::Timeout { node } => self.handle_failure(now, node),
            Event::Up { node } => {
                self.nodes[node.index()].finish_bus_transfer();
                self.fill_all(now, node, None);
            }
            Event::Down { node } => self.handle_down(now, node),
            Event::Obss { channel } => self.handle_obss_arrival(now, channel),
        }
    }

    fn handle_end(&mut self, now: Instant, channel: usize, frame: &OnAir) {
        let sifs = self.sifs(channel);
        let after = |step| (now + sifs, step);
        let deaf =
            matches!(frame.kind, Kind::Rts | Kind::Data) && frame.to.is_some_and(|to| self.nodes[to.index()].away);
        let next = match (frame.kind, frame.collided_at_receiver || deaf) {
            (Kind::Obss, _) => {
                self.obss_end(now, channel);
                return;
            }
            (Kind::Group, _) => {
                self.handle_group_end(now, frame);
                return;
            }
            (Kind::Rts, false) => Some((frame.from, after(Step::Cts))),
            (Kind::Cts, false) => {
                let id = frame.to.expect("CTS has a receiver");
                let exchange = self.nodes[id.index()].exchange.as_mut();
                exchange.expect("CTS belongs to an exchange").reserved = true;
                Some((Some(id), after(Step::Data)))
            }
            // Its sender doesn't know whether it collided.
            (Kind::CtsToSelf, _) => Some((frame.from, after(Step::Data))),
            (Kind::Data, lost) => {
                let arrived = self.handle_data(now, frame, lost);
                arrived.then_some((frame.from, after(Step::Response)))
            }
            (Kind::Response, false) => {
                self.handle_success(now, frame.to.expect("a response has a receiver"));
                return;
            }
            (Kind::Rts | Kind::Cts | Kind::Response, true) => None,
        };
        let timeout = if self.channels[channel].failures_known_at_once {
            Duration::ZERO
        } else {
            self.channels[channel].timing.response_timeout()
        };
        match next {
            Some((node, (at, step))) => {
                let node = node.expect("frames but the others' have ends");
                self.schedule(at, Event::Begin { node, step });
            }
            None => {
                // The node that waits: the sender of the lost frame, or the one to which the lost
                // response was addressed.
                let (waits, left) = match frame.kind {
                    Kind::Rts | Kind::Data => (frame.from, timeout),
                    _ => (frame.to, Duration::ZERO),
                };
                let node = waits.expect("frames but the others' have ends");
                self.schedule(now + left, Event::Timeout { node });
            }
        }
    }

    pub(super) fn send_rts(&mut self, now: Instant, id: NodeId) {
        let node = &self.nodes[id.index()];
        let exchange = node.exchange.as_ref().expect("RTS belongs to an exchange");
        let vector = self.rts_vector(node, &exchange.aggregate.sending.vector);
        let channel = node.channel;
        let clock = self.channels[channel].timing.clock;
        let rts = response::duration(&vector, response::RTS) * clock;
        let cts = response::duration(&vector, response::CTS) * clock;
        let frame = OnAir::new(Kind::Rts, Some(id), Some(exchange.aggregate.tin.to), now, rts);
        // The NAV covers only the time up to the data, which other nodes hear themselves. So a
        // missing CTS costs nothing more (clause 10.3.2.4 permits resetting the NAV).
        self.transmit(frame.reserving(self.sifs(channel) * 2 + cts), channel);
    }

    /// Sends the CTS of the receiver for the RTS of `id`.
    fn send_cts(&mut self, now: Instant, id: NodeId) {
        let node = &self.nodes[id.index()];
        let exchange = node.exchange.as_ref().expect("CTS belongs to an exchange");
        let to = exchange.aggregate.tin.to;
        let vector = self.rts_vector(node, &exchange.aggregate.sending.vector);
        let (duration, response) = (exchange.aggregate.duration, self.response(id));
        let channel = node.channel;
        let cts = response::duration(&vector, response::CTS) * self.channels[channel].timing.clock;
        let frame = OnAir::new(Kind::Cts, Some(to), Some(id), now, cts);
        self.transmit(frame.reserving(self.sifs(channel) * 2 + duration + response), channel);
    }

    /// Vector of RTS and CTS ahead of `data`.
    fn rts_vector(&self, node: &Node<P>, data: &TxVector) -> TxVector {
        self.protection(node, data)
            .unwrap_or_else(|| response::legacy(node.rts_rate, data))
    }

    /// Vector of the frames that protect `data` from 802.11b stations; `None` if they need no protection.
    pub(super) fn protection(&self, node: &Node<P>, data: &TxVector) -> Option<TxVector> {
        let needed = self.channels[node.channel].protection;
        needed.then(|| response::protection(data)).flatten()
    }

    /// Reserves the medium for the data of `id` and their acknowledgement.
    pub(super) fn send_cts_to_self(&mut self, now: Instant, id: NodeId, vector: &TxVector) {
        let node = &self.nodes[id.index()];
        let exchange = node.exchange.as_ref().expect("CTS-to-self belongs to an exchange");
        let aggregate = &exchange.aggregate;
        let channel = node.channel;
        let mut reserved = self.sifs(channel) + aggregate.duration;
        if aggregate.tin.to != id {
            reserved += self.sifs(channel) + self.response(id);
        }
        let cts = response::duration(vector, response::CTS) * self.channels[channel].timing.clock;
        let frame = OnAir::new(Kind::CtsToSelf, Some(id), None, now, cts);
        self.transmit(frame.reserving(reserved), channel);
    }

    pub(super) fn send_data(&mut self, now: Instant, id: NodeId) {
        let response = self.response(id);
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
        if tin.tid != MANAGEMENT {
            node.queue.charge_airtime(tin, duration);
        }
        let channel = node.channel;
        if to == id {
            self.transmit(OnAir::new(Kind::Group, Some(id), None, now, duration), channel);
            return;
        }
        let frame = OnAir::new(Kind::Data, Some(id), Some(to), now, duration);
        self.transmit(frame.reserving(self.sifs(channel) + response), channel);
    }

    /// Sends the acknowledgement of the receiver for the data of `id`.
    fn send_response(&mut self, now: Instant, id: NodeId) {
        let node = &self.nodes[id.index()];
        let to = node
            .exchange
            .as_ref()
            .expect("a response belongs to an exchange")
            .aggregate
            .tin
            .to;
        let frame = OnAir::new(Kind::Response, Some(to), Some(id), now, self.response(id));
        self.transmit(frame, self.nodes[id.index()].channel);
    }

    /// Duration of the acknowledgement in the exchange of `id`.
    fn response(&self, id: NodeId) -> Duration {
        let exchange = self.nodes[id.index()].exchange.as_ref();
        exchange.expect("an exchange is in progress").aggregate.response()
    }
}
