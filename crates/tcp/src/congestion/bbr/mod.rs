//! BBR version 1: Cardwell, Cheng, Gunn, Yeganeh and Jacobson, "BBR: Congestion-Based Congestion
//! Control", 2016, with the integers of Linux's `tcp_bbr.c`.
//!
//! BBR tracks two values of the path. They are the maximum delivery rate of the last ten rounds and
//! the minimum round-trip time of the last ten seconds. It paces at a gain of the first and limits
//! the data in flight to a gain of their product. A loss reduces the window only for the round in
//! which it is detected (packet conservation).
//!
//! Not modelled: the long-term sampling that detects a policer, and departure times in the future
//! of packets in a paced burst (`bbr_packets_in_net_at_edt` with `edt` = now).

mod aggregation;
mod bandwidth;
mod filter;
mod volume;

use super::window::Window;
use super::{Ack, Established, State};
use aggregation::Aggregation;
use bandwidth::{Bandwidth, UNIT};
use filter::WindowedMax;
use netburn_units::{BitRate, Duration, Instant, RandomStream};
use std::cmp::Ordering;

/// 2/ln 2, the minimum gain that doubles the rate each round.
const STARTUP_GAIN: u64 = UNIT * 2_885 / 1_000 + 1;
/// Inverse of the startup gain: one round drains the queue of Startup.
const DRAIN_GAIN: u64 = UNIT * 1_000 / 2_885;
/// Gain of the window in ProbeBW: twice the product, for delayed or aggregated acknowledgements.
const CWND_GAIN: u64 = 2 * UNIT;
/// ProbeBW: a round of probing, a round of draining, six of cruising.
const CYCLE: [u64; 8] = [UNIT * 5 / 4, UNIT * 3 / 4, UNIT, UNIT, UNIT, UNIT, UNIT, UNIT];
/// The cycle starts in any phase except the draining one.
const CYCLE_RANDOM: u64 = 7;
const BANDWIDTH_ROUNDS: u64 = 10;
const MIN_RTT_WINDOW: Duration = Duration::from_secs(10);
const PROBE_RTT_TIME: Duration = Duration::from_millis(200);
/// Window in ProbeRTT, and minimum otherwise, in segments.
const MIN_CWND: u32 = 4;
/// The pipe is full if the bandwidth has not grown by a quarter for three rounds.
const FULL_GROWTH: u64 = UNIT * 5 / 4;
const FULL_ROUNDS: u32 = 3;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Mode {
    Startup,
    Drain,
    ProbeBandwidth,
    ProbeRtt,
}

/// BBR state of one connection.
#[derive(Debug, Clone)]
pub(super) struct Bbr {
    random: RandomStream,
    mss: u32,
    mode: Mode,
    bandwidth: WindowedMax,
    min_rtt: MinRtt,
    probe_rtt: ProbeRtt,
    round: Round,
    cycle: usize,
    cycle_began: Instant,
    pipe: FullPipe,
    pacing_gain: u64,
    cwnd_gain: u64,
    pacing_rate: BitRate,
    seen_rtt: bool,
    idle_restart: bool,
    conserving: bool,
    prior_state: State,
    prior_cwnd: u32,
    aggregation: Option<Aggregation>,
}

/// Minimum round-trip time, and when it was measured.
#[derive(Debug, Clone, Default)]
struct MinRtt {
    value: Option<Duration>,
    at: Instant,
}

/// The drain of the path that measures the minimum round-trip time.
#[derive(Debug, Clone, Default)]
struct ProbeRtt {
    /// Its earliest end; `None` until the path is drained.
    until: Option<Instant>,
    round_done: bool,
}

/// Rounds of the connection: a round ends when a segment sent in it is acknowledged.
#[derive(Debug, Clone, Default)]
struct Round {
    count: u64,
    /// True if this acknowledgement starts one.
    starts: bool,
    /// It ends when a segment sent after this many deliveries is acknowledged.
    ends: u64,
}

/// Detection of a full pipe: the bandwidth has not grown for some rounds.
#[derive(Debug, Clone, Default)]
struct FullPipe {
    bandwidth: Bandwidth,
    /// Rounds without growth.
    rounds: u32,
    reached: bool,
}

impl Bbr {
    pub(super) fn new(random: RandomStream) -> Self {
        Self {
            random,
            mss: 1_448,
            mode: Mode::Startup,
            bandwidth: WindowedMax::default(),
            min_rtt: MinRtt::default(),
            probe_rtt: ProbeRtt::default(),
            round: Round::default(),
            cycle: 0,
            cycle_began: Instant::ZERO,
            pipe: FullPipe::default(),
            pacing_gain: STARTUP_GAIN,
            cwnd_gain: STARTUP_GAIN,
            pacing_rate: BitRate::from_bps(0),
            seen_rtt: false,
            idle_restart: false,
            conserving: false,
            prior_state: State::Open,
            prior_cwnd: 0,
            aggregation: Some(Aggregation::new(Instant::ZERO)),
        }
    }

    /// Disables the aggregation estimate, as before Linux 5.1.
    pub(super) fn forget_aggregation(&mut self) {
        self.aggregation = None;
    }

    pub(super) fn on_established(&mut self, established: &Established, window: &Window) {
        self.mss = established.mss.max(1);
        self.min_rtt.value = established.srtt;
        self.min_rtt.at = established.now;
        self.cycle_began = established.now;
        if let Some(aggregation) = &mut self.aggregation {
            aggregation.restart(established.now);
        }
        self.start_pacing(window.cwnd(), established.srtt);
    }

    /// `bbr_main`.
    pub(super) fn on_ack(&mut self, window: &mut Window, ack: &Ack) {
        self.update_bandwidth(ack);
        self.update_aggregation(ack, window.cwnd());
        self.update_cycle(ack);
        self.update_full(ack);
        self.update_drain(window, ack);
        self.update_min_rtt(window, ack);
        self.update_gains();
        self.update_pacing(window, ack);
        self.update_cwnd(window, ack);
    }

    /// Start of a recovery: the window is saved for restoration (`bbr_ssthresh`).
    pub(super) fn on_congestion(&mut self, window: &Window) {
        self.save_cwnd(window.cwnd());
    }

    pub(super) fn on_rto(&mut self) {
        self.prior_state = State::Loss;
        self.pipe.bandwidth = Bandwidth::default();
        self.round.starts = true;
    }

    pub(super) fn on_undo(&mut self) {
        self.pipe.bandwidth = Bandwidth::default();
        self.pipe.rounds = 0;
    }

    /// Data are sent after an idle period: the rate need not grow again (`bbr_cwnd_event`).
    pub(super) fn on_idle_end(&mut self, window: &mut Window, now: Instant) {
        self.idle_restart = true;
        if let Some(aggregation) = &mut self.aggregation {
            aggregation.restart(now);
        }
        match self.mode {
            Mode::ProbeBandwidth => self.set_pacing(UNIT),
            Mode::ProbeRtt => self.end_probe_rtt(window, now),
            Mode::Startup | Mode::Drain => {}
        }
    }

    pub(super) fn pacing_rate(&self) -> BitRate {
        self.pacing_rate
    }

    pub(super) fn is_probing_rtt(&self) -> bool {
        self.mode == Mode::ProbeRtt
    }

    fn bandwidth(&self) -> Bandwidth {
        Bandwidth(self.bandwidth.get())
    }

    /// Counts rounds and tracks the maximum delivery rate (`bbr_update_bw`). An application-limited
    /// rate counts only if it is larger.
    fn update_bandwidth(&mut self, ack: &Ack) {
        self.round.starts = false;
        let (Some(interval), Some(prior)) = (ack.rate.interval, ack.rate.prior_delivered) else {
            return;
        };
        if prior >= self.round.ends {
            self.round.ends = ack.rate.total_delivered;
            self.round.count += 1;
            self.round.starts = true;
            self.conserving = false;
        }
        let sample = Bandwidth::new(ack.rate.delivered, interval);
        if !ack.rate.app_limited || sample >= self.bandwidth() {
            self.bandwidth.update(BANDWIDTH_ROUNDS, self.round.count, sample.0);
        }
    }

    fn update_aggregation(&mut self, ack: &Ack, cwnd: u32) {
        let bandwidth = self.bandwidth();
        if let Some(aggregation) = &mut self.aggregation
            && ack.acked > 0
            && ack.rate.interval.is_some()
        {
            aggregation.on_ack(ack.now, ack.acked, self.round.starts, bandwidth, cwnd);
        }
    }

    /// Advances the gain cycle (`bbr_update_cycle_phase`). A phase lasts a round trip. Probing
    /// continues until there was a loss, or until the gain's volume is in flight. Draining ends as
    /// soon as the queue is empty.
    fn update_cycle(&mut self, ack: &Ack) {
        if self.mode != Mode::ProbeBandwidth {
            return;
        }
        let elapsed = ack.now.checked_since(self.cycle_began).unwrap_or_default();
        let whole = self.min_rtt.value.is_some_and(|rtt| elapsed > rtt);
        let gain = self.pacing_gain;
        let due = match gain.cmp(&UNIT) {
            Ordering::Equal => whole,
            Ordering::Greater => {
                let in_flight = u64::from(ack.prior_in_flight) + self.burst_goal();
                whole && (ack.lost > 0 || in_flight >= self.target(gain))
            }
            Ordering::Less => whole || u64::from(ack.prior_in_flight) <= self.target(UNIT),
        };
        if due {
            self.advance_cycle(ack.now);
        }
    }

    fn advance_cycle(&mut self, now: Instant) {
        self.cycle = (self.cycle + 1) % CYCLE.len();
        self.cycle_began = now;
    }

    /// Detects a full pipe (`bbr_check_full_bw_reached`).
    fn update_full(&mut self, ack: &Ack) {
        if self.pipe.reached || !self.round.starts || ack.rate.app_limited {
            return;
        }
        let bandwidth = self.bandwidth();
        if bandwidth >= self.pipe.bandwidth.times(FULL_GROWTH) {
            self.pipe.bandwidth = bandwidth;
            self.pipe.rounds = 0;
            return;
        }
        self.pipe.rounds += 1;
        self.pipe.reached = self.pipe.rounds >= FULL_ROUNDS;
    }

    fn update_drain(&mut self, window: &mut Window, ack: &Ack) {
        if self.mode == Mode::Startup && self.pipe.reached {
            self.mode = Mode::Drain;
            window.set_ssthresh(narrow(self.target(UNIT)));
        }
        if self.mode == Mode::Drain && u64::from(ack.in_flight) <= self.target(UNIT) {
            self.begin_probe_bandwidth(ack.now);
        }
    }

    fn begin_probe_bandwidth(&mut self, now: Instant) {
        self.mode = Mode::ProbeBandwidth;
        self.cycle = CYCLE.len() - 1 - self.random.below(CYCLE_RANDOM) as usize;
        self.advance_cycle(now);
    }

    /// Tracks the minimum round-trip time. If none as short was measured for ten seconds, drains
    /// the path for 200 ms and a round to measure it (`bbr_update_min_rtt`).
    fn update_min_rtt(&mut self, window: &mut Window, ack: &Ack) {
        let expired = ack.now > self.min_rtt.at + MIN_RTT_WINDOW;
        if let Some(rtt) = ack.rtt
            && (self.min_rtt.value.is_none_or(|least| rtt < least) || (expired && !ack.maybe_delayed))
        {
            self.min_rtt.value = Some(rtt);
            self.min_rtt.at = ack.now;
        }
        if expired && !self.idle_restart && self.mode != Mode::ProbeRtt {
            self.save_cwnd(window.cwnd());
            self.mode = Mode::ProbeRtt;
            self.probe_rtt.until = None;
        }
        if self.mode == Mode::ProbeRtt {
            if self.probe_rtt.until.is_some() {
                self.probe_rtt.round_done |= self.round.starts;
                if self.probe_rtt.round_done {
                    self.end_probe_rtt(window, ack.now);
                }
            } else if ack.in_flight <= MIN_CWND {
                self.probe_rtt.until = Some(ack.now + PROBE_RTT_TIME);
                self.probe_rtt.round_done = false;
                self.round.ends = ack.rate.total_delivered;
            }
        }
        if ack.acked > 0 {
            self.idle_restart = false;
        }
    }

    /// Restores the window at the end of ProbeRTT (`bbr_check_probe_rtt_done`).
    fn end_probe_rtt(&mut self, window: &mut Window, now: Instant) {
        if self.probe_rtt.until.is_none_or(|until| now <= until) {
            return;
        }
        self.min_rtt.at = now;
        window.set_cwnd(window.cwnd().max(self.prior_cwnd));
        if self.pipe.reached {
            self.begin_probe_bandwidth(now);
        } else {
            self.mode = Mode::Startup;
        }
    }

    fn update_gains(&mut self) {
        (self.pacing_gain, self.cwnd_gain) = match self.mode {
            Mode::Startup => (STARTUP_GAIN, STARTUP_GAIN),
            Mode::Drain => (DRAIN_GAIN, STARTUP_GAIN),
            Mode::ProbeBandwidth => (CYCLE[self.cycle], CWND_GAIN),
            Mode::ProbeRtt => (UNIT, UNIT),
        };
    }

    /// Updates the pacing rate, which only increases until the pipe is full
    /// (`bbr_set_pacing_rate`).
    fn update_pacing(&mut self, window: &Window, ack: &Ack) {
        if !self.seen_rtt && ack.srtt.is_some() {
            self.start_pacing(window.cwnd(), ack.srtt);
        }
        self.set_pacing(self.pacing_gain);
    }

    fn set_pacing(&mut self, gain: u64) {
        let rate = self.bandwidth().pacing(self.mss, gain);
        if self.pipe.reached || rate > self.pacing_rate {
            self.pacing_rate = rate;
        }
    }

    /// Initial rate: the initial window over the round-trip time, or over 1 ms before there is one
    /// (`bbr_init_pacing_rate_from_rtt`).
    fn start_pacing(&mut self, cwnd: u32, srtt: Option<Duration>) {
        self.seen_rtt = srtt.is_some();
        let rtt = srtt.unwrap_or(Duration::from_millis(1));
        self.pacing_rate = Bandwidth::new(cwnd, rtt).pacing(self.mss, STARTUP_GAIN);
    }
}

fn narrow(value: u64) -> u32 {
    u32::try_from(value).unwrap_or(u32::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::congestion::RateSample;
    use netburn_units::Seed;

    /// A connection with a round-trip time of 10 ms.
    struct Path {
        bbr: Bbr,
        window: Window,
        now: Instant,
        delivered: u64,
        in_flight: u32,
    }

    impl Path {
        fn new() -> Self {
            let mut bbr = Bbr::new(Seed(1).stream("bbr", 0));
            let window = Window::new(10);
            let established = Established {
                now: Instant::ZERO,
                mss: 1_448,
                next: 0,
                srtt: Some(Duration::from_millis(10)),
                paced: true,
            };
            bbr.on_established(&established, &window);
            Self {
                bbr,
                window,
                now: Instant::ZERO,
                delivered: 0,
                in_flight: 1_000,
            }
        }

        /// A round in which `segments` are delivered. Returns true if the full pipe was detected.
        fn round(&mut self, segments: u32, app_limited: bool) -> bool {
            let (span, prior) = (Duration::from_millis(10), self.delivered);
            self.now += span;
            self.delivered += u64::from(segments);
            let ack = Ack {
                now: self.now,
                acked: segments,
                in_flight: self.in_flight,
                prior_in_flight: self.in_flight,
                rtt: Some(span),
                srtt: Some(span),
                min_rtt: Some(span),
                rate: RateSample {
                    delivered: segments,
                    interval: Some(span),
                    prior_delivered: Some(prior),
                    total_delivered: self.delivered,
                    app_limited,
                },
                ..Ack::default()
            };
            self.bbr.on_ack(&mut self.window, &ack);
            self.bbr.pipe.reached
        }

        /// Pacing rate relative to that of 100 segments per round.
        fn pace(&self) -> f64 {
            self.bbr.pacing_rate().as_mbps_f64() / (100.0 * 1_448.0 * 8.0 / 10_000.0)
        }
    }

    /// `bbr_check_full_bw_reached`: three rounds in which the bandwidth did not grow by a quarter;
    /// a quarter is enough, less is not. Application-limited rounds don't count.
    #[test]
    fn the_pipe_is_full_after_three_rounds_without_growth() {
        for (rounds, full_after) in [
            (vec![100, 125, 125, 125, 125], 5),
            (vec![100, 124, 124, 124], 4),
            (vec![100, 110, 121, 124], 4),
            (vec![100, 100, 100, 125, 100, 100, 100], 7),
        ] {
            let mut path = Path::new();
            let found = (1..).zip(&rounds).find(|(_, segments)| path.round(**segments, false));
            assert_eq!(found.map(|(round, _)| round), Some(full_after), "{rounds:?}");
        }
        let mut path = Path::new();
        path.round(100, false);
        assert!(!(0..20).any(|_| path.round(50, true)));
    }

    /// `bbr_undo_cwnd`: a spurious reduction may be the reason why the bandwidth did not grow, so
    /// the counter of rounds restarts.
    #[test]
    fn an_undo_restarts_the_round_counter() {
        let mut path = Path::new();
        assert!(
            !(0..3).any(|_| path.round(100, false)),
            "a first and two without growth"
        );
        path.bbr.on_undo();
        assert!(!(0..3).any(|_| path.round(100, false)));
        assert!(path.round(100, false));
    }

    /// Startup paces at 2.885 times the bandwidth, minus 1 %, and never slows down. Drain paces at
    /// the inverse (88/256 in the kernel's integers), until the data in flight fit the path. Then
    /// ProbeBW paces between 3/4 and 5/4.
    #[test]
    fn gains_of_startup_drain_and_probing() {
        let near = |pace: f64, gain: f64| assert!((pace / (0.99 * gain) - 1.0).abs() < 0.005, "{pace} of {gain}");
        let mut path = Path::new();
        path.round(50, false);
        near(path.pace(), 0.5 * 2.885);
        path.round(100, false);
        near(path.pace(), 2.885);
        path.round(20, true);
        near(path.pace(), 2.885);
        while !path.round(100, false) {
            near(path.pace(), 2.885);
        }
        near(path.pace(), 88.0 / 256.0);
        path.round(100, false);
        near(path.pace(), 88.0 / 256.0);
        // The path holds 100 segments, plus bursts.
        path.in_flight = 100;
        path.round(100, false);
        // A probe continues until 5/4 of that is in flight. Then follow a round of draining and six
        // of cruising.
        let quarters = |path: &mut Path| {
            path.round(100, false);
            (path.pace() / 0.99 * 4.0).round() as u32
        };
        while quarters(&mut path) != 5 {}
        assert!((0..20).all(|_| quarters(&mut path) == 5));
        path.in_flight = 200;
        // A phase lasts more than a round trip: here two rounds.
        let seen: Vec<u32> = (0..17).map(|_| quarters(&mut path)).collect();
        let phases = [[3; 2], [4; 2], [4; 2], [4; 2], [4; 2], [4; 2], [4; 2], [5; 2]];
        assert_eq!(seen[..16], phases.concat());
        assert_eq!(seen[16], 3);
    }
}
