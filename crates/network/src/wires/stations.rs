//! Wired stations: each host's queue, its device's ring, and the link in both directions.
//!
//! ```text
//! queue → ring → device (→ the link's queue) → link ──        and     ── the link's queue → link → station
//! ```
//!
//! Byte queue limits control the ring (Linux, `include/linux/dynamic_queue_limits.h`): it takes packets
//! from the queue while its bytes do not exceed the limit. A packet has left the host when the device
//! has sent it.

use crate::error::NetworkError;
use crate::hop::{Hop, HopConfig, HopEvent};
use crate::output::{DropSite, Envelope, NetPacket, Payload};
use netburn_medium::packet::{DropReason, NodeId, Queued};
use netburn_medium::queue::Drops;
use netburn_medium::queue::driver::Discipline;
use netburn_medium::queue::{Place, QueueConfig, QueueKind};
use netburn_scenario::Plan;
use netburn_scenario::plan::{DEFAULT_INTERRUPT_INTERVAL, StationLink, StationSetting};
use netburn_units::{BitRate, ByteSize, Instant, earlier};
use netburn_workload::Deadlines;
use std::collections::VecDeque;

#[derive(Debug)]
pub(crate) struct WiredStations<P> {
    hosts: Vec<Host<P>>,
    dues: Deadlines,
    /// Events of the last instant, with their host.
    events: VecDeque<(usize, WiredEvent<P>)>,
}

/// Event of a wired station.
#[derive(Debug)]
pub(crate) enum WiredEvent<P> {
    /// A packet of this flow has left the host.
    Sent { flow: u32, bytes: u32 },
    /// A packet arrived from the station.
    Up(NetPacket<P>),
    /// A packet arrived at the station.
    Down(NetPacket<P>),
    /// A packet was dropped or lost.
    Dropped(DropSite, NetPacket<P>),
}

#[derive(Debug)]
struct Host<P> {
    station: u16,
    link: StationLink,
    queue: QueueConfig,
    discipline: Box<dyn Discipline<Envelope<P>>>,
    /// Flow and bytes of the packets in the device's ring.
    ring: VecDeque<(u32, u32)>,
    ring_bytes: u64,
    device: Hop<NetPacket<P>>,
    /// Uplink after the device, if it has a rate of its own.
    uplink: Option<Hop<NetPacket<P>>>,
    downlink: Hop<NetPacket<P>>,
}

impl<P: Payload> WiredStations<P> {
    /// Creates the plan's stations with a link, in its order.
    pub(crate) fn new(plan: &Plan) -> Result<Self, NetworkError> {
        let mut hosts = Vec::new();
        for (station, number) in plan.stations.iter().zip(0_u16..) {
            let Some(link) = station.link.clone() else { continue };
            let queue = QueueConfig::for_station(station.air.queue);
            let discipline = queue.discipline().ok_or_else(|| NetworkError::Queue {
                key: format!("station.{}.queue", station.name),
                queue: station.air.queue.name(),
                place: Place::Wire,
            })?;
            let hop = |config, cause| Hop::new(config, plan.seed.stream(cause, u64::from(number)));
            let mut device = hop(device_config(&link), "station-up");
            device.report_sent(true);
            hosts.push(Host {
                station: number,
                queue,
                discipline,
                ring: VecDeque::new(),
                ring_bytes: 0,
                device,
                uplink: link.device.map(|_| hop(link_config(&link, link.up), "station-line")),
                downlink: hop(
                    link_config(&link, link.down).with_interrupt_interval(DEFAULT_INTERRUPT_INTERVAL),
                    "station-down",
                ),
                link,
            });
        }
        Ok(WiredStations {
            dues: Deadlines::new(hosts.len()),
            hosts,
            events: VecDeque::new(),
        })
    }

    /// Station number of a host.
    pub(crate) fn station(&self, host: usize) -> u16 {
        self.hosts[host].station
    }

    /// Current link of a host.
    pub(crate) fn link(&self, host: usize) -> &StationLink {
        &self.hosts[host].link
    }

    /// Sends a packet of a station.
    pub(crate) fn send(&mut self, now: Instant, host: usize, packet: NetPacket<P>) {
        let packet = Queued {
            to: NodeId(0),
            since: now,
            arrival: 0,
            packet,
        };
        let mut drops = Vec::new();
        let entry = &mut self.hosts[host];
        entry.discipline.enqueue(now, packet, &mut drops);
        entry.fill(now, &mut drops);
        self.push_drops(host, drops);
        self.update_timeout(host);
    }

    /// Sends a packet to a station.
    pub(crate) fn deliver(&mut self, now: Instant, host: usize, packet: NetPacket<P>) {
        if let Err(packet) = self.hosts[host].downlink.handle_packet(now, packet.length, packet) {
            self.events
                .push_back((host, WiredEvent::Dropped(DropSite::Wire, packet)));
        }
        self.update_timeout(host);
    }

    /// Time of the next event.
    pub(crate) fn poll_timeout(&self) -> Option<Instant> {
        self.dues.next()
    }

    /// Returns true if there are no wired stations.
    pub(crate) fn is_empty(&self) -> bool {
        self.hosts.is_empty()
    }

    /// Next event up to `now`, with its host.
    #[inline]
    pub(crate) fn poll(&mut self, now: Instant) -> Option<(usize, WiredEvent<P>)> {
        if self.hosts.is_empty() {
            return None;
        }
        while self.events.is_empty() {
            let (at, host) = self.dues.pop(now)?;
            self.advance(at, host);
        }
        self.events.pop_front()
    }

    /// Changes a setting of a host. Settings of Wi-Fi are ignored.
    pub(crate) fn set(&mut self, now: Instant, host: usize, setting: StationSetting) {
        let entry = &mut self.hosts[host];
        let link = &mut entry.link;
        match setting {
            StationSetting::LinkRate(rate) => (link.down, link.up) = (rate, rate),
            StationSetting::LinkDown(rate) => link.down = rate,
            StationSetting::LinkUp(rate) => link.up = rate,
            StationSetting::LinkDelay(delay) => link.delay = delay,
            StationSetting::LinkLoss(loss) => link.loss = loss,
            StationSetting::Queue(kind) => {
                self.set_queue(now, host, kind);
                return;
            }
            _ => return,
        }
        entry.device.set_config(now, device_config(&entry.link));
        if let Some(up) = &mut entry.uplink {
            up.set_config(now, link_config(&entry.link, entry.link.up));
        }
        entry.downlink.set_config(
            now,
            link_config(&entry.link, entry.link.down).with_interrupt_interval(DEFAULT_INTERRUPT_INTERVAL),
        );
        self.update_timeout(host);
    }

    fn set_queue(&mut self, now: Instant, host: usize, kind: QueueKind) {
        if self.hosts[host].queue.kind == kind {
            return;
        }
        let queue = QueueConfig::for_station(kind);
        let Some(discipline) = queue.discipline() else { return };
        let entry = &mut self.hosts[host];
        let mut drops = Vec::new();
        entry.discipline.clear(&mut drops);
        (entry.queue, entry.discipline) = (queue, discipline);
        entry.fill(now, &mut drops);
        self.push_drops(host, drops);
        self.update_timeout(host);
    }

    /// Processes the events of a host at `at`.
    fn advance(&mut self, at: Instant, host: usize) {
        let entry = &mut self.hosts[host];
        let events = &mut self.events;
        let mut drops = Vec::new();
        entry.device.handle_timeout(at);
        while let Some((_, event)) = entry.device.poll_event(at) {
            match event {
                HopEvent::Sent => {
                    let (flow, bytes) = entry.ring.pop_front().expect("what was sent was in the ring");
                    entry.ring_bytes -= u64::from(bytes);
                    events.push_back((host, WiredEvent::Sent { flow, bytes }));
                }
                HopEvent::Lost(packet) => events.push_back((host, WiredEvent::Dropped(DropSite::Lost, packet))),
                HopEvent::Dropped(packet) => events.push_back((host, WiredEvent::Dropped(DropSite::Wire, packet))),
                HopEvent::Arrived(packet) => match &mut entry.uplink {
                    None => events.push_back((host, WiredEvent::Up(packet))),
                    Some(uplink) => {
                        if let Err(packet) = uplink.handle_packet(at, packet.length, packet) {
                            events.push_back((host, WiredEvent::Dropped(DropSite::Wire, packet)));
                        }
                    }
                },
            }
        }
        entry.fill(at, &mut drops);
        if let Some(uplink) = &mut entry.uplink {
            uplink.handle_timeout(at);
            while let Some((_, event)) = uplink.poll_event(at) {
                events.extend(wired_event(event, WiredEvent::Up).map(|event| (host, event)));
            }
        }
        entry.downlink.handle_timeout(at);
        while let Some((_, event)) = entry.downlink.poll_event(at) {
            events.extend(wired_event(event, WiredEvent::Down).map(|event| (host, event)));
        }
        self.push_drops(host, drops);
        self.update_timeout(host);
    }

    /// Adds the drops of the host's queue to the events.
    fn push_drops(&mut self, host: usize, drops: Drops<Envelope<P>>) {
        let dropped = |(queued, reason): (Queued<Envelope<P>>, DropReason)| {
            (host, WiredEvent::Dropped(DropSite::Sender(reason), queued.packet))
        };
        self.events.extend(drops.into_iter().map(dropped));
    }

    fn update_timeout(&mut self, host: usize) {
        let entry = &self.hosts[host];
        let up = earlier(
            entry.device.poll_timeout(),
            entry.uplink.as_ref().and_then(Hop::poll_timeout),
        );
        self.dues.set(host, earlier(up, entry.downlink.poll_timeout()));
    }
}

impl<P: Payload> Host<P> {
    /// Moves packets from the queue to the ring, up to its limits.
    fn fill(&mut self, now: Instant, drops: &mut Drops<Envelope<P>>) {
        let full = |held: u64| self.link.bql.is_some_and(|most| held > most.as_bytes());
        while self.ring.len() < self.link.ring as usize && !full(self.ring_bytes) {
            let Some(Queued { packet, .. }) = self.discipline.dequeue(now, drops) else {
                return;
            };
            let length = packet.length;
            self.ring.push_back((packet.flow, length));
            self.ring_bytes += u64::from(length);
            if self.device.handle_packet(now, length, packet).is_err() {
                unreachable!("what the device may hold is bounded by its ring alone");
            }
        }
    }
}

/// Event of a packet at the end of a link.
fn wired_event<P>(event: HopEvent<NetPacket<P>>, arrived: fn(NetPacket<P>) -> WiredEvent<P>) -> Option<WiredEvent<P>> {
    match event {
        HopEvent::Sent => None,
        HopEvent::Lost(packet) => Some(WiredEvent::Dropped(DropSite::Lost, packet)),
        HopEvent::Dropped(packet) => Some(WiredEvent::Dropped(DropSite::Wire, packet)),
        HopEvent::Arrived(packet) => Some(arrived(packet)),
    }
}

/// Hop of the device: the link itself, or a hop before it.
fn device_config(link: &StationLink) -> HopConfig {
    let own = match link.device {
        None => HopConfig {
            delay: link.delay,
            loss: link.loss,
            ..HopConfig::default()
        },
        Some(_) => HopConfig::default(),
    };
    HopConfig {
        rate: Some(link.device.unwrap_or(link.up)),
        // The ring limits it.
        queue: ByteSize::from_bytes(u64::MAX),
        ..own
    }
}

/// Hop of the link in one direction, with its queue.
fn link_config(link: &StationLink, rate: BitRate) -> HopConfig {
    let rate = Some(rate);
    HopConfig {
        rate,
        delay: link.delay,
        loss: link.loss,
        queue: link.queue.unwrap_or_else(|| HopConfig::default_queue(rate)),
        ..HopConfig::default()
    }
}
