//! Operations on two endpoints and the path between them, decoded from bytes, and the laws that
//! must hold for all of them.

use crate::config::{Buffer, CongestionControl, Gso, Tsq, TsqPreset, TsqSettings};
use crate::segment::{Flags, Packet, Range, SackBlocks, Segment};
use crate::{Endpoint, EndpointConfig, Event};
use netburn_units::{ByteSize, Duration, Instant};
use std::collections::VecDeque;

/// Runs the operations and checks the laws. Received bytes were written, and arrive in order and
/// once. Acknowledged bytes were received; neither exceeds the written ones. Windows and counters
/// stay within their bounds. Handling a timeout at its time makes progress. Without forged segments
/// and aborts, everything arrives in the end.
///
/// # Panics
/// If a law is violated.
pub fn check(bytes: &[u8]) {
    let mut bytes = Bytes(bytes);
    let configs = [config(&mut bytes), config(&mut bytes)];
    let now = Instant::ZERO;
    let endpoints = [Endpoint::connect(&configs[0], now), Endpoint::listen(&configs[1], now)];
    let mut world = World {
        now,
        ends: endpoints.map(|end| end.expect("the controls below are modelled")),
        ways: Default::default(),
        held: Default::default(),
        written: [0; 2],
        received: [0; 2],
        acknowledged: [0; 2],
        over: [false; 2],
        failed: false,
        forged: false,
        refuse: [0; 2],
    };
    world.drain(0);
    while !bytes.0.is_empty() {
        world.operate(&mut bytes);
    }
    world.finish();
}

struct Bytes<'a>(&'a [u8]);

impl Bytes<'_> {
    /// Next byte; zeros after the end.
    fn byte(&mut self) -> u8 {
        let Some((first, rest)) = self.0.split_first() else {
            return 0;
        };
        self.0 = rest;
        *first
    }

    fn below(&mut self, bound: usize) -> usize {
        usize::from(self.byte()) % bound
    }

    fn choose<T: Clone>(&mut self, choices: &[T]) -> T {
        choices[self.below(choices.len())].clone()
    }
}

fn config(bytes: &mut Bytes<'_>) -> EndpointConfig {
    let buffer = |kib: u64| Buffer {
        initial: ByteSize::from_kib(kib),
        max: ByteSize::from_kib(kib * 16),
    };
    let custom = TsqSettings {
        shift: Some(7),
        minimum: ByteSize::from_kib(16),
        ..TsqSettings::default()
    };
    EndpointConfig {
        mss: bytes.choose(&[1_448, 536, 88, 9_000]),
        congestion: bytes.choose(&[
            CongestionControl::Reno,
            CongestionControl::Cubic,
            CongestionControl::Bbr,
        ]),
        tsq: bytes.choose(&[
            Tsq::default(),
            Tsq::Off,
            Tsq::Preset(TsqPreset::Y2012),
            Tsq::Preset(TsqPreset::Y2013),
            Tsq::Custom(custom),
        ]),
        gso: bytes.choose(&[Gso::default(), Gso::off()]),
        paced: bytes.choose(&[false, true]),
        ecn: bytes.choose(&[false, true]),
        initial_window: bytes.choose(&[10, 1, 40]),
        slow_start_after_idle: bytes.choose(&[true, false]),
        send_buffer: buffer(bytes.choose(&[16, 4, 256])),
        receive_buffer: buffer(bytes.choose(&[128, 4, 1_024])),
        random: u64::from(bytes.byte()),
        ack_aggregation: true,
    }
}

struct World {
    now: Instant,
    ends: [Endpoint; 2],
    /// Segments of each side in flight, and true if they are ECN-capable.
    ways: [VecDeque<(Segment, bool)>; 2],
    /// Bytes of truesize that the host of each side holds.
    held: [VecDeque<u32>; 2],
    written: [u64; 2],
    received: [u64; 2],
    acknowledged: [u64; 2],
    over: [bool; 2],
    failed: bool,
    forged: bool,
    /// Packets that the host will reject.
    refuse: [u32; 2],
}

impl World {
    fn operate(&mut self, bytes: &mut Bytes<'_>) {
        let operation = bytes.below(16);
        let side = bytes.below(2);
        match operation {
            0 => {
                let wanted = bytes.choose(&[1, 100, 1_448, 10_000, 200_000, 5_000_000]);
                if self.over[side] {
                    return;
                }
                let taken = self.ends[side].write(self.now, wanted);
                assert!(taken <= wanted);
                self.written[side] += taken;
                self.drain(side);
            }
            1..=4 => {
                for _ in 0..=bytes.below(32) {
                    self.deliver(side, 0, false);
                }
            }
            5 => {
                let place = bytes.below(16);
                self.deliver(side, place, true);
            }
            6 => {
                let place = bytes.below(16);
                self.ways[side].remove(place);
            }
            7 => {
                let place = bytes.below(16);
                let copy = self.ways[side].get(place).copied();
                self.ways[side].extend(copy);
            }
            8..=10 => {
                for _ in 0..=bytes.below(8) {
                    self.wake();
                }
            }
            11 => {
                let span = bytes.choose(&[1, 100, 1_000, 20_000, 300_000, 5_000_000]);
                let end = self.now + Duration::from_micros(span);
                for _ in 0..1_000 {
                    if self.next().is_none_or(|at| at > end) {
                        break;
                    }
                    self.wake();
                }
                self.now = self.now.max(end);
            }
            12 => self.let_go(side, 1 + bytes.below(64)),
            13 => self.refuse[side] = bytes.below(8) as u32,
            14 => match bytes.below(8) {
                0 => {
                    self.ends[side].abort(self.now);
                    self.failed = true;
                    self.drain(side);
                }
                1..=3 => {
                    self.over[side] = true;
                    self.ends[side].finish(self.now);
                    self.drain(side);
                }
                _ => {
                    self.forged = true;
                    let segment = self.forge(side, bytes);
                    self.ends[side].handle_segment(self.now, &segment, bytes.byte() & 1 == 1);
                    self.drain(side);
                }
            },
            _ => {
                self.let_go(side, usize::MAX);
                let count = self.ways[side].len();
                for _ in 0..count {
                    self.deliver(side, 0, false);
                }
            }
        }
    }

    /// A forged segment, similar enough to an expected one to be accepted.
    fn forge(&self, side: usize, bytes: &mut Bytes<'_>) -> Segment {
        let near = |at: u64, byte: u8| at.saturating_add_signed((i64::from(byte) - 128) * 181);
        let far = [0, 1, u64::MAX, u64::MAX - 1, 1 << 40];
        let sent = self.written[side];
        let expected = self.received[side];
        let mut offset = |at: u64| {
            if bytes.below(8) == 0 {
                bytes.choose(&far)
            } else {
                near(at, bytes.byte())
            }
        };
        let (seq, ack) = (offset(expected), offset(sent));
        let mut sack = SackBlocks::default();
        for _ in 0..2 {
            let (one, other) = (offset(sent), offset(sent));
            sack.push(Range {
                start: one.min(other),
                end: one.max(other),
            });
        }
        let window = offset(100_000);
        Segment {
            flags: Flags::from_bits(bytes.byte()),
            seq,
            length: bytes.choose(&[0, 0, 1, 1_448, 65_000, u32::MAX]),
            ack,
            window,
            sack: bytes.choose(&[SackBlocks::default(), sack]),
            timestamp: i64::from(bytes.byte()) * 1_000 - 3_000,
            echo: bytes.choose(&[0, i64::MIN, i64::MAX, 5]),
            mss: bytes.choose(&[0, 1_448, u32::MAX]),
        }
    }

    fn deliver(&mut self, from: usize, place: usize, marked: bool) {
        let Some((segment, ect)) = self.ways[from].remove(place) else {
            return;
        };
        self.ends[1 - from].handle_segment(self.now, &segment, marked && ect);
        self.drain(1 - from);
    }

    fn let_go(&mut self, side: usize, most: usize) {
        let count = self.held[side].len().min(most);
        let truesize = self.held[side].drain(..count).map(u64::from).sum();
        // A timer that is overdue permits transmissions as well.
        let overdue = self.ends[side].poll_timeout().is_some_and(|(at, _)| at <= self.now);
        let wakes = self.ends[side].handle_freed(self.now, truesize);
        let before = self.ends[side].info();
        let sent = self.drain(side);
        assert!(
            wakes || overdue || sent == 0,
            "a freed packet let {sent} bursts be sent, unannounced"
        );
        // Then the poll had no effect, so that a host may omit it.
        assert!(wakes || overdue || format!("{:?}", self.ends[side].info()) == format!("{before:?}"));
    }

    fn next(&self) -> Option<Instant> {
        self.ends
            .iter()
            .filter_map(|end| end.poll_timeout().map(|(at, _)| at))
            .min()
    }

    /// Advances to the next timeout, which must make progress.
    fn wake(&mut self) {
        let Some(at) = self.next() else { return };
        self.now = self.now.max(at);
        for side in 0..2 {
            let Some((due, timer)) = self.ends[side].poll_timeout() else {
                continue;
            };
            if due > self.now {
                continue;
            }
            self.ends[side].handle_timeout(self.now);
            let sent = self.drain(side);
            let later = self.ends[side].poll_timeout();
            assert!(
                sent > 0 || later.is_none_or(|(again, _)| again > due),
                "{timer:?} at {due:?} led nowhere: {later:?}"
            );
        }
    }

    fn drain(&mut self, side: usize) -> usize {
        let mut sent = 0;
        while let Some(transmit) = self.ends[side].poll_transmit(self.now) {
            sent += 1;
            assert!(sent < 100_000, "transmits without end");
            assert!(transmit.packets > 0);
            let whole: u64 = transmit.packets().map(|packet| u64::from(packet.segment.length)).sum();
            assert_eq!(whole, u64::from(transmit.segment.length));
            for packet in transmit.packets() {
                assert!(packet.segment.length <= transmit.mss);
                self.take(side, &packet, transmit.ect);
            }
        }
        self.hear(side);
        sent
    }

    fn take(&mut self, side: usize, packet: &Packet, ect: bool) {
        if self.refuse[side] > 0 && packet.segment.is_data() {
            self.refuse[side] -= 1;
            self.ends[side].handle_dropped_locally(self.now, packet);
            return;
        }
        if packet.truesize > 0 {
            self.held[side].push_back(packet.truesize);
        }
        self.ways[side].push_back((packet.segment, ect));
    }

    fn hear(&mut self, side: usize) {
        while let Some(event) = self.ends[side].poll_event() {
            match event {
                Event::Received(bytes) => {
                    assert!(bytes > self.received[side]);
                    self.received[side] = bytes;
                    assert!(self.forged || bytes <= self.written[1 - side], "more than was written");
                }
                Event::Acknowledged(bytes) => {
                    assert!(bytes > self.acknowledged[side]);
                    assert!(bytes <= self.written[side]);
                    self.acknowledged[side] = bytes;
                    assert!(
                        self.forged || bytes <= self.received[1 - side],
                        "acknowledged before it came"
                    );
                }
                Event::Failed(_) => self.failed = true,
                Event::Connected | Event::Writable | Event::Finished | Event::Closed => {}
            }
        }
        let info = self.ends[side].info();
        assert!(info.cwnd >= 1);
        assert!(info.acknowledged <= self.written[side]);
    }

    /// From here on everything arrives.
    fn finish(&mut self) {
        self.refuse = [0; 2];
        for side in 0..2 {
            self.over[side] = true;
            self.ends[side].finish(self.now);
            self.drain(side);
        }
        // BBR that was blocked for seconds recovers slowly, segment by segment.
        for _ in 0..100_000 {
            let mut idle = true;
            for side in 0..2 {
                self.let_go(side, usize::MAX);
                while !self.ways[side].is_empty() {
                    idle = false;
                    self.deliver(side, 0, false);
                }
            }
            if idle {
                if self.next().is_none() {
                    break;
                }
                self.wake();
            } else {
                // Round trips take time.
                self.now += Duration::from_millis(1);
            }
        }
        if self.forged || self.failed {
            return;
        }
        for side in 0..2 {
            assert_eq!(self.received[1 - side], self.written[side], "not everything arrived");
            assert_eq!(
                self.acknowledged[side], self.written[side],
                "not everything is acknowledged"
            );
            assert_eq!(self.ends[side].info().in_flight, 0);
        }
        assert_eq!(self.next(), None, "something is due though all is done");
    }
}
