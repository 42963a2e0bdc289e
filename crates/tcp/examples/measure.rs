//! Processor time per simulated data segment, sender and receiver together.
//!
//! `cargo run --release -p netburn-tcp --example measure`
//!
//! With the name of a congestion control, only that one. Two endpoints, 1 Gbit/s, 10 ms, a queue of
//! 1000 packets. The path between them is two ring buffers, whose cost is included.

use netburn_tcp::config::{CongestionControl, Gso};
use netburn_tcp::{Endpoint, EndpointConfig, Event, Segment};
use netburn_units::{Duration, Instant};
use std::collections::VecDeque;

const PACKET: Duration = Duration::from_micros(12);
const DELAY: Duration = Duration::from_millis(5);
const QUEUE: u64 = 1_000;

struct Path {
    now: Instant,
    ends: [Endpoint; 2],
    /// Data in flight; packets in the host, with their truesize; acknowledgements in flight.
    there: VecDeque<(Instant, Segment)>,
    leaving: VecDeque<(Instant, u32)>,
    back: VecDeque<(Instant, Segment)>,
    /// Time at which the link is free again.
    free: Instant,
    segments: u64,
    lose_every: u64,
}

impl Path {
    fn drain(&mut self, side: usize) {
        while let Some(transmit) = self.ends[side].poll_transmit(self.now) {
            if side == 1 {
                self.back.push_back((self.now + DELAY, transmit.segment));
                continue;
            }
            for packet in transmit.packets() {
                self.free = self.free.max(self.now);
                let waiting = self.free.since(self.now).as_nanos() / PACKET.as_nanos();
                self.segments += 1;
                let lost = self.lose_every > 0 && self.segments.is_multiple_of(self.lose_every);
                if waiting < QUEUE && !lost {
                    self.free += PACKET;
                    self.there.push_back((self.free + DELAY, packet.segment));
                }
                self.leaving.push_back((self.free, packet.truesize));
            }
        }
        while let Some(event) = self.ends[side].poll_event() {
            if side == 0 && matches!(event, Event::Connected | Event::Writable) {
                self.ends[0].write(self.now, 1 << 40);
                self.drain(0);
            }
        }
    }

    fn step(&mut self) {
        let timers = [0, 1].map(|side| self.ends[side].poll_timeout().map(|(at, _)| at));
        let queues = [
            self.there.front().map(|(at, _)| *at),
            self.back.front().map(|(at, _)| *at),
        ];
        let left = self.leaving.front().map(|(at, _)| *at);
        let next = timers
            .into_iter()
            .chain(queues)
            .chain([left])
            .flatten()
            .min()
            .expect("something is due");
        self.now = next.max(self.now);
        if left == Some(next) {
            if let Some((_, truesize)) = self.leaving.pop_front() {
                self.ends[0].handle_freed(self.now, u64::from(truesize));
                self.drain(0);
            }
        } else if queues[0] == Some(next) {
            if let Some((_, segment)) = self.there.pop_front() {
                self.ends[1].handle_segment(self.now, &segment, false);
                self.drain(1);
            }
        } else if queues[1] == Some(next) {
            if let Some((_, segment)) = self.back.pop_front() {
                self.ends[0].handle_segment(self.now, &segment, false);
                self.drain(0);
            }
        } else {
            for (side, timer) in timers.into_iter().enumerate() {
                if timer == Some(next) {
                    self.ends[side].handle_timeout(self.now);
                    self.drain(side);
                }
            }
        }
    }
}

fn main() {
    println!(
        "{:>6} {:>5} {:>10} {:>10} {:>9} {:>8}",
        "", "burst", "lost", "segments", "ns each", "repeated"
    );
    let only = std::env::args().nth(1);
    for congestion in [
        CongestionControl::Reno,
        CongestionControl::Cubic,
        CongestionControl::Bbr,
    ] {
        if only.as_ref().is_some_and(|only| only != congestion.name()) {
            continue;
        }
        for gso in [Gso::default(), Gso::off()] {
            for lose_every in [0, 1_000, 100] {
                run(&congestion, gso, lose_every);
            }
        }
    }
}

/// Processor time of this thread in nanoseconds, independent of other load; wall-clock time since
/// 1970 if the system doesn't provide it.
fn processor_time() -> u64 {
    let schedstat = std::fs::read_to_string("/proc/thread-self/schedstat").ok();
    let running = schedstat.and_then(|text| text.split_whitespace().next()?.parse().ok());
    running.unwrap_or_else(|| {
        let since = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
        since.map_or(0, |span| span.as_nanos() as u64)
    })
}

fn run(congestion: &CongestionControl, gso: Gso, lose_every: u64) {
    let config = EndpointConfig {
        congestion: congestion.clone(),
        gso,
        ..EndpointConfig::default()
    };
    let now = Instant::ZERO;
    let ends = [
        Endpoint::connect(&config, now).expect("modelled"),
        Endpoint::listen(&config, now).expect("modelled"),
    ];
    let mut path = Path {
        now,
        ends,
        there: VecDeque::new(),
        leaving: VecDeque::new(),
        back: VecDeque::new(),
        free: now,
        segments: 0,
        lose_every,
    };
    // The SYN passes the path as data does.
    path.drain(0);
    let began = processor_time();
    while path.segments < 1_000_000 && path.now < Instant::from_secs(200) {
        path.step();
    }
    let spent = (processor_time() - began) as f64 / path.segments as f64;
    let lost = if lose_every == 0 {
        "none".to_owned()
    } else {
        format!("1 of {lose_every}")
    };
    let repeated = path.ends[0].info().retransmits;
    let burst = if gso.enabled { "yes" } else { "no" };
    println!(
        "{:>6} {burst:>5} {lost:>10} {:>10} {spent:>9.0} {repeated:>8}",
        congestion.name(),
        path.segments
    );
}
