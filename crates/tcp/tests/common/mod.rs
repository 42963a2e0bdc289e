//! A path between two endpoints: a rate, a delay per direction, a queue; loss, reordering,
//! duplication and marks, random or scripted. Everything in simulated time.

#![expect(dead_code, unreachable_pub, reason = "each test uses a part of it")]

use netburn_tcp::segment::Flags;
use netburn_tcp::{Endpoint, EndpointConfig, Event, Packet, Segment};
use netburn_units::{BitRate, ByteSize, Duration, Instant, Probability, Seed};
use std::collections::{BTreeMap, BTreeSet, VecDeque};

/// One direction of the path.
#[derive(Debug, Clone)]
pub struct Link {
    pub rate: Option<BitRate>,
    pub delay: Duration,
    /// Maximum number of packets queued for the link.
    pub queue: usize,
    pub loss: Probability,
    pub duplication: Probability,
    /// Probability of reordering of a packet.
    pub reordering: Probability,
    pub held_back: Duration,
    /// Queue length above which ECN-capable packets are marked.
    pub mark_above: Option<usize>,
    /// Numbers (from 0) of the data packets that are dropped, and of those that are marked.
    pub drop: BTreeSet<u64>,
    pub mark: BTreeSet<u64>,
    /// Additional delays of data packets.
    pub late: BTreeMap<u64, Duration>,
    /// Limit of the sending host's own queue in packets; further ones are rejected. The link takes
    /// packets from it.
    pub host_queue: usize,
}

impl Default for Link {
    fn default() -> Self {
        Self {
            rate: None,
            delay: Duration::from_millis(10),
            queue: 1_000_000,
            loss: Probability::default(),
            duplication: Probability::default(),
            reordering: Probability::default(),
            held_back: Duration::from_millis(5),
            mark_above: None,
            drop: BTreeSet::new(),
            mark: BTreeSet::new(),
            late: BTreeMap::new(),
            host_queue: 1_000_000,
        }
    }
}

#[derive(Debug, Clone)]
struct Direction {
    link: Link,
    waiting: VecDeque<(Packet, bool)>,
    busy: bool,
    data: u64,
}

#[derive(Debug, Clone, Copy)]
enum Happening {
    /// The link of this side has sent its first packet.
    Sent(usize),
    Arrival(usize, Segment, bool),
}

/// Observations at one side.
#[derive(Debug, Clone, Default)]
pub struct Seen {
    pub connected: Option<Instant>,
    pub received: u64,
    pub acknowledged: u64,
    pub finished: Option<Instant>,
    pub closed: Option<Instant>,
    pub failed: Option<Event>,
    pub host_queue_most: u64,
    /// Time of the last received content.
    pub last_received: Option<Instant>,
}

/// Two endpoints (0 opens, 1 listens) and the path between them.
pub struct Path {
    pub now: Instant,
    pub ends: [Endpoint; 2],
    pub seen: [Seen; 2],
    /// Remaining bytes to write of each side.
    pub to_write: [u64; 2],
    pub finish: [bool; 2],
    finished: [bool; 2],
    ways: [Direction; 2],
    events: BTreeMap<(Instant, u64), Happening>,
    sequence: u64,
    chance: netburn_units::RandomStream,
    /// Every sent segment: time, side, segment.
    pub trace: Vec<(Instant, usize, Segment)>,
    pub traced: bool,
    pub transmissions: u64,
}

impl Path {
    pub fn new(configs: [&EndpointConfig; 2], links: [Link; 2], seed: u64) -> Self {
        let now = Instant::ZERO;
        let way = |link: Link| Direction {
            link,
            waiting: VecDeque::new(),
            busy: false,
            data: 0,
        };
        let [one, other] = links;
        Self {
            now,
            ends: [
                Endpoint::connect(configs[0], now).expect("modelled"),
                Endpoint::listen(configs[1], now).expect("modelled"),
            ],
            seen: [Seen::default(), Seen::default()],
            to_write: [0; 2],
            finish: [false; 2],
            finished: [false; 2],
            ways: [way(one), way(other)],
            events: BTreeMap::new(),
            sequence: 0,
            chance: Seed(seed).stream("path", 0),
            trace: Vec::new(),
            traced: false,
            transmissions: 0,
        }
    }

    /// Changes the delay of packets from `side`.
    pub fn set_delay(&mut self, side: usize, delay: Duration) {
        self.ways[side].link.delay = delay;
    }

    /// A path with the same link and settings in both directions.
    pub fn symmetric(config: &EndpointConfig, link: &Link, seed: u64) -> Self {
        Self::new([config, config], [link.clone(), link.clone()], seed)
    }

    /// Runs until `end` or until nothing is due. Returns true if something was still due.
    pub fn run_until(&mut self, end: Instant) -> bool {
        self.settle(0);
        self.settle(1);
        loop {
            let Some(at) = self.next() else { return false };
            if at > end {
                self.now = end;
                return true;
            }
            assert!(at >= self.now, "time never goes back");
            self.now = at;
            let due = self.events.first_key_value().filter(|((when, _), _)| *when == at);
            if let Some((key, _)) = due {
                let key = *key;
                let happening = self.events.remove(&key).expect("it was there");
                match happening {
                    Happening::Sent(side) => self.sent(side),
                    Happening::Arrival(side, segment, ce) => {
                        self.ends[side].handle_segment(self.now, &segment, ce);
                        self.settle(side);
                    }
                }
                continue;
            }
            for side in 0..2 {
                if let Some((when, timer)) = self.ends[side].poll_timeout()
                    && when <= self.now
                {
                    let before = self.transmissions;
                    self.ends[side].handle_timeout(self.now);
                    self.settle(side);
                    let later = self.ends[side].poll_timeout();
                    assert!(
                        self.transmissions > before || later.is_none_or(|(again, _)| again > when),
                        "{timer:?} at {when:?} led nowhere: {later:?}"
                    );
                }
            }
        }
    }

    pub fn next(&self) -> Option<Instant> {
        let timers = self
            .ends
            .iter()
            .filter_map(|end| end.poll_timeout().map(|(at, _)| at.max(self.now)));
        let event = self.events.first_key_value().map(|((at, _), _)| *at);
        timers.chain(event).min()
    }

    /// Drains a side, writing as much as it accepts.
    pub fn settle(&mut self, side: usize) {
        loop {
            if self.to_write[side] > 0 {
                self.to_write[side] -= self.ends[side].write(self.now, self.to_write[side]);
            }
            if self.to_write[side] == 0 && self.finish[side] && !self.finished[side] {
                self.finished[side] = true;
                self.ends[side].finish(self.now);
            }
            while let Some(transmit) = self.ends[side].poll_transmit(self.now) {
                self.transmissions += 1;
                assert!(transmit.packets >= 1 && u64::from(transmit.packets) * u64::from(transmit.mss) < 1 << 17);
                for packet in transmit.packets() {
                    assert!(packet.segment.length <= transmit.mss);
                    if self.traced {
                        self.trace.push((self.now, side, packet.segment));
                    }
                    self.offer(side, packet, transmit.ect);
                }
                let info = self.ends[side].info();
                let most = &mut self.seen[side].host_queue_most;
                *most = (*most).max(info.host_queue.as_bytes());
            }
            let mut again = false;
            while let Some(event) = self.ends[side].poll_event() {
                let seen = &mut self.seen[side];
                match event {
                    Event::Connected => seen.connected = Some(self.now),
                    Event::Received(bytes) => {
                        assert!(bytes > seen.received);
                        seen.received = bytes;
                        seen.last_received = Some(self.now);
                    }
                    Event::Acknowledged(bytes) => {
                        assert!(bytes > seen.acknowledged);
                        seen.acknowledged = bytes;
                    }
                    Event::Writable => again = true,
                    Event::Finished => seen.finished = Some(self.now),
                    Event::Closed => seen.closed = Some(self.now),
                    Event::Failed(_) => seen.failed = Some(event),
                }
            }
            if !again {
                return;
            }
        }
    }

    fn offer(&mut self, side: usize, packet: Packet, ect: bool) {
        let way = &mut self.ways[side];
        if way.waiting.len() >= way.link.host_queue {
            self.ends[side].handle_dropped_locally(self.now, &packet);
            return;
        }
        if way.waiting.len() >= way.link.queue {
            // A queue on the path: the host is not informed.
            self.ends[side].handle_freed(self.now, u64::from(packet.truesize));
            return;
        }
        way.waiting.push_back((packet, ect));
        if !way.busy {
            self.start(side);
        }
    }

    fn start(&mut self, side: usize) {
        let way = &mut self.ways[side];
        let Some((packet, _)) = way.waiting.front() else { return };
        let length = ByteSize::from_bytes(u64::from(packet.segment.wire_length()));
        let span = way
            .link
            .rate
            .map_or(Duration::ZERO, |rate| rate.time_for(length).expect("a rate"));
        way.busy = true;
        self.push(self.now + span, Happening::Sent(side));
    }

    fn sent(&mut self, side: usize) {
        let way = &mut self.ways[side];
        way.busy = false;
        let waiting = way.waiting.len();
        let Some((packet, ect)) = way.waiting.pop_front() else {
            return;
        };
        let link = way.link.clone();
        let mut lost = self.chance.happens(link.loss);
        let mut marked = ect && link.mark_above.is_some_and(|most| waiting > most);
        let mut late = Duration::ZERO;
        if packet.segment.is_data() {
            late = link.late.get(&way.data).copied().unwrap_or_default();
            lost |= link.drop.contains(&way.data);
            marked |= link.mark.contains(&way.data);
            way.data += 1;
        }
        if !lost {
            let copies = 1 + u32::from(self.chance.happens(link.duplication));
            for _ in 0..copies {
                let mut at = self.now + link.delay + late;
                if self.chance.happens(link.reordering) {
                    at += self.chance.duration_below(link.held_back);
                }
                self.push(at, Happening::Arrival(1 - side, packet.segment, marked && ect));
            }
        }
        self.ends[side].handle_freed(self.now, u64::from(packet.truesize));
        self.start(side);
        self.settle(side);
    }

    fn push(&mut self, at: Instant, happening: Happening) {
        self.events.insert((at, self.sequence), happening);
        self.sequence += 1;
    }

    /// Data segments sent by `side`: time, offset, length.
    pub fn data_trace(&self, side: usize) -> Vec<(Instant, u64, u32)> {
        let of = |(at, from, segment): &(Instant, usize, Segment)| {
            (*from == side && segment.length > 0).then_some((*at, segment.seq, segment.length))
        };
        self.trace.iter().filter_map(of).collect()
    }

    pub fn flags_of(segment: &Segment, flags: Flags) -> bool {
        segment.flags.contains(flags)
    }
}

/// Per cent.
pub fn percent(parts: u32) -> Probability {
    Probability::from_ppb(parts * 10_000_000).expect("at most all")
}

pub fn ms(millis: u64) -> Duration {
    Duration::from_millis(millis)
}

pub fn at_ms(millis: i64) -> Instant {
    Instant::from_millis(millis)
}
