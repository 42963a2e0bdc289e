//! A queue discipline of a WAN link, and the shaper that takes packets from it.

use super::cake::{Cake, CakeConfig, Labels};
use crate::hop::{HopEvent, HopFraming};
use crate::output::{Endpoint, Envelope, NetPacket, Payload};
use netburn_medium::packet::{NodeId, Packet, Queued};
use netburn_medium::queue::driver::Discipline;
use netburn_medium::queue::{Drops, QueueConfig, QueueKind};
use netburn_units::{BitRate, Duration, Instant, RandomStream};
use std::collections::VecDeque;

/// Settings of a discipline in one direction.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct PacerConfig {
    pub(crate) kind: QueueKind,
    /// Rate of the shaper; `None`: the link takes packets whenever it is idle.
    pub(crate) shaper: Option<BitRate>,
    /// Rate of the link.
    pub(crate) link: BitRate,
    pub(crate) cake: CakeConfig,
}

/// A discipline, and its shaper.
///
/// **Call order:** as of a [`Hop`](crate::hop::Hop). Without a shaper, call [`dequeue`](Self::dequeue) whenever the link
/// is idle.
#[derive(Debug)]
pub(crate) struct Pacer<P> {
    queue: Box<dyn Discipline<Envelope<P>>>,
    shaper: Option<Shaper>,
    events: VecDeque<(Instant, HopEvent<NetPacket<P>>)>,
}

/// A shaper without bursts: a packet may leave at max(now, end of the packet before), and occupies the time of its
/// bytes at the rate (`cake_advance_shaper`).
#[derive(Debug, Clone, Copy)]
struct Shaper {
    rate: BitRate,
    framing: HopFraming,
    next: Instant,
    /// Part of a nanosecond of `next`, in bits × 10⁹ modulo the rate.
    remainder: u64,
}

impl Shaper {
    fn advance(&mut self, now: Instant, length: u32) {
        let rate = u128::from(self.rate.as_bps().max(1));
        let work = u128::from(self.framing.bytes(length)) * 8_000_000_000 + u128::from(self.remainder);
        self.remainder = (work % rate) as u64;
        self.next = self.next.max(now) + Duration::from_nanos((work / rate) as u64);
    }
}

impl<P: Payload> Pacer<P> {
    /// Creates a discipline whose random numbers come from `blue`.
    pub(crate) fn new(config: &PacerConfig, blue: RandomStream) -> Self {
        let queue = QueueConfig::for_station(config.kind).discipline();
        let rate = config.shaper.unwrap_or(config.link);
        Pacer {
            // CAKE is the only discipline of a WAN link that `medium` does not build: it reads header fields.
            queue: queue.unwrap_or_else(|| Box::new(Cake::new(config.cake, rate, labels, blue))),
            shaper: config.shaper.map(|rate| Shaper {
                rate,
                framing: config.cake.framing,
                next: Instant::from_nanos(i64::MIN / 2),
                remainder: 0,
            }),
            events: VecDeque::new(),
        }
    }

    /// Sets the rate of the link, for a discipline without a shaper.
    pub(crate) fn set_link_rate(&mut self, rate: BitRate) {
        if self.shaper.is_none() {
            self.queue.set_rate(rate);
        }
    }

    /// Adds a packet. With a shaper, sends what it permits.
    pub(crate) fn handle_packet(&mut self, now: Instant, packet: NetPacket<P>) {
        let packet = Queued {
            to: NodeId(0),
            since: now,
            arrival: 0,
            packet,
        };
        let mut drops = Vec::new();
        self.queue.enqueue(now, packet, &mut drops);
        self.add_drops(now, drops);
        self.handle_timeout(now);
    }

    /// Sends the packets that the shaper permits up to `now`.
    pub(crate) fn handle_timeout(&mut self, now: Instant) {
        while self.shaper.is_some_and(|shaper| shaper.next <= now) {
            let Some(packet) = self.dequeue(now) else { return };
            if let Some(shaper) = &mut self.shaper {
                shaper.advance(now, packet.length);
            }
            self.events.push_back((now, HopEvent::Arrived(packet)));
        }
    }

    /// Next packet of the discipline. Drops become events.
    pub(crate) fn dequeue(&mut self, now: Instant) -> Option<NetPacket<P>> {
        let mut drops = Vec::new();
        let packet = self.queue.dequeue(now, &mut drops);
        self.add_drops(now, drops);
        packet.map(|queued| queued.packet)
    }

    /// Next event: a packet was dropped, or left the shaper.
    pub(crate) fn poll_event(&mut self) -> Option<(Instant, HopEvent<NetPacket<P>>)> {
        self.events.pop_front()
    }

    /// Time of the next event.
    pub(crate) fn poll_timeout(&self) -> Option<Instant> {
        let pending = self.events.front().map(|(at, _)| *at);
        let shaped = self.shaper.filter(|_| self.packets() > 0).map(|shaper| shaper.next);
        pending.or(shaped)
    }

    /// Number of queued packets.
    pub(crate) fn packets(&self) -> usize {
        self.queue.packets()
    }

    fn add_drops(&mut self, now: Instant, drops: Drops<Envelope<P>>) {
        let dropped = drops
            .into_iter()
            .map(|(queued, _)| (now, HopEvent::Dropped(queued.packet)));
        self.events.extend(dropped);
    }
}

/// Labels of a packet. Its hosts are the server, and each station.
fn labels<P>(packet: &Packet<Envelope<P>>) -> Labels {
    let host = |endpoint: Endpoint| match endpoint {
        Endpoint::Server => 0,
        Endpoint::Station(station) => u32::from(station) + 1,
    };
    Labels {
        source: host(packet.payload.from),
        destination: host(packet.payload.to),
        headers: packet.payload.headers,
    }
}
