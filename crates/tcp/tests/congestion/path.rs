//! Congestion control alone on a path. Bulk senders have a minimum of TCP: SACK of single segments,
//! PRR, a retransmission timer. The path has one drop-tail queue at a rate, a delay per direction,
//! and selected losses.

use crate::sender::Sender;
use netburn_tcp::config::CongestionControl;
use netburn_tcp::congestion::State;
use netburn_units::{BitRate, ByteSize, Duration, Instant};
use std::collections::{BTreeMap, BTreeSet, VecDeque};

pub(crate) const MSS: u32 = 1_448;
/// A full segment with its headers: IPv4 and TCP with timestamps.
pub(crate) const PACKET: ByteSize = ByteSize::from_bytes(1_500);

/// Common properties of all flows.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Path {
    pub(crate) rate: BitRate,
    /// Per direction.
    pub(crate) delay: Duration,
    /// Maximum number of queued packets.
    pub(crate) queue: usize,
}

impl Path {
    /// Bandwidth-delay product in segments.
    pub(crate) fn product(&self) -> f64 {
        let round_trip = 2.0 * self.delay.as_secs_f64();
        self.rate.as_bps() as f64 * round_trip / 8.0 / PACKET.as_bytes() as f64
    }
}

/// One sender.
#[derive(Debug, Clone)]
pub(crate) struct Flow {
    pub(crate) control: CongestionControl,
    pub(crate) start: Instant,
    /// Segments, numbered from 0, whose first transmission is lost.
    pub(crate) lost: Vec<u64>,
    pub(crate) random: u64,
    /// Pause of the application: start after the establishment of the connection, and length. Only
    /// with complete endpoints.
    pub(crate) pause: Option<(Duration, Duration)>,
    /// True if those segments are marked (ECN) instead of lost. Only with complete endpoints.
    pub(crate) marks: bool,
}

impl Flow {
    pub(crate) fn new(control: CongestionControl) -> Self {
        Self {
            control,
            start: Instant::ZERO,
            lost: Vec::new(),
            random: 1,
            pause: None,
            marks: false,
        }
    }
}

/// State of a flow at one instant.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Point {
    pub(crate) at: Instant,
    pub(crate) cwnd: u32,
    pub(crate) ssthresh: u32,
    pub(crate) in_flight: u32,
    pub(crate) state: State,
    pub(crate) pacing_rate: Option<BitRate>,
    pub(crate) delivered: u64,
}

/// Result of one flow.
#[derive(Debug, Clone)]
pub(crate) struct Outcome {
    /// A point every 10 ms.
    pub(crate) curve: Vec<Point>,
    pub(crate) drops: u64,
    /// Reductions: time, window before, threshold after.
    pub(crate) reductions: Vec<(Instant, u32, u32)>,
}

impl Outcome {
    /// Last point at or before `at`.
    pub(crate) fn at(&self, at: Instant) -> &Point {
        let after = self.curve.partition_point(|point| point.at <= at);
        &self.curve[after.saturating_sub(1)]
    }

    /// Segments delivered between two instants.
    pub(crate) fn delivered(&self, from: Instant, to: Instant) -> u64 {
        self.at(to).delivered - self.at(from).delivered
    }
}

/// Runs `flows` over `path` until `end`.
pub(crate) fn run(path: Path, flows: &[Flow], end: Instant) -> Vec<Outcome> {
    let mut world = World {
        path,
        now: Instant::ZERO,
        events: BTreeMap::new(),
        sequence: 0,
        leaving: VecDeque::new(),
        free: Instant::ZERO,
        senders: flows.iter().map(Sender::new).collect(),
        receivers: flows.iter().map(|_| Receiver::default()).collect(),
        outcomes: flows
            .iter()
            .map(|_| Outcome {
                curve: Vec::new(),
                drops: 0,
                reductions: Vec::new(),
            })
            .collect(),
    };
    for (flow, settings) in flows.iter().enumerate() {
        world.schedule(settings.start, Event::Start(flow));
    }
    world.schedule(Instant::ZERO, Event::Sample);
    while let Some(((at, _), event)) = world.events.pop_first() {
        if at > end {
            break;
        }
        world.now = at;
        world.handle(event);
    }
    for (outcome, sender) in world.outcomes.iter_mut().zip(world.senders) {
        outcome.reductions = sender.reductions;
    }
    world.outcomes
}

#[derive(Debug)]
enum Event {
    Start(usize),
    Arrive(usize, u64),
    Acknowledge(usize, Acknowledgement),
    Delayed(usize, u64),
    Paced(usize),
    Timer(usize),
    Sample,
}

/// Acknowledgement of a receiver.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Acknowledgement {
    pub(crate) next: u64,
    pub(crate) selective: Option<u64>,
}

struct World {
    path: Path,
    now: Instant,
    events: BTreeMap<(Instant, u64), Event>,
    sequence: u64,
    leaving: VecDeque<Instant>,
    free: Instant,
    senders: Vec<Sender>,
    receivers: Vec<Receiver>,
    outcomes: Vec<Outcome>,
}

impl World {
    fn schedule(&mut self, at: Instant, event: Event) {
        self.events.insert((at, self.sequence), event);
        self.sequence += 1;
    }

    fn handle(&mut self, event: Event) {
        let now = self.now;
        match event {
            Event::Start(flow) => {
                let round_trip = self.path.delay + self.path.delay;
                self.senders[flow].start(now, round_trip);
                self.transmit(flow);
            }
            Event::Arrive(flow, segment) => {
                if let Some(acknowledgement) = self.receivers[flow].receive(segment) {
                    self.acknowledge(flow, acknowledgement);
                } else {
                    let held = self.receivers[flow].next;
                    self.schedule(now + Duration::from_millis(40), Event::Delayed(flow, held));
                }
            }
            Event::Delayed(flow, held) => {
                let receiver = &mut self.receivers[flow];
                if receiver.held > 0 && receiver.next == held {
                    receiver.held = 0;
                    let next = receiver.next;
                    self.acknowledge(flow, Acknowledgement { next, selective: None });
                }
            }
            Event::Acknowledge(flow, acknowledgement) => {
                self.senders[flow].on_ack(now, acknowledgement);
                self.transmit(flow);
            }
            Event::Paced(flow) => {
                self.senders[flow].waiting = false;
                self.transmit(flow);
            }
            Event::Timer(flow) => {
                self.senders[flow].timer = false;
                self.senders[flow].on_timer(now);
                self.transmit(flow);
            }
            Event::Sample => {
                for (sender, outcome) in self.senders.iter().zip(&mut self.outcomes) {
                    outcome.curve.push(sender.point(now));
                }
                self.schedule(now + Duration::from_millis(10), Event::Sample);
            }
        }
    }

    fn acknowledge(&mut self, flow: usize, acknowledgement: Acknowledgement) {
        self.schedule(self.now + self.path.delay, Event::Acknowledge(flow, acknowledgement));
    }

    fn transmit(&mut self, flow: usize) {
        let now = self.now;
        while let Some((segment, lost)) = self.senders[flow].send(now) {
            while self.leaving.front().is_some_and(|at| *at <= now) {
                self.leaving.pop_front();
            }
            if lost || self.leaving.len() > self.path.queue {
                self.outcomes[flow].drops += 1;
                continue;
            }
            let time = self.path.rate.time_for(PACKET).expect("the path has a rate");
            self.free = self.free.max(now) + time;
            self.leaving.push_back(self.free);
            self.schedule(self.free + self.path.delay, Event::Arrive(flow, segment));
        }
        let sender = &mut self.senders[flow];
        if sender.next_send > now && !sender.waiting && sender.may_send() {
            sender.waiting = true;
            let at = sender.next_send;
            self.schedule(at, Event::Paced(flow));
        }
        let sender = &mut self.senders[flow];
        if !sender.timer && sender.has_unacknowledged() {
            sender.timer = true;
            let at = sender.deadline;
            self.schedule(at, Event::Timer(flow));
        }
    }
}

/// Acknowledges every second segment, and immediately after a gap; the first 16 individually, as
/// Linux does.
#[derive(Default)]
struct Receiver {
    next: u64,
    ahead: BTreeSet<u64>,
    held: u32,
}

impl Receiver {
    fn receive(&mut self, segment: u64) -> Option<Acknowledgement> {
        let in_order = segment == self.next && self.ahead.is_empty();
        if segment == self.next {
            self.next += 1;
            while self.ahead.remove(&self.next) {
                self.next += 1;
            }
        } else if segment > self.next {
            self.ahead.insert(segment);
        }
        self.held += 1;
        if in_order && self.held < 2 && self.next > 16 {
            return None;
        }
        self.held = 0;
        let selective = (segment >= self.next).then_some(segment);
        Some(Acknowledgement {
            next: self.next,
            selective,
        })
    }
}
