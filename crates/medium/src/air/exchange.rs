//! Frame exchanges on the air: each node sends the frames of its [`sequence`](super::sequence).

use super::channel::{OnAir, Origin};
use super::node::Node;
use super::sequence::{Exchange, FrameType, Party, Receivers, Silence};
use super::{Air, Event};
use crate::packet::{MANAGEMENT, NodeId};
use netburn_units::{Duration, Instant};

impl<P: std::fmt::Debug + Send> Air<P> {
    pub(super) fn handle_event(&mut self, now: Instant, event: Event) {
        match event {
            Event::End { channel, frame } => {
                let frame = self.channels[channel].end(frame);
                match frame.origin {
                    Origin::Exchange { initiator, .. } => self.handle_end(now, initiator, &frame),
                    Origin::Obss => self.obss_end(now, channel),
                }
            }
            Event::Begin { node } => self.send_step(now, node),
            Event::Timeout { node } => self.end_exchange(now, node),
            Event::Up { node } => {
                self.nodes[node.index()].finish_bus_transfer();
                self.fill_all(now, node, None);
            }
            Event::Down { node } => self.handle_down(now, node),
            Event::Obss { channel } => self.handle_obss_arrival(now, channel),
        }
    }

    /// Sends the current frame in the exchange of `id`.
    pub(super) fn send_step(&mut self, now: Instant, id: NodeId) {
        let node = &mut self.nodes[id.index()];
        let exchange = node.exchange();
        let step = *exchange.sequence.step();
        let user = exchange.user(step.sender);
        if step.frame == FrameType::Response && user.is_some_and(|user| !user.has_received()) {
            self.handle_silence(now, id, step.silence);
            return;
        }
        let origin = Origin::Exchange {
            initiator: id,
            sender: user.map_or(id, |user| user.tin.to),
            frame: step.frame,
        };
        if step.frame == FrameType::Data {
            node.count_data(step.duration);
        }
        let channel = node.channel;
        self.transmit(OnAir::new(origin, now, step.duration, step.nav), channel);
    }

    /// Processes the end of a frame in the exchange of `id`.
    fn handle_end(&mut self, now: Instant, id: NodeId, frame: &OnAir) {
        let step = *self.nodes[id.index()].exchange().sequence.step();
        let is_heard = match step.receivers {
            Receivers::One(party) => self.hears(id, party, frame),
            Receivers::Users => self.handle_data(now, id, frame),
            Receivers::Group => self.handle_group_data(now, id, frame),
        };
        if is_heard {
            self.proceed(now, id);
            return;
        }
        if let Some(user) = self.nodes[id.index()].exchange_mut().user_mut(step.sender) {
            user.arrived.clear();
        }
        self.handle_silence(now, id, step.silence);
    }

    /// Returns true if a node of the exchange of `id` hears a frame. Its initiator listens until the end.
    pub(super) fn hears(&self, id: NodeId, party: Party, frame: &OnAir) -> bool {
        let node = &self.nodes[id.index()];
        let user = node.exchange().user(party).map(|user| user.tin.to);
        let is_away = user.is_some_and(|user| self.nodes[user.index()].away);
        !is_away && !self.channels[node.channel].has_collided_at(frame, user.unwrap_or(id))
    }

    fn handle_silence(&mut self, now: Instant, id: NodeId, silence: Silence) {
        let channel = &self.channels[self.nodes[id.index()].channel];
        let wait = match silence {
            Silence::Proceed => return self.proceed(now, id),
            Silence::Timeout if !channel.failures_known_at_once => channel.timing.response_timeout(),
            Silence::Timeout | Silence::Abort => Duration::ZERO,
        };
        self.schedule(now + wait, Event::Timeout { node: id });
    }

    /// Goes on to the next frame in the exchange of `id`.
    fn proceed(&mut self, now: Instant, id: NodeId) {
        let node = &mut self.nodes[id.index()];
        if node.exchange_mut().sequence.advance() {
            let sifs = node.sifs;
            self.schedule(now + sifs, Event::Begin { node: id });
        } else {
            self.end_exchange(now, id);
        }
    }
}

impl<P> Node<P> {
    /// Exchange in progress.
    pub(super) fn exchange(&self) -> &Exchange<P> {
        self.exchange.as_ref().expect("a frame belongs to an exchange")
    }

    /// Exchange in progress.
    fn exchange_mut(&mut self) -> &mut Exchange<P> {
        self.exchange.as_mut().expect("a frame belongs to an exchange")
    }

    /// Counts the PPDU of the exchange, which begins.
    fn count_data(&mut self, duration: Duration) {
        let exchange = self.exchange.as_mut().expect("a frame belongs to an exchange");
        self.account.sent += duration;
        self.account.transmissions += 1;
        self.account.mpdus += exchange.payload.mpdus() as u64;
        exchange.payload.count_try();
        for user in exchange.payload.users() {
            if user.tin.tid != MANAGEMENT {
                self.queue.charge_airtime(user.tin, duration);
            }
        }
    }
}
