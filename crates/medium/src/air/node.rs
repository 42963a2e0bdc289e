//! A station or access point radio while it is used.

use super::adapter::{Down, Pace};
use super::config::{AirConfig, LinkConfig};
use super::hardware::Hardware;
use super::link::Link;
use super::output::Account;
use crate::aggregation::{Aggregate, Framing, Limits, Mpdu, Sending};
use crate::config::AdapterRate;
use crate::edca::{AccessCategory, Contender, EdcaParameters, Window};
use crate::packet::{NodeId, Queued};
use crate::phy::{Modulation, PhyError};
use crate::queue::{Drops, Readiness, Tin, TransmitQueue};
use netburn_units::{BitRate, Duration, Instant, Stream};

#[derive(Debug)]
pub(super) struct Node<P> {
    pub(super) channel: usize,
    pub(super) categories: [Category<P>; 4],
    pub(super) links: Vec<Link<P>>,
    /// The place in `links` of a receiver, by its node number.
    pub(super) link_to: Vec<Option<u16>>,
    pub(super) queue: Box<dyn TransmitQueue<P>>,
    pub(super) exchange: Option<Exchange<P>>,
    pub(super) framing: Framing,
    pub(super) sifs: Duration,
    /// The retry limit of its links; failures in a row are counted up to it.
    pub(super) retry_limit: u32,
    pub(super) rts_threshold: Option<u64>,
    pub(super) rts_rate: Modulation,
    pub(super) account: Account,
    /// Packets that entered its queue.
    pub(super) arrivals: u64,
    pub(super) backoff: Stream,
    pub(super) drops: Drops<P>,
    pub(super) down: Option<Down<P>>,
    up: Option<Pace>,
    /// Packets that may cross together.
    transfer: u32,
    /// The packets on their way up, of one category; none while the bus is free.
    bus: (usize, Vec<Crossing<P>>),
    /// When they will be through, for the air to take note of.
    through: Option<Instant>,
    /// Vectors to build aggregates in.
    pub(super) spare: Vec<Vec<Mpdu<P>>>,
    /// An emptied vector to note in what arrived.
    pub(super) spare_arrived: Vec<bool>,
}

/// A packet between the transmit queue and the hardware: for whom, and the airtime that the queue was told.
#[derive(Debug)]
struct Crossing<P> {
    tin: Tin,
    packet: Queued<P>,
    airtime: Duration,
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

/// A frame exchange under way.
#[derive(Debug)]
pub(super) struct Exchange<P> {
    pub(super) category: usize,
    pub(super) aggregate: Aggregate<P>,
    /// Which MPDUs arrived, once the data have.
    pub(super) arrived: Vec<bool>,
    /// Until when the TXOP lasts.
    pub(super) txop_end: Instant,
    /// The medium is the node's already: by RTS and CTS, or by the frame before in a TXOP.
    pub(super) reserved: bool,
    /// The data were sent: the exchange didn't end with RTS.
    pub(super) data_sent: bool,
}

/// What an aggregate of a category may hold: its PPDU and the answer must fit into a TXOP.
pub(super) fn limits_within(limits: &Limits, sending: &Sending, parameters: &EdcaParameters, sifs: Duration) -> Limits {
    let mut limits = *limits;
    if !parameters.txop.is_zero() {
        let answer = sending.block_ack.max(sending.ack) + sifs;
        limits.time = limits.time.min(parameters.txop.saturating_sub(answer));
    }
    limits
}

impl<P> Node<P> {
    /// Node `index` of a layout, on a channel with `timing`.
    pub(super) fn new(
        layout: &AirConfig,
        index: usize,
        contenders: [Contender; 4],
        queue: Box<dyn TransmitQueue<P>>,
    ) -> Result<Self, PhyError> {
        let (config, nodes) = (&layout.nodes[index], layout.nodes.len());
        let timing = layout.channels[config.channel].timing;
        let best_effort = &config.edca[AccessCategory::BestEffort.index()];
        let access = timing.aifs(best_effort.aifsn) + timing.slot * u64::from(best_effort.cw_min) / 2 + timing.sifs;
        let link = |link: &LinkConfig| {
            let chance = layout.seed.stream("rate", (index as u64) << 32 | link.to as u64);
            Link::new(link, access, timing.clock, chance)
        };
        let links = config.links.iter().map(link).collect::<Result<Vec<_>, _>>()?;
        let mut link_to = vec![None; nodes];
        for (place, link) in links.iter().enumerate() {
            link_to[link.to.index()] = Some(place as u16);
        }
        let category = |index: usize| Category {
            parameters: config.edca[index],
            contender: contenders[index],
            window: Window::new(&config.edca[index]),
            hardware: Hardware::new(config.hardware, config.limit.up.is_some()),
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
            arrivals: 0,
            backoff: layout.seed.stream("backoff", index as u64),
            drops: Vec::new(),
            down: config.limit.down.map(Down::new),
            up: config.limit.up.map(Pace::new),
            transfer: config.limit.transfer.unwrap_or(1).max(1),
            bus: (0, Vec::new()),
            through: None,
            spare: Vec::new(),
            spare_arrived: Vec::new(),
        })
    }

    pub(super) fn link(&mut self, to: NodeId) -> Option<&mut Link<P>> {
        let place = (*self.link_to.get(to.index())?)?;
        self.links.get_mut(usize::from(place))
    }

    /// A number of slots, 0 to the category's window.
    pub(super) fn draw(&mut self, category: usize) -> u32 {
        let window = u64::from(self.categories[category].window.slots());
        self.backoff.below(window + 1) as u32
    }

    /// Gives the category's hardware what it has room for.
    pub(super) fn fill(&mut self, now: Instant, category: usize) {
        let name = AccessCategory::ALL[category];
        let busy = !self.bus.1.is_empty();
        // What crosses the bus from now on, by now.
        let (mut crossing, mut airtime) = (0, Duration::ZERO);
        while self.categories[category].hardware.has_room(crossing, airtime) {
            let (links, link_to) = (&self.links, &self.link_to);
            let takes_packets = self.categories[category].hardware.takes_packets();
            let mut may = |tin: Tin| {
                let Some(place) = link_to[tin.to.index()] else {
                    return Readiness::Later;
                };
                let link = &links[usize::from(place)];
                match link.readiness(tin.tid) {
                    // Hardware that takes packets keeps them until the window has room; retransmissions wait for it here.
                    _ if takes_packets && !link.is_waiting(tin.tid) => Readiness::Now,
                    // Such hardware must not run empty meanwhile.
                    Readiness::Soon if takes_packets => Readiness::Later,
                    readiness => readiness,
                }
            };
            let Some(tin) = self.queue.next(now, name, &mut may) else {
                break;
            };
            let waiting = self.link(tin.to).is_some_and(|link| link.is_waiting(tin.tid));
            if takes_packets && !waiting {
                if busy || crossing >= self.transfer {
                    break;
                }
                let Some(packet) = self.queue.dequeue(now, tin, &mut self.drops) else {
                    continue;
                };
                let length = packet.packet.length;
                let estimate = self.link(tin.to).map_or(Duration::ZERO, |link| link.estimate(length));
                self.queue.handed(tin, estimate);
                if let Some(up) = &mut self.up {
                    self.through = Some(up.pass(now, length));
                    self.bus.0 = category;
                    self.bus.1.push(Crossing {
                        tin,
                        packet,
                        airtime: estimate,
                    });
                    crossing += 1;
                    airtime += estimate;
                } else {
                    self.categories[category].hardware.push_packet(tin, packet, estimate);
                }
            } else if let Some(aggregate) = self.build(now, category, tin, takes_packets, None) {
                self.categories[category].hardware.push(aggregate);
            }
        }
    }

    /// What its adapter can move from now on.
    pub(super) fn set_limit(&mut self, limit: AdapterRate) {
        self.transfer = limit.transfer.unwrap_or(1).max(1);
        match (&mut self.up, limit.up) {
            (Some(up), Some(rate)) => up.set_rate(rate),
            (up, rate) => *up = rate.map(Pace::new),
        }
        match (&mut self.down, limit.down) {
            (Some(down), Some(rate)) => down.set_rate(rate),
            (None, Some(rate)) => self.down = Some(Down::new(rate)),
            // What it holds for the host still has to come out.
            (Some(down), None) => down.set_rate(BitRate::from_bps(u64::MAX)),
            (None, None) => {}
        }
    }

    /// Tells a queue that replaced another what the air itself holds above it.
    pub(super) fn restore_unsent(&mut self, now: Instant) {
        for link in &self.links {
            for tid in (0..8).filter(|tid| link.is_waiting(*tid)) {
                let unsent = link.senders[usize::from(tid)].unsent();
                self.queue.set_unsent(now, Tin { to: link.to, tid }, unsent);
            }
        }
    }

    /// When the packets will be through that have just begun to cross the bus.
    pub(super) fn take_through(&mut self) -> Option<Instant> {
        self.through.take()
    }

    /// The packets on the bus have reached the hardware.
    pub(super) fn cross(&mut self) {
        let (category, packets) = &mut self.bus;
        let hardware = &mut self.categories[*category].hardware;
        for Crossing { tin, packet, airtime } in packets.drain(..) {
            hardware.push_packet(tin, packet, airtime);
        }
    }

    /// Packets in the adapter, either way.
    pub(super) fn in_adapter(&self) -> usize {
        self.bus.1.len() + self.down.as_ref().map_or(0, Down::packets)
    }

    /// The aggregate that the category sends next. What the hardware puts together only now is made to fit what is `left` of a TXOP for it and
    /// its answer, or isn't made.
    pub(super) fn take(&mut self, now: Instant, category: usize, left: Option<Duration>) -> Option<Aggregate<P>> {
        if let Some(aggregate) = self.categories[category].hardware.pop() {
            return Some(aggregate);
        }
        let tin = self.categories[category].hardware.first_tin()?;
        self.build(now, category, tin, true, left)
    }

    /// Begins an exchange of the category's aggregate; `reserved` when the medium is the node's already.
    #[inline]
    pub(super) fn begin(&mut self, category: usize, aggregate: Aggregate<P>, txop_end: Instant, reserved: bool) {
        let hardware = &mut self.categories[category].hardware;
        hardware.set_on_air(aggregate.mpdus.len());
        self.exchange = Some(Exchange {
            category,
            aggregate,
            arrived: std::mem::take(&mut self.spare_arrived),
            txop_end,
            reserved,
            data_sent: false,
        });
    }

    /// An aggregate for a tin, from the queue or from what the hardware holds.
    fn build(
        &mut self,
        now: Instant,
        category: usize,
        tin: Tin,
        held: bool,
        left: Option<Duration>,
    ) -> Option<Aggregate<P>> {
        let spare = self.spare.pop().unwrap_or_default();
        let Node {
            links,
            link_to,
            queue,
            drops,
            categories,
            framing,
            sifs,
            ..
        } = self;
        let link = &mut links[usize::from(link_to[tin.to.index()]?)];
        let Category {
            hardware, parameters, ..
        } = &mut categories[category];
        let (sending, most) = link.choose(now, 0);
        let mut limits = limits_within(&link.limits, &sending, parameters, *sifs);
        if let Some(left) = left {
            let answer = if limits.ampdu { sending.block_ack } else { sending.ack };
            limits.time = limits.time.min(left.saturating_sub(answer));
        }
        let mut handed = Duration::ZERO;
        let sender = &mut link.senders[usize::from(tin.tid)];
        let mut aggregate = sender.build(
            now,
            tin,
            &sending,
            &limits,
            framing,
            most,
            left.is_some(),
            spare,
            |most| match held {
                true => hardware.pop_packet(tin, most).map(|(packet, estimate)| {
                    handed += estimate;
                    packet
                }),
                false => queue.dequeue(now, tin, drops),
            },
        );
        queue.set_unsent(now, tin, sender.unsent());
        match &mut aggregate {
            Some(aggregate) if held => aggregate.handed = handed,
            Some(aggregate) => {
                aggregate.handed = aggregate.duration;
                queue.handed(tin, aggregate.handed);
            }
            None => queue.finished(tin, handed),
        }
        aggregate
    }

    /// Keeps an emptied vector for the next aggregate.
    pub(super) fn recycle(&mut self, mut mpdus: Vec<Mpdu<P>>) {
        mpdus.clear();
        if self.spare.len() < 8 {
            self.spare.push(mpdus);
        }
    }
}
