//! State of a station or access point radio.

use super::config::{AirConfig, LinkConfig};
use super::hardware::{Addressed, Hardware, Receiver};
use super::host_bus::{RxBus, Serializer};
use super::link::Link;
use super::output::Account;
use super::sequence::{Exchange, FrameSequence, Payload, User};
use crate::aggregation::{Fit, Framing, Limits, Mpdu};
use crate::config::AdapterRate;
use crate::edca::{AccessCategory, Contender, EdcaParameters, Window};
use crate::packet::{MANAGEMENT, NodeId, Packet, Queued};
use crate::phy::{Modulation, PhyError, response};
use crate::queue::{Drops, StationState, StationTid, TransmitQueue};
use netburn_units::{BitRate, Duration, Instant, RandomStream};

#[derive(Debug)]
pub(super) struct Node<P> {
    pub(super) channel: usize,
    pub(super) categories: [Category<P>; 4],
    pub(super) links: Vec<Link<P>>,
    /// Index in `links`, by the receiver's node number. It ends with the last receiver: stations
    /// send only to radios, which have the first numbers.
    pub(super) link_to: Vec<Option<u16>>,
    pub(super) queue: Box<dyn TransmitQueue<P>>,
    pub(super) exchange: Option<Exchange<P>>,
    pub(super) framing: Framing,
    pub(super) sifs: Duration,
    /// Retry limit of its links; the maximum of consecutive failures.
    pub(super) retry_limit: u32,
    pub(super) rts_threshold: Option<u64>,
    pub(super) rts_rate: Modulation,
    pub(super) account: Account,
    /// True while its radio listens to another channel, or sleeps.
    pub(super) away: bool,
    /// Number of packets that entered its queue.
    pub(super) arrivals: u64,
    pub(super) backoff_rng: RandomStream,
    pub(super) drops: Drops<P>,
    pub(super) bus: HostBus<P>,
    /// Pool of vectors for aggregates.
    pub(super) spare: Vec<Vec<Mpdu<P>>>,
    /// Empty vector for the arrived MPDUs.
    pub(super) spare_arrived: Vec<bool>,
}

/// The bus between the radio and its host, in both directions.
#[derive(Debug)]
pub(super) struct HostBus<P> {
    pub(super) down: Option<RxBus<P>>,
    pub(super) up: Option<Serializer>,
    /// Maximum number of packets in a transfer.
    pub(super) transfer: u32,
    /// Packets on the transmit bus, and their category; none while the bus is free.
    pub(super) crossing: Vec<Crossing<P>>,
    pub(super) category: usize,
    /// Completion time of a transfer that has just started.
    done_at: Option<Instant>,
}

impl<P> HostBus<P> {
    fn new(limit: AdapterRate) -> Self {
        Self {
            down: limit.down.map(RxBus::new),
            up: limit.up.map(Serializer::new),
            transfer: limit.transfer.unwrap_or(1).max(1),
            crossing: Vec::new(),
            category: 0,
            done_at: None,
        }
    }

    fn set_limit(&mut self, limit: AdapterRate) {
        self.transfer = limit.transfer.unwrap_or(1).max(1);
        match (&mut self.up, limit.up) {
            (Some(up), Some(rate)) => up.set_rate(rate),
            (up, rate) => *up = rate.map(Serializer::new),
        }
        match (&mut self.down, limit.down) {
            (Some(down), Some(rate)) => down.set_rate(rate),
            (None, Some(rate)) => self.down = Some(RxBus::new(rate)),
            // Packets in its buffer still have to be delivered.
            (Some(down), None) => down.set_rate(BitRate::from_bps(u64::MAX)),
            (None, None) => {}
        }
    }

    /// Starts to move a packet of `category` to the hardware, if the bus has a limit. Otherwise returns the packet.
    pub(super) fn send_up(&mut self, now: Instant, category: usize, packet: Crossing<P>) -> Option<Crossing<P>> {
        let Some(up) = &mut self.up else {
            return Some(packet);
        };
        self.done_at = Some(up.pass(now, packet.packet.packet.length));
        self.category = category;
        self.crossing.push(packet);
        None
    }
}

/// A packet on the transmit bus, with its tin and the airtime reported to the queue.
#[derive(Debug)]
pub(super) struct Crossing<P> {
    pub(super) tin: StationTid,
    pub(super) packet: Queued<P>,
    pub(super) airtime: Duration,
}

/// One access category of a node (an EDCAF).
#[derive(Debug)]
pub(super) struct Category<P> {
    pub(super) parameters: EdcaParameters,
    pub(super) contender: Contender,
    pub(super) window: Window,
    pub(super) hardware: Hardware<P>,
    pub(super) waiting: bool,
}

impl<P> Node<P> {
    /// Node `index` of a configuration, on a channel with `timing`.
    pub(super) fn new(
        layout: &AirConfig,
        index: usize,
        contenders: [Contender; 4],
        queue: Box<dyn TransmitQueue<P>>,
    ) -> Result<Self, PhyError> {
        let config = &layout.nodes[index];
        let timing = layout.channels[config.channel].timing;
        let best_effort = &config.edca[AccessCategory::BestEffort.index()];
        let access = timing.aifs(best_effort.aifsn) + timing.slot * u64::from(best_effort.cw_min) / 2 + timing.sifs;
        let lowest = layout.channels[config.channel]
            .eifs
            .unwrap_or_else(|| response::lowest(false));
        let link = |link: &LinkConfig| {
            let rate_rng = layout.seed.stream("rate", (index as u64) << 32 | link.to as u64);
            Link::new(link, lowest, access, timing.clock, rate_rng)
        };
        let links = config.links.iter().map(link).collect::<Result<Vec<_>, _>>()?;
        let receivers = links.iter().map(|link| link.to.index() + 1).max().unwrap_or(0);
        let mut link_to = vec![None; receivers];
        for (place, link) in links.iter().enumerate() {
            link_to[link.to.index()] = Some(place as u16);
        }
        let category = |index: usize| Category {
            parameters: config.edca[index],
            contender: contenders[index],
            window: Window::new(&config.edca[index]),
            hardware: Hardware::new(config.hardware, config.composition, config.limit.up.is_some()),
            waiting: false,
        };
        Ok(Node {
            channel: config.channel,
            categories: [category(0), category(1), category(2), category(3)],
            links,
            link_to,
            queue,
            exchange: None,
            framing: config.framing,
            sifs: timing.sifs,
            retry_limit: config.links.iter().map(|link| link.limits.tries).max().unwrap_or(0),
            rts_threshold: config.rts_threshold,
            rts_rate: config.rts_rate,
            account: Account::default(),
            away: false,
            arrivals: 0,
            backoff_rng: layout.seed.stream("backoff", index as u64),
            drops: Vec::new(),
            bus: HostBus::new(config.limit),
            spare: Vec::new(),
            spare_arrived: Vec::new(),
        })
    }

    /// Index of the link to a node.
    #[inline]
    pub(super) fn place_of(&self, to: NodeId) -> Option<u16> {
        self.link_to.get(to.index()).copied().flatten()
    }

    pub(super) fn link(&mut self, to: NodeId) -> Option<&mut Link<P>> {
        let place = self.place_of(to)?;
        self.links.get_mut(usize::from(place))
    }

    /// Draws a number of slots, 0 to the category's window.
    pub(super) fn draw(&mut self, category: usize) -> u32 {
        let window = u64::from(self.categories[category].window.slots());
        self.backoff_rng.below(window + 1) as u32
    }

    /// Sets the throughput limits of its adapter.
    pub(super) fn set_limit(&mut self, limit: AdapterRate) {
        self.bus.set_limit(limit);
    }

    /// Reports waiting packets, and stations that don't receive, to a queue that replaced another.
    pub(super) fn restore_unsent(&mut self, now: Instant) {
        for link in self.links.iter().filter(|link| link.state != StationState::Awake) {
            self.queue.set_station(now, link.to, link.state, &mut self.drops);
        }
        for link in 0..self.links.len() {
            for tid in 0..MANAGEMENT {
                let to = self.links[link].to;
                self.set_unsent(now, StationTid { to, tid });
            }
        }
    }

    /// Completion time of the packets that have just started to cross the bus.
    pub(super) fn take_bus_done(&mut self) -> Option<Instant> {
        self.bus.done_at.take()
    }

    /// Moves the packets on the bus to the hardware.
    pub(super) fn finish_bus_transfer(&mut self) {
        let hardware = &mut self.categories[self.bus.category].hardware;
        for Crossing { tin, packet, airtime } in self.bus.crossing.drain(..) {
            hardware.push_packet(tin, packet, airtime);
        }
    }

    /// Number of packets in the adapter, in both directions.
    pub(super) fn in_adapter(&self) -> usize {
        self.bus.crossing.len() + self.bus.down.as_ref().map_or(0, RxBus::packets)
    }

    /// Payload of an exchange for an aggregate.
    #[inline]
    pub(super) fn payload(&mut self, Addressed { to, aggregate }: Addressed<P>) -> Payload<P> {
        match to {
            Receiver::Station(tin) => Payload::Users {
                first: User {
                    tin,
                    aggregate,
                    arrived: std::mem::take(&mut self.spare_arrived),
                },
                others: Vec::new(),
            },
            Receiver::Group => Payload::Group(aggregate),
        }
    }

    /// Starts an exchange of a category.
    #[inline]
    pub(super) fn begin(&mut self, category: usize, payload: Payload<P>, sequence: FrameSequence, txop_end: Instant) {
        self.categories[category].hardware.set_on_air(payload.mpdus());
        self.exchange = Some(Exchange {
            category,
            txop_end,
            sequence,
            payload,
        });
    }

    /// Adds a management frame to the hardware. It passes the transmit queue, as in mac80211.
    pub(super) fn push_frame(&mut self, now: Instant, to: NodeId, packet: Packet<P>) {
        let mpdus = self.spare.pop().unwrap_or_default();
        let Some(place) = self.place_of(to) else { return };
        let link = &mut self.links[usize::from(place)];
        let sender = &mut link.senders[usize::from(MANAGEMENT)];
        let mut packet = Some(Queued {
            to,
            since: now,
            arrival: self.arrivals,
            packet,
        });
        let frame = sender.build(
            now,
            &link.frame,
            &Limits::NONE,
            &Framing::PLAIN,
            1,
            Fit::Keep,
            mpdus,
            |_| packet.take(),
        );
        let category = AccessCategory::Voice.index();
        if let Some(mut frame) = frame {
            frame.probe = false;
            let to = Receiver::Station(StationTid { to, tid: MANAGEMENT });
            self.categories[category].hardware.push(to, frame);
        }
    }

    /// Takes the aggregates for `to` out of the hardware: their MPDUs wait for the next
    /// opportunity. A radio that composes aggregates returns its packets as well.
    pub(super) fn retract(&mut self, now: Instant, to: NodeId) {
        let Some(place) = self.place_of(to) else { return };
        let link = &mut self.links[usize::from(place)];
        for category in &mut self.categories {
            for (tin, aggregate) in category.hardware.retract(to) {
                let sender = &mut link.senders[usize::from(tin.tid)];
                sender.send_again(aggregate.mpdus.into_iter());
                self.queue.on_completed(tin, aggregate.estimated_airtime);
                self.queue.set_unsent(now, tin, sender.unsent());
            }
            for place in category.hardware.retract_places(to) {
                let sender = &link.senders[usize::from(place.tin.tid)];
                self.queue.on_completed(place.tin, place.estimated_airtime);
                self.queue.set_unsent(now, place.tin, sender.unsent());
            }
        }
        for tid in 0..MANAGEMENT {
            let tin = StationTid { to, tid };
            if self.categories[tin.category().index()].hardware.composes() {
                self.return_packets(now, tin);
            }
        }
    }

    /// Takes the packets of a tin out of the hardware: they wait ahead of the queue.
    pub(super) fn return_packets(&mut self, now: Instant, tin: StationTid) {
        let packets = self.categories[tin.category().index()].hardware.take_packets_of(tin);
        let Some(place) = self.place_of(tin.to).filter(|_| !packets.is_empty()) else {
            return;
        };
        let sender = &mut self.links[usize::from(place)].senders[usize::from(tin.tid)];
        for (packet, airtime) in packets {
            self.queue.on_completed(tin, airtime);
            sender.hold([packet]);
        }
        self.queue.set_unsent(now, tin, sender.unsent());
    }

    /// Takes all packets for `to` out of the queue, the hardware and the retransmissions.
    pub(super) fn take_packets_for(&mut self, now: Instant, to: NodeId) -> Vec<Queued<P>> {
        self.retract(now, to);
        let mut packets = Vec::new();
        for tid in 0..MANAGEMENT {
            let tin = StationTid { to, tid };
            for (packet, airtime) in self.categories[tin.category().index()].hardware.take_packets_of(tin) {
                self.queue.on_completed(tin, airtime);
                packets.push(packet);
            }
        }
        for tid in 0..MANAGEMENT {
            let tin = StationTid { to, tid };
            while let Some(packet) = self.queue.dequeue(now, tin, &mut self.drops) {
                packets.push(packet);
            }
        }
        if let Some(place) = self.place_of(to) {
            let link = &mut self.links[usize::from(place)];
            for (sender, tid) in link.senders.iter_mut().zip(0..) {
                packets.extend(sender.take_waiting());
                if tid != MANAGEMENT {
                    self.queue.set_unsent(now, StationTid { to, tid }, sender.unsent());
                }
            }
        }
        packets
    }

    /// Returns a vector to the pool.
    pub(super) fn recycle(&mut self, mut mpdus: Vec<Mpdu<P>>) {
        mpdus.clear();
        if self.spare.len() < 8 {
            self.spare.push(mpdus);
        }
    }
}
