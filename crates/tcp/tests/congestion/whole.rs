//! The same path as `path`, between whole endpoints: handshake, SACK, RACK, PRR, bursts, small queues, socket buffers.

use crate::path::{Flow, MSS, Outcome, Path, Point};
use netburn_tcp::config::{Buffer, EndpointConfig};
use netburn_tcp::{Endpoint, Event, Segment};
use netburn_units::{ByteSize, Duration, Instant};
use std::collections::{BTreeMap, BTreeSet, VecDeque};

/// Runs `flow` over `path` until `end` after its connection was established. The application writes as fast as it may.
pub(crate) fn run(path: Path, flow: &Flow, end: Duration) -> Outcome {
    // What the recording machine was told: 4 MB of buffers, 32 MB at most.
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
        ..EndpointConfig::default()
    };
    let now = flow.start;
    let mut world = World {
        path,
        now,
        events: BTreeMap::new(),
        sequence: 0,
        leaving: VecDeque::new(),
        free: now,
        sender: Endpoint::connect(&config, now).expect("it can be modelled"),
        receiver: Endpoint::listen(&config, now).expect("it can be modelled"),
        lose: flow.lost.iter().copied().collect(),
        highest: 0,
        established: None,
        outcome: Outcome {
            curve: Vec::new(),
            drops: 0,
            reductions: Vec::new(),
        },
    };
    world.drain();
    loop {
        let timers = [world.sender.poll_timeout(), world.receiver.poll_timeout()];
        let timer = timers.iter().flatten().map(|(at, _)| *at).min();
        let event = world.events.first_key_value().map(|((at, _), _)| *at);
        let at = [timer, event].into_iter().flatten().min().expect("something is due");
        world.now = at;
        if world.established.is_some_and(|begun| at > begun + end) {
            return world.outcome;
        }
        if event == Some(at) {
            let (_, event) = world.events.pop_first().expect("it is there");
            world.handle(&event);
        } else {
            world.sender.handle_timeout(at);
            world.receiver.handle_timeout(at);
        }
        world.drain();
    }
}

#[derive(Debug)]
enum Arrival {
    AtReceiver(Segment),
    AtSender(Segment),
    Sample,
}

struct World {
    path: Path,
    now: Instant,
    events: BTreeMap<(Instant, u64), Arrival>,
    sequence: u64,
    leaving: VecDeque<Instant>,
    free: Instant,
    sender: Endpoint,
    receiver: Endpoint,
    lose: BTreeSet<u64>,
    highest: u64,
    established: Option<Instant>,
    outcome: Outcome,
}

impl World {
    fn schedule(&mut self, at: Instant, event: Arrival) {
        self.events.insert((at, self.sequence), event);
        self.sequence += 1;
    }

    fn handle(&mut self, event: &Arrival) {
        match event {
            Arrival::AtReceiver(segment) => self.receiver.handle_segment(self.now, segment, false),
            Arrival::AtSender(segment) => self.sender.handle_segment(self.now, segment, false),
            Arrival::Sample => {
                let info = self.sender.info();
                let begun = self.established.expect("samples begin with the connection");
                self.outcome.curve.push(Point {
                    at: Instant::ZERO + self.now.since(begun),
                    cwnd: info.cwnd,
                    ssthresh: info.ssthresh,
                    in_flight: info.in_flight,
                    state: info.state,
                    pacing_rate: info.pacing_rate,
                    delivered: info.acknowledged / u64::from(MSS),
                });
                self.schedule(self.now + Duration::from_millis(10), Arrival::Sample);
            }
        }
    }

    fn drain(&mut self) {
        let now = self.now;
        loop {
            let mut idle = true;
            while let Some(burst) = self.sender.poll_transmit(now) {
                idle = false;
                for packet in burst.packets() {
                    self.forward(&packet.segment);
                    self.sender.handle_freed(now, u64::from(packet.truesize));
                }
            }
            while let Some(burst) = self.receiver.poll_transmit(now) {
                idle = false;
                let at = now + self.path.delay;
                self.schedule(at, Arrival::AtSender(burst.segment));
            }
            while let Some(event) = self.sender.poll_event() {
                idle = false;
                if event == Event::Connected {
                    self.established = Some(now);
                    self.schedule(now, Arrival::Sample);
                }
                if matches!(event, Event::Connected | Event::Writable) {
                    self.sender.write(now, 1 << 30);
                }
            }
            while self.receiver.poll_event().is_some() {}
            if idle {
                return;
            }
        }
    }

    /// Through the bottleneck.
    fn forward(&mut self, segment: &Segment) {
        let now = self.now;
        if segment.length > 0 && segment.seq >= self.highest {
            self.highest = segment.end();
            if self.lose.remove(&(segment.seq / u64::from(MSS))) {
                self.outcome.drops += 1;
                return;
            }
        }
        while self.leaving.front().is_some_and(|at| *at <= now) {
            self.leaving.pop_front();
        }
        if self.leaving.len() > self.path.queue {
            self.outcome.drops += 1;
            return;
        }
        let length = ByteSize::from_bytes(u64::from(segment.wire_length()));
        self.free = self.free.max(now) + self.path.rate.time_for(length).expect("the path has a rate");
        self.leaving.push_back(self.free);
        let at = self.free + self.path.delay;
        self.schedule(at, Arrival::AtReceiver(*segment));
    }
}
