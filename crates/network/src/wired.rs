//! Stations on wires of their own: each host's queue, its device's ring, and the line both ways.
//!
//! ```text
//! queue → ring → device (→ the line's queue) → line ──        and     ── the line's queue → line → station
//! ```
//!
//! The ring is filled from the queue as byte queue limits have it (Linux, `include/linux/dynamic_queue_limits.h`): more is taken as
//! long as what it holds is not above the limit. A packet has left the host when the device has sent it.

use crate::error::NetworkError;
use crate::hop::{Hop, HopConfig, Left, earlier};
use crate::output::{Dropper, Moving, Parcel};
use crate::queue::QueueConfig;
use netburn_medium::config::QueueKind;
use netburn_medium::packet::{DropReason, NodeId, Queued};
use netburn_medium::queue::Drops;
use netburn_medium::queue::driver::Discipline;
use netburn_scenario::Plan;
use netburn_scenario::plan::{DEFAULT_INTERRUPT_INTERVAL, StationLink, StationSetting};
use netburn_units::{BitRate, ByteSize, Instant};
use netburn_workload::Deadlines;
use std::collections::VecDeque;

/// All of them.
#[derive(Debug)]
pub(crate) struct Wired<P> {
    hosts: Vec<Host<P>>,
    dues: Deadlines,
    /// What happened at the instant that was handled last, and to which host.
    happened: VecDeque<(usize, Happened<P>)>,
}

/// What happened at a host or on its line.
#[derive(Debug)]
pub(crate) enum Happened<P> {
    /// A packet of this flow with so many bytes has left the host.
    Sent { flow: u32, bytes: u32 },
    /// A packet has come out of the line, away from the station.
    Up(Moving<P>),
    /// A packet has come to the station.
    Down(Moving<P>),
    /// A packet is gone.
    Gone(Dropper, Moving<P>),
}

#[derive(Debug)]
struct Host<P> {
    station: u16,
    link: StationLink,
    queue: QueueConfig,
    discipline: Box<dyn Discipline<Parcel<P>>>,
    /// Flow and bytes of what the device holds.
    ring: VecDeque<(u32, u32)>,
    ring_bytes: u64,
    device: Hop<Moving<P>>,
    /// The line after the device, where they are two.
    line_up: Option<Hop<Moving<P>>>,
    line_down: Hop<Moving<P>>,
}

impl<P: std::fmt::Debug + Send + 'static> Wired<P> {
    /// The plan's stations with a link, in its order.
    pub(crate) fn new(plan: &Plan) -> Result<Self, NetworkError> {
        let mut hosts = Vec::new();
        for (station, number) in plan.stations.iter().zip(0_u16..) {
            let Some(link) = station.link else { continue };
            let queue = QueueConfig::of_station(station.air.queue);
            let discipline = queue.discipline().ok_or_else(|| NetworkError::WiredQueue {
                station: station.name.clone(),
                queue: station.air.queue.name(),
            })?;
            let hop = |config, cause| Hop::new(config, plan.seed.stream(cause, u64::from(number)));
            let mut device = hop(device(&link), "station-up");
            device.tell_sent();
            hosts.push(Host {
                station: number,
                link,
                queue,
                discipline,
                ring: VecDeque::new(),
                ring_bytes: 0,
                device,
                line_up: link.device.map(|_| hop(line(&link, link.up), "station-line")),
                line_down: hop(
                    line(&link, link.down).with_interrupt_interval(DEFAULT_INTERRUPT_INTERVAL),
                    "station-down",
                ),
            });
        }
        Ok(Wired {
            dues: Deadlines::new(hosts.len()),
            hosts,
            happened: VecDeque::new(),
        })
    }

    /// The number of a host's station.
    pub(crate) fn station(&self, host: usize) -> u16 {
        self.hosts[host].station
    }

    /// A host's link as it is now.
    pub(crate) fn link(&self, host: usize) -> StationLink {
        self.hosts[host].link
    }

    /// A station sends a packet.
    pub(crate) fn send(&mut self, now: Instant, host: usize, packet: Moving<P>) {
        let packet = Queued {
            to: NodeId(0),
            since: now,
            arrival: 0,
            packet,
        };
        let mut drops = Vec::new();
        let of = &mut self.hosts[host];
        of.discipline.enqueue(now, packet, &mut drops);
        of.fill(now, &mut drops);
        self.gone(host, drops);
        self.reckon(host);
    }

    /// A packet is to go to a station.
    pub(crate) fn deliver(&mut self, now: Instant, host: usize, packet: Moving<P>) {
        if let Err(packet) = self.hosts[host].line_down.handle_packet(now, packet.length, packet) {
            self.happened.push_back((host, Happened::Gone(Dropper::Wire, packet)));
        }
        self.reckon(host);
    }

    /// When something happens next.
    pub(crate) fn poll_timeout(&self) -> Option<Instant> {
        self.dues.next()
    }

    /// Whether there are none.
    pub(crate) fn is_empty(&self) -> bool {
        self.hosts.is_empty()
    }

    /// The next thing that happened by `now`, and to which host.
    #[inline]
    pub(crate) fn poll(&mut self, now: Instant) -> Option<(usize, Happened<P>)> {
        if self.hosts.is_empty() {
            return None;
        }
        while self.happened.is_empty() {
            let (at, host) = self.dues.pop(now)?;
            self.advance(at, host);
        }
        self.happened.pop_front()
    }

    /// A setting of a host changes. What isn't of a wire is left alone.
    pub(crate) fn set(&mut self, now: Instant, host: usize, setting: StationSetting) {
        let of = &mut self.hosts[host];
        let link = &mut of.link;
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
        of.device.set_config(device(&of.link));
        if let Some(up) = &mut of.line_up {
            up.set_config(line(&of.link, of.link.up));
        }
        of.line_down
            .set_config(line(&of.link, of.link.down).with_interrupt_interval(DEFAULT_INTERRUPT_INTERVAL));
        self.reckon(host);
    }

    fn set_queue(&mut self, now: Instant, host: usize, kind: QueueKind) {
        let queue = QueueConfig::of_station(kind);
        let Some(discipline) = queue.discipline() else { return };
        let of = &mut self.hosts[host];
        let mut drops = Vec::new();
        of.discipline.clear(&mut drops);
        (of.queue, of.discipline) = (queue, discipline);
        of.fill(now, &mut drops);
        self.gone(host, drops);
        self.reckon(host);
    }

    /// What is due at a host happens.
    fn advance(&mut self, at: Instant, host: usize) {
        let of = &mut self.hosts[host];
        let happened = &mut self.happened;
        let mut drops = Vec::new();
        of.device.handle_timeout(at);
        while let Some((_, left)) = of.device.poll_left(at) {
            match left {
                Left::Sent => {
                    let (flow, bytes) = of.ring.pop_front().expect("what was sent was in the ring");
                    of.ring_bytes -= u64::from(bytes);
                    happened.push_back((host, Happened::Sent { flow, bytes }));
                }
                Left::Lost(packet) => happened.push_back((host, Happened::Gone(Dropper::Lost, packet))),
                Left::Arrived(packet) => match &mut of.line_up {
                    None => happened.push_back((host, Happened::Up(packet))),
                    Some(line) => {
                        if let Err(packet) = line.handle_packet(at, packet.length, packet) {
                            happened.push_back((host, Happened::Gone(Dropper::Wire, packet)));
                        }
                    }
                },
            }
        }
        of.fill(at, &mut drops);
        if let Some(line) = &mut of.line_up {
            line.handle_timeout(at);
            while let Some((_, left)) = line.poll_left(at) {
                happened.extend(come(left, Happened::Up).map(|what| (host, what)));
            }
        }
        of.line_down.handle_timeout(at);
        while let Some((_, left)) = of.line_down.poll_left(at) {
            happened.extend(come(left, Happened::Down).map(|what| (host, what)));
        }
        self.gone(host, drops);
        self.reckon(host);
    }

    /// What the host's queue threw away.
    fn gone(&mut self, host: usize, drops: Drops<Parcel<P>>) {
        let told = |(queued, reason): (Queued<Parcel<P>>, DropReason)| {
            (host, Happened::Gone(Dropper::Sender(reason), queued.packet))
        };
        self.happened.extend(drops.into_iter().map(told));
    }

    fn reckon(&mut self, host: usize) {
        let of = &self.hosts[host];
        let up = earlier(
            of.device.poll_timeout(),
            of.line_up.as_ref().and_then(Hop::poll_timeout),
        );
        self.dues.set(host, earlier(up, of.line_down.poll_timeout()));
    }
}

impl<P: std::fmt::Debug + Send> Host<P> {
    /// The ring takes from the queue what it has room for.
    fn fill(&mut self, now: Instant, drops: &mut Drops<Parcel<P>>) {
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

/// What has come out of a line.
fn come<P>(left: Left<Moving<P>>, arrived: fn(Moving<P>) -> Happened<P>) -> Option<Happened<P>> {
    match left {
        Left::Sent => None,
        Left::Lost(packet) => Some(Happened::Gone(Dropper::Lost, packet)),
        Left::Arrived(packet) => Some(arrived(packet)),
    }
}

/// The device: the line's end, or a hop before it.
fn device(link: &StationLink) -> HopConfig {
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
        // The ring bounds it.
        queue: ByteSize::from_bytes(u64::MAX),
        ..own
    }
}

/// The line in one direction, with what can wait for it.
fn line(link: &StationLink, rate: BitRate) -> HopConfig {
    let rate = Some(rate);
    HopConfig {
        rate,
        delay: link.delay,
        loss: link.loss,
        queue: link.queue.unwrap_or_else(|| HopConfig::usual_queue(rate)),
        ..HopConfig::default()
    }
}
