//! The path of `path`, between complete endpoints: handshake, SACK, RACK, PRR, bursts, small
//! queues, socket buffers.

use crate::path::{Flow, MSS, Outcome, Path, Point};
use netburn_tcp::config::{Buffer, EndpointConfig};
use netburn_tcp::{Endpoint, Event, Segment};
use netburn_units::{ByteSize, Duration, Instant};
use std::collections::{BTreeMap, BTreeSet, VecDeque};

/// Runs `flows` over `path` until `end` after the first connection was established. The
/// applications write as fast as possible. Each curve's time starts with its connection.
pub(crate) fn run(path: Path, flows: &[Flow], end: Duration) -> Vec<Outcome> {
    let mut world = World {
        path,
        now: Instant::ZERO,
        events: BTreeMap::new(),
        sequence: 0,
        leaving: VecDeque::new(),
        free: Instant::ZERO,
        connections: Vec::new(),
    };
    for (index, flow) in flows.iter().enumerate() {
        world.connections.push(Connection::new(flow));
        world.schedule(flow.start, index, What::Start);
    }
    loop {
        let timer = world.next_timer();
        let event = world.events.first_key_value().map(|((at, _), _)| *at);
        let due = timer.map(|(at, _)| at);
        let at = [due, event].into_iter().flatten().min().expect("something is due");
        world.now = at;
        let first = world.connections.iter().filter_map(|each| each.established).min();
        if first.is_some_and(|begun| at > begun + end) {
            return world.connections.into_iter().map(|each| each.outcome).collect();
        }
        let index = if event == Some(at) {
            let (_, (index, what)) = world.events.pop_first().expect("it is there");
            world.handle(index, &what);
            index
        } else {
            let (_, index) = timer.expect("it is due");
            world.connections[index].sender.handle_timeout(at);
            world.connections[index].receiver.handle_timeout(at);
            index
        };
        world.drain(index);
    }
}

/// Event of a connection.
#[derive(Debug)]
enum What {
    Start,
    /// And true if it is marked.
    AtReceiver(Segment, bool),
    AtSender(Segment),
    Sample,
}

/// Both ends of one flow.
struct Connection {
    sender: Endpoint,
    receiver: Endpoint,
    started: bool,
    lose: BTreeSet<u64>,
    marks: bool,
    highest: u64,
    established: Option<Instant>,
    pause: Option<(Duration, Duration)>,
    written: u64,
    outcome: Outcome,
}

/// Before a pause the application writes pieces of 64 KiB, while less than twice that is unsent.
const PIECE: u64 = 1 << 16;

impl Connection {
    fn new(flow: &Flow) -> Self {
        // Settings of the recording machine: 4 MB of buffers, 32 MB at most.
        let buffer = Buffer {
            initial: ByteSize::from_bytes(4_000_000),
            max: ByteSize::from_bytes(32_000_000),
        };
        let config = EndpointConfig {
            mss: MSS,
            congestion: flow.control.clone(),
            send_buffer: buffer,
            receive_buffer: buffer,
            random: flow.random,
            ecn: flow.marks,
            ..EndpointConfig::default()
        };
        Self {
            sender: Endpoint::connect(&config, flow.start).expect("it can be modelled"),
            receiver: Endpoint::listen(&config, flow.start).expect("it can be modelled"),
            started: false,
            lose: flow.lost.iter().copied().collect(),
            marks: flow.marks,
            highest: 0,
            established: None,
            pause: flow.pause,
            written: 0,
            outcome: Outcome {
                curve: Vec::new(),
                drops: 0,
                reductions: Vec::new(),
            },
        }
    }

    fn write_pieces(&mut self, now: Instant) {
        let (Some((from, span)), Some(begun)) = (self.pause, self.established) else {
            return;
        };
        if now >= begun + from && now < begun + from + span {
            return;
        }
        while self.written.saturating_sub(self.highest) < 2 * PIECE {
            self.written += self.sender.write(now, PIECE);
        }
    }

    fn point(&self, now: Instant) -> Point {
        let info = self.sender.info();
        let begun = self.established.expect("samples begin with the connection");
        Point {
            at: Instant::ZERO + now.since(begun),
            cwnd: info.cwnd,
            ssthresh: info.ssthresh,
            in_flight: info.in_flight,
            state: info.state,
            pacing_rate: info.pacing_rate,
            delivered: info.acknowledged / u64::from(MSS),
        }
    }
}

struct World {
    path: Path,
    now: Instant,
    events: BTreeMap<(Instant, u64), (usize, What)>,
    sequence: u64,
    leaving: VecDeque<Instant>,
    free: Instant,
    connections: Vec<Connection>,
}

impl World {
    fn schedule(&mut self, at: Instant, index: usize, what: What) {
        self.events.insert((at, self.sequence), (index, what));
        self.sequence += 1;
    }

    fn next_timer(&self) -> Option<(Instant, usize)> {
        let due = |endpoint: &Endpoint| endpoint.poll_timeout().map(|(at, _)| at);
        (self.connections.iter().enumerate())
            .filter(|(_, each)| each.started)
            .flat_map(|(index, each)| [(due(&each.sender), index), (due(&each.receiver), index)])
            .filter_map(|(at, index)| Some((at?, index)))
            .min()
    }

    fn handle(&mut self, index: usize, what: &What) {
        let now = self.now;
        let connection = &mut self.connections[index];
        match what {
            What::Start => connection.started = true,
            What::AtReceiver(segment, ce) => connection.receiver.handle_segment(now, segment, *ce),
            What::AtSender(segment) => connection.sender.handle_segment(now, segment, false),
            What::Sample => {
                let point = connection.point(now);
                connection.outcome.curve.push(point);
                self.schedule(now + Duration::from_millis(10), index, What::Sample);
            }
        }
    }

    fn drain(&mut self, index: usize) {
        let now = self.now;
        loop {
            let mut idle = true;
            self.connections[index].write_pieces(now);
            while let Some(burst) = self.connections[index].sender.poll_transmit(now) {
                idle = false;
                for packet in burst.packets() {
                    self.forward(index, &packet.segment);
                    let truesize = u64::from(packet.truesize);
                    self.connections[index].sender.handle_freed(now, truesize);
                }
            }
            while let Some(burst) = self.connections[index].receiver.poll_transmit(now) {
                idle = false;
                let at = now + self.path.delay;
                self.schedule(at, index, What::AtSender(burst.segment));
            }
            while let Some(event) = self.connections[index].sender.poll_event() {
                idle = false;
                if event == Event::Connected {
                    self.connections[index].established = Some(now);
                    self.schedule(now, index, What::Sample);
                }
                let connection = &mut self.connections[index];
                if connection.pause.is_none() && matches!(event, Event::Connected | Event::Writable) {
                    connection.sender.write(now, 1 << 30);
                }
            }
            while self.connections[index].receiver.poll_event().is_some() {}
            if idle {
                return;
            }
        }
    }

    /// Through the bottleneck.
    fn forward(&mut self, index: usize, segment: &Segment) {
        let now = self.now;
        let connection = &mut self.connections[index];
        let mut marked = false;
        if segment.length > 0 && segment.seq >= connection.highest {
            connection.highest = segment.end();
            if connection.lose.remove(&(segment.seq / u64::from(MSS))) {
                if !connection.marks {
                    connection.outcome.drops += 1;
                    return;
                }
                marked = true;
            }
        }
        while self.leaving.front().is_some_and(|at| *at <= now) {
            self.leaving.pop_front();
        }
        if self.leaving.len() > self.path.queue {
            connection.outcome.drops += 1;
            return;
        }
        let length = ByteSize::from_bytes(u64::from(segment.wire_length()));
        self.free = self.free.max(now) + self.path.rate.time_for(length).expect("the path has a rate");
        self.leaving.push_back(self.free);
        let at = self.free + self.path.delay;
        self.schedule(at, index, What::AtReceiver(*segment, marked));
    }
}
