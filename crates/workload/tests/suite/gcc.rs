//! Congestion control of a sender on a modelled bottleneck.

use netburn_units::{BitRate, ByteSize, Duration, Instant};
use netburn_workload::kinds::video_call::gcc::{Gcc, GccConfig, PacketReport, Signal};
use proptest::prelude::*;

const CONFIG: GccConfig = GccConfig {
    start: BitRate::from_bps(300_000),
    min: BitRate::from_bps(50_000),
    max: BitRate::from_bps(2_500_000),
};
/// One-way delay of both directions.
const DELAY: Duration = Duration::from_millis(25);
/// Time between two frames, and between two feedbacks.
const FRAME: Duration = Duration::from_millis(33);
const FEEDBACK: Duration = Duration::from_millis(100);

/// A sender of frames behind a bottleneck with an unlimited queue.
struct Path {
    gcc: Gcc,
    /// Rate of the bottleneck.
    capacity: BitRate,
    /// Of this number of packets one is lost; 0: none.
    lose: u64,
    now: Instant,
    free: Instant,
    sent: u64,
    pending: Vec<PacketReport>,
    next_feedback: Instant,
    longest_queue: Duration,
    rates: Vec<f64>,
}

impl Path {
    fn new(capacity: BitRate) -> Self {
        Path {
            gcc: Gcc::new(CONFIG),
            capacity,
            lose: 0,
            now: Instant::ZERO,
            free: Instant::ZERO,
            sent: 0,
            pending: Vec::new(),
            next_feedback: Instant::ZERO + FEEDBACK,
            longest_queue: Duration::ZERO,
            rates: Vec::new(),
        }
    }

    /// Sends frames for a time. The packets of a frame are paced at 2.5 times the rate.
    fn run(&mut self, span: Duration) {
        let end = self.now + span;
        while self.now < end {
            let rate = self.gcc.rate();
            let frame = rate.as_bps() * FRAME.as_nanos() / 8_000_000_000;
            let packets = frame.div_ceil(1200).max(1);
            let size = ByteSize::from_bytes(frame.div_ceil(packets));
            for packet in 0..packets {
                let sent = self.now + FRAME / 5 * 2 / packets * packet;
                self.send(sent, size);
            }
            self.now += FRAME;
            while self.next_feedback + DELAY <= self.now {
                self.feedback();
            }
            self.rates.push(self.gcc.rate().as_mbps_f64());
        }
    }

    fn send(&mut self, sent: Instant, size: ByteSize) {
        self.sent += 1;
        let is_lost = self.lose > 0 && self.sent.is_multiple_of(self.lose);
        let begin = self.free.max(sent);
        self.longest_queue = self.longest_queue.max(begin.since(sent));
        self.free = begin + self.capacity.time_for(size).unwrap();
        self.pending.push(PacketReport {
            sent,
            arrived: (!is_lost).then_some(self.free + DELAY),
            size,
        });
    }

    /// The receiver reports all packets that have arrived, and the lost ones before them.
    fn feedback(&mut self) {
        let until = self.next_feedback;
        self.next_feedback += FEEDBACK;
        let arrived = |packet: &PacketReport| packet.arrived.is_some_and(|at| at <= until);
        let Some(last) = self.pending.iter().rposition(arrived) else {
            return;
        };
        let reported: Vec<PacketReport> = self.pending.drain(..=last).collect();
        let round_trip = until.since(reported[last].arrived.unwrap()) + DELAY + DELAY;
        self.gcc.handle_feedback(until + DELAY, round_trip, &reported);
    }

    /// Mean rate of the last frames in Mbit/s.
    fn mean(&self, frames: usize) -> f64 {
        let last = &self.rates[self.rates.len() - frames..];
        last.iter().sum::<f64>() / frames as f64
    }
}

/// Below the capacity there is no queue: the rate rises by 8 % per second. From 300 kbit/s it needs
/// ln(2500 / 300) / ln(1.08) = 27.5 s to the maximum.
#[test]
fn without_a_bottleneck_the_rate_rises_to_the_maximum() {
    let mut path = Path::new(BitRate::from_mbps(100));
    path.run(Duration::from_secs(20));
    let middle = path.gcc.rate().as_mbps_f64();
    assert!((1.0..2.0).contains(&middle), "{middle}");
    path.run(Duration::from_secs(20));
    assert_eq!(path.gcc.rate(), CONFIG.max);
    assert!(
        path.rates.windows(2).all(|pair| pair[1] >= pair[0]),
        "the rate does not fall"
    );
    assert_eq!(path.gcc.signal(), Signal::Normal);
}

/// At a bottleneck of 1 Mbit/s the controller decreases the rate to 85 % of what arrives when the queue begins to grow, and
/// then raises it slowly. The mean is in between. The queue is short: Chromium 156 has at most 100 ms at 1.5 Mbit/s.
#[test]
fn a_bottleneck_limits_the_rate_without_a_long_queue() {
    let mut path = Path::new(BitRate::from_mbps(1));
    path.run(Duration::from_secs(20));
    path.longest_queue = Duration::ZERO;
    path.run(Duration::from_secs(100));
    let mean = path.mean(3_000);
    assert!((0.85..=1.0).contains(&mean), "{mean}");
    assert!(
        path.longest_queue < Duration::from_millis(100),
        "{}",
        path.longest_queue
    );
}

/// The capacity falls from 2 Mbit/s to 0.5 Mbit/s: the rate follows.
#[test]
fn the_rate_follows_a_lower_capacity() {
    let mut path = Path::new(BitRate::from_mbps(2));
    path.run(Duration::from_secs(60));
    let before = path.mean(300);
    assert!(before > 1.0, "{before}");
    path.capacity = BitRate::from_bps(500_000);
    path.run(Duration::from_secs(30));
    let after = path.mean(300);
    assert!((0.4..=0.5).contains(&after), "{after}");
}

/// One of five packets is lost: 20 %. The loss-based rate falls by 10 % every 200 ms or more, to the minimum. With one of a
/// hundred, 1 %, the rate rises to the maximum.
#[test]
fn loss_above_10_percent_lowers_the_rate() {
    let mut path = Path::new(BitRate::from_mbps(100));
    path.lose = 5;
    path.run(Duration::from_secs(20));
    assert_eq!(path.gcc.rate(), CONFIG.min);
    path.lose = 100;
    path.run(Duration::from_secs(60));
    assert_eq!(path.gcc.rate(), CONFIG.max);
}

/// Packets every 20 ms whose delay grows by 10 ms each are over-use. After 2 s without feedback these delays do not count.
#[test]
fn delays_before_a_pause_do_not_count() {
    for (pause, expected) in [(2_000, Signal::OverUse), (2_001, Signal::Normal)] {
        let mut gcc = Gcc::new(CONFIG);
        let report = |number: i64| PacketReport {
            sent: Instant::from_millis(number * 20),
            arrived: Some(Instant::from_millis(number * 30)),
            size: ByteSize::from_bytes(1_000),
        };
        for number in 0..100 {
            gcc.handle_feedback(Instant::from_millis(number * 30), DELAY, &[report(number)]);
        }
        assert_eq!(gcc.signal(), Signal::OverUse);
        // A packet of the last group is no new delay.
        gcc.handle_feedback(Instant::from_millis(99 * 30 + pause), DELAY, &[report(99)]);
        assert_eq!(gcc.signal(), expected);
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(128))]

    /// The rate is in its range for every feedback, and the same feedback gives the same rate.
    #[test]
    fn the_rate_is_in_its_range(
        packets in prop::collection::vec((0_i64..50_000, prop::option::of(0_i64..5_000_000), 1_u64..1500), 0..400),
        each in 1_usize..40,
        trip in 0_u64..3_000,
    ) {
        let mut rates = Vec::new();
        for _ in 0..2 {
            let mut gcc = Gcc::new(CONFIG);
            let mut sent = Instant::ZERO;
            let mut found = Vec::new();
            let mut reports = Vec::new();
            for (gap, arrival, size) in &packets {
                sent += Duration::from_micros(*gap as u64);
                let arrived = arrival.map(|after| sent + Duration::from_micros(after as u64));
                reports.push(PacketReport { sent, arrived, size: ByteSize::from_bytes(*size) });
            }
            for (number, chunk) in (1..).zip(reports.chunks(each)) {
                gcc.handle_feedback(Instant::from_millis(number * 50), Duration::from_millis(trip), chunk);
                prop_assert!(gcc.rate() >= CONFIG.min && gcc.rate() <= CONFIG.max);
                found.push(gcc.rate());
            }
            rates.push(found);
        }
        prop_assert_eq!(&rates[0], &rates[1]);
    }
}
