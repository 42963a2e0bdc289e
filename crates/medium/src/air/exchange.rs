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

#[cfg(test)]
mod tests {
    use super::super::{AirConfig, ChannelConfig, LinkConfig, NodeConfig, Output};
    use super::*;
    use crate::aggregation::{Fit, Framing, Limits};
    use crate::air::sequence::{FrameSequence, Opening, Payload, User};
    use crate::config::{AdapterRate, Composition, Guard, HardwareQueue, QueueLimit, Width};
    use crate::edca::EdcaParameters;
    use crate::packet::{Ecn, Packet, Queued};
    use crate::phy::{Modulation, TxVector, ofdm::Rate};
    use crate::queue::StationTid;
    use crate::queue::driver::{Device, Order};
    use crate::queue::fifo::Fifo;
    use crate::rate::RateChoice;
    use netburn_units::Seed;

    const INITIATOR: NodeId = NodeId(0);
    const BEST_EFFORT: usize = 1;

    /// Two stations and an access point, node 0, with 65 Mbit/s.
    fn air() -> Air<u64> {
        let link = |to| LinkConfig {
            to,
            vector: TxVector {
                modulation: Modulation::Ht { mcs: 7 },
                width: Width::Mhz20,
                guard: Guard::Ns800,
                streams: 1,
                signal_extension: false,
                short_preamble: false,
            },
            rate: RateChoice::Fixed,
            snr_db: None,
            limits: Limits {
                ampdu: true,
                frames: 64,
                window: 64,
                bytes: 65_535,
                ..Limits::NONE
            },
        };
        let node = |links: &[usize]| NodeConfig {
            channel: 0,
            edca: EdcaParameters::default_set(15),
            hardware: HardwareQueue::Aggregates(2),
            composition: Composition::default(),
            rts_threshold: None,
            rts_rate: Modulation::Ofdm(Rate::M24),
            framing: Framing::QOS,
            limit: AdapterRate::default(),
            links: links.iter().copied().map(link).collect(),
        };
        let config = AirConfig {
            channels: vec![ChannelConfig::ofdm()],
            nodes: vec![node(&[1, 2]), node(&[0]), node(&[0])],
            hidden: Vec::new(),
            seed: Seed(1),
        };
        let queue = || Device::new(Fifo::new(QueueLimit::Packets(100)), 123, Order::Arrival);
        let queues = (0..3).map(|_| Box::new(queue()) as Box<_>);
        Air::new(&config, queues.collect()).unwrap()
    }

    /// An aggregate of `packets` packets with 1500 bytes for a station.
    fn user(air: &mut Air<u64>, to: NodeId, packets: u64) -> User<u64> {
        let link = air.nodes[INITIATOR.index()].link(to).unwrap();
        let mut payloads = 0..packets;
        let packets = |_| {
            payloads.next().map(|payload| Queued {
                to,
                since: Instant::ZERO,
                arrival: 0,
                packet: Packet {
                    length: 1_500,
                    flow: 0,
                    tid: 0,
                    ecn: Ecn::NotEct,
                    payload,
                },
            })
        };
        let (sending, limits) = (link.sending, link.limits);
        let aggregate = link.senders[0].build(
            Instant::ZERO,
            &sending,
            &limits,
            &Framing::QOS,
            64,
            Fit::Keep,
            Vec::new(),
            packets,
        );
        User {
            tin: StationTid { to, tid: 0 },
            aggregate: aggregate.unwrap(),
            arrived: Vec::new(),
        }
    }

    /// Starts an exchange with both stations: one packet for the first, seven for the second.
    fn begin(air: &mut Air<u64>, opening: Opening) {
        let payload = Payload::Users {
            first: user(air, NodeId(1), 1),
            others: vec![user(air, NodeId(2), 7)],
        };
        let sequence = FrameSequence::new(opening, &payload, &air.channels[0].timing);
        air.nodes[INITIATOR.index()].begin(BEST_EFFORT, payload, sequence, Instant::ZERO);
        air.send_step(Instant::ZERO, INITIATOR);
    }

    /// Time in µs and receiver.
    type Delivery = (u64, u16);
    /// Time in µs, receiver, and number of packets that have left the sender.
    type Departure = (u64, u16, u32);

    fn outputs(air: &mut Air<u64>) -> (Vec<Delivery>, Vec<Departure>) {
        let (mut delivered, mut sent) = (Vec::new(), Vec::new());
        let micros = |at: Instant| at.since(Instant::ZERO).as_nanos() / 1_000;
        while let Some(output) = air.poll_output() {
            match output {
                Output::Delivered { at, to, .. } => delivered.push((micros(at), to.0)),
                Output::Sent { at, to, packets, .. } => sent.push((micros(at), to.0, packets)),
                other => panic!("{other:?}"),
            }
        }
        (delivered, sent)
    }

    /// The PPDU lasts as long as its longest aggregate: 1368 µs. ACK (28 µs) and BlockAck (32 µs) follow, with 16 µs ahead of
    /// each.
    #[test]
    fn two_receivers_acknowledge_one_after_the_other() {
        let mut air = air();
        begin(&mut air, Opening::Contention);
        air.handle_timeout(Instant::ZERO + Duration::from_millis(100));
        let (delivered, sent) = outputs(&mut air);
        let at_end = 1_368;
        let to_second = std::iter::repeat_n((at_end, 2), 7);
        assert_eq!(
            delivered,
            std::iter::once((at_end, 1)).chain(to_second).collect::<Vec<_>>()
        );
        let end = at_end + 16 + 28 + 16 + 32;
        assert_eq!(sent, [(end, 1, 1), (end, 2, 7)]);
        let account = air.account(INITIATOR);
        assert_eq!((account.transmissions, account.mpdus, account.retries), (1, 8, 0));
        let channel = air.channel_account(0);
        assert_eq!(
            (channel.data, channel.control),
            (Duration::from_micros(at_end), Duration::from_micros(28 + 32))
        );
    }

    /// The sleeping station gets its packet in an exchange of its own, after it has woken.
    #[test]
    fn a_receiver_that_sleeps_does_not_keep_another_from_its_data() {
        let mut air = air();
        air.set_away(Instant::ZERO, NodeId(1), true);
        begin(&mut air, Opening::Contention);
        let woken = Instant::ZERO + Duration::from_micros(1_450);
        air.handle_timeout(woken);
        let (delivered, sent) = outputs(&mut air);
        assert_eq!(delivered, [(1_368, 2); 7]);
        // SIFS for the first station's ACK, which is missing, and another one before the BlockAck.
        assert_eq!(sent, [(1_368 + 16 + 16 + 32, 2, 7)]);
        assert!(air.is_away(NodeId(1)));
        air.set_away(woken, NodeId(1), false);
        air.handle_timeout(Instant::ZERO + Duration::from_millis(100));
        let (delivered, sent) = outputs(&mut air);
        assert_eq!((delivered.len(), sent.len()), (1, 1));
        assert_eq!(air.backlog(INITIATOR), 0);
        assert_eq!(air.account(INITIATOR).transmissions, 2);
    }

    /// RTS (20 bytes) and CTS (14 bytes) at 24 Mbit/s last 28 µs each. RTS reserves up to the data, the others up to the end of
    /// the sequence.
    #[test]
    fn frames_reserve_the_medium() {
        let mut air = air();
        let payload = Payload::Users {
            first: user(&mut air, NodeId(1), 1),
            others: Vec::new(),
        };
        let Payload::Users { first, .. } = &payload else {
            unreachable!("one user")
        };
        let vector = crate::phy::response::legacy(Modulation::Ofdm(Rate::M24), &first.aggregate.sending.vector);
        let timing = air.channels[0].timing;
        let reserved = |opening| {
            let mut sequence = FrameSequence::new(opening, &payload, &timing);
            let mut steps = Vec::new();
            loop {
                let step = *sequence.step();
                steps.push((step.duration.as_nanos() / 1_000, step.nav.as_nanos() / 1_000));
                if !sequence.advance() {
                    return steps;
                }
            }
        };
        let data = [(228, 16 + 28), (28, 0)];
        assert_eq!(reserved(Opening::Contention), data);
        let protected = [(28, 16 + 228 + 16 + 28), data[0], data[1]];
        assert_eq!(reserved(Opening::CtsToSelf(vector)), protected);
        let rts = [(28, 16 + 28 + 16), protected[0], data[0], data[1]];
        assert_eq!(reserved(Opening::RtsCts(vector)), rts);
    }
}
