//! State machine of a responsiveness test.

use super::config::{Config, ConfigError};
use super::probe::{ProbeFailure, ProbeId, ProbeKind, ProbeTimes};
use super::probes::Probes;
use super::result::{End, Goodput, Scores, TestResult};
use super::schedule::{Schedule, idle_gap, loaded_gap};
use super::stage::{ConnectionId, Stage};
use crate::Direction;
use netburn_stats::rpm::{Confidence, MovingAverage, Stability};
use netburn_units::{BitRate, ByteSize, Duration, Instant, Seed, Stream};
use std::collections::VecDeque;

/// Command to the driver.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Action {
    /// Open a connection. With a direction, transfer load on it without end.
    Open {
        /// Identifies the connection.
        connection: ConnectionId,
        /// Direction of the load.
        load: Option<Direction>,
    },
    /// Close a connection when its probes have responses.
    Close(ConnectionId),
    /// Fetch the small object.
    Probe {
        /// Identifies the probe.
        probe: ProbeId,
        /// Connection of a self probe; `None` for a foreign probe, which opens a connection.
        on: Option<ConnectionId>,
    },
}

/// Next timeout.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Wake {
    /// Time.
    pub at: Instant,
    /// Reason.
    pub reason: Reason,
}

/// Reason of a timeout.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reason {
    /// The probes without load end.
    IdleEnd,
    /// An interval ends.
    Interval,
    /// Outstanding probes have timed out.
    ProbeTimeout,
    /// A probe is due.
    Probe,
}

/// Values of an interval that has ended, for display.
#[derive(Debug, Clone, PartialEq)]
pub struct Interval {
    /// Time from the start of the load to the end of the interval.
    pub since_start: Duration,
    /// Stage of the interval.
    pub stage: Stage,
    /// Goodput of each direction in the interval, with its present number of connections.
    pub goodput: Vec<Goodput>,
    /// Score of the draft over the last MAD intervals; `None` without probes.
    pub score: Option<f64>,
}

/// Load of one direction.
#[derive(Debug, Clone)]
struct Load {
    direction: Direction,
    /// Bytes of the present interval.
    bytes: u64,
    /// Bytes of the last MAD intervals.
    recent: VecDeque<u64>,
    average: MovingAverage,
    stability: Stability,
    connections: u32,
}

#[derive(Debug, Clone, Copy)]
struct Connection {
    load: Option<Direction>,
    open: bool,
}

/// A responsiveness test in one direction, or in both at the same time.
///
/// **After each call, drain [`poll_action`](Self::poll_action), then call
/// [`handle_timeout`](Self::handle_timeout) at [`poll_timeout`](Self::poll_timeout).** Times of calls do not decrease.
/// The test ends when [`is_finished`](Self::is_finished) returns true. [`result`](Self::result) is its result.
#[derive(Debug, Clone)]
pub struct Machine {
    config: Config,
    stage: Stage,
    /// Last stage before the end.
    reached: Stage,
    /// End of the idle probes; `None` while their connection is opened.
    idle_end: Option<Instant>,
    load_start: Instant,
    /// End of the present interval.
    interval_end: Instant,
    /// Intervals of the goodput stage and of the responsiveness stage.
    stage_intervals: [usize; 2],
    loads: Vec<Load>,
    connections: Vec<Connection>,
    choice: Stream,
    schedule: Option<Schedule>,
    probes: Probes,
    goodput_stable: bool,
    score: Stability,
    /// Start and end of the probes whose times can count.
    score_from: Option<Instant>,
    score_until: Option<Instant>,
    bytes: u64,
    loaded: Duration,
    end: Option<End>,
    /// Idle scores count the probes from this time.
    start: Instant,
    actions: VecDeque<Action>,
    intervals: VecDeque<Interval>,
}

impl Machine {
    /// Creates a test that starts at `start`. `seed` selects the connections of the self probes.
    ///
    /// # Errors
    /// [`ConfigError`] when a parameter is out of its range.
    pub fn new(config: Config, start: Instant, seed: Seed) -> Result<Machine, ConfigError> {
        config.check()?;
        let load = |direction: &Direction| Load {
            direction: *direction,
            bytes: 0,
            recent: VecDeque::new(),
            average: MovingAverage::new(config.intervals),
            stability: Stability::new(config.intervals, config.tolerance),
            connections: 0,
        };
        let mut machine = Machine {
            stage: Stage::Idle,
            reached: Stage::Idle,
            idle_end: None,
            load_start: start,
            interval_end: start,
            stage_intervals: [0; 2],
            loads: config.directions.iter().map(load).collect(),
            connections: Vec::new(),
            choice: seed.stream("self probe", 0),
            schedule: None,
            probes: Probes::default(),
            goodput_stable: false,
            score: Stability::new(config.intervals, config.tolerance),
            score_from: None,
            score_until: None,
            bytes: 0,
            loaded: Duration::ZERO,
            end: None,
            start,
            actions: VecDeque::new(),
            intervals: VecDeque::new(),
            config,
        };
        if machine.config.idle.is_zero() {
            machine.begin_load(start);
        } else {
            machine.open(None);
        }
        Ok(machine)
    }

    /// Returns whether the test has ended.
    #[must_use]
    pub fn is_finished(&self) -> bool {
        self.stage == Stage::Finished
    }

    /// Returns the present stage.
    #[must_use]
    pub fn stage(&self) -> Stage {
        self.stage
    }

    /// Returns the next action.
    pub fn poll_action(&mut self) -> Option<Action> {
        self.actions.pop_front()
    }

    /// Returns the next interval that has ended.
    pub fn poll_interval(&mut self) -> Option<Interval> {
        self.intervals.pop_front()
    }

    /// Returns the next timeout; `None` after the end, and while the first connection is opened.
    #[must_use]
    pub fn poll_timeout(&self) -> Option<Wake> {
        let timeout = self.config.probe_timeout;
        let stage = match self.stage {
            Stage::Idle => self.idle_end.map(|end| match self.schedule {
                Some(_) => (end, Reason::IdleEnd),
                None => (end + timeout, Reason::ProbeTimeout),
            }),
            Stage::Goodput | Stage::Responsiveness => Some((self.interval_end, Reason::Interval)),
            Stage::Settling => self.score_until.map(|until| (until + timeout, Reason::ProbeTimeout)),
            Stage::Finished => None,
        };
        let probe = self
            .schedule
            .as_ref()
            .map(|schedule| (schedule.next().0, Reason::Probe));
        // At equal times, the stage is first: a probe belongs to the interval that begins.
        let (at, reason) = match (stage, probe) {
            (Some(stage), Some(probe)) => Some(if probe.0 < stage.0 { probe } else { stage }),
            (stage, probe) => stage.or(probe),
        }?;
        Some(Wake { at, reason })
    }

    /// Handles all timeouts up to `now`.
    pub fn handle_timeout(&mut self, now: Instant) {
        while let Some(wake) = self.poll_timeout().filter(|wake| wake.at <= now) {
            match wake.reason {
                Reason::Probe => self.send_probe(now),
                Reason::Interval => self.end_interval(wake.at),
                Reason::IdleEnd => {
                    self.schedule = None;
                    self.continue_without_probes(now);
                }
                Reason::ProbeTimeout if self.stage == Stage::Idle => self.begin_load(now),
                Reason::ProbeTimeout => self.finish(now),
            }
        }
    }

    /// A connection is open. Its load, if it has one, has started.
    pub fn handle_opened(&mut self, now: Instant, connection: ConnectionId) {
        self.handle_timeout(now);
        let Some(opened) = self.connections.get_mut(connection.0 as usize) else {
            return;
        };
        opened.open = true;
        if opened.load.is_none() && self.stage == Stage::Idle && self.idle_end.is_none() {
            self.idle_end = Some(now + self.config.idle);
            self.start = now;
            self.schedule = Some(Schedule::new(now, idle_gap(&self.config)));
        }
    }

    /// A connection could not be opened, or failed, or its load ended with an error. The test ends. A connection that the
    /// machine has closed may fail.
    pub fn handle_failed(&mut self, now: Instant, connection: ConnectionId) {
        self.handle_timeout(now);
        let idle = self
            .connections
            .get(connection.0 as usize)
            .is_none_or(|c| c.load.is_none());
        if !idle || self.stage == Stage::Idle {
            self.end_now(now, End::ConnectionFailed(connection));
        }
    }

    /// Load was transferred on a connection.
    pub fn handle_bytes(&mut self, now: Instant, connection: ConnectionId, bytes: u64) {
        self.handle_timeout(now);
        let direction = self.connections.get(connection.0 as usize).and_then(|c| c.load);
        let load = self.loads.iter_mut().find(|load| Some(load.direction) == direction);
        let Some(load) = load.filter(|_| self.stage != Stage::Finished) else {
            return;
        };
        load.bytes = load.bytes.saturating_add(bytes);
        self.bytes = self.bytes.saturating_add(bytes);
        if self.config.data.is_some_and(|limit| self.bytes > limit.as_bytes()) {
            self.end_now(now, End::DataLimit);
        }
    }

    /// A probe has its result.
    pub fn handle_probe(&mut self, now: Instant, probe: ProbeId, result: Result<ProbeTimes, ProbeFailure>) {
        self.handle_timeout(now);
        self.probes.set(probe, result);
        self.continue_without_probes(now);
    }

    /// Ends the test.
    pub fn cancel(&mut self, now: Instant) {
        self.handle_timeout(now);
        self.end_now(now, End::Cancelled);
    }

    /// Returns the result, or the values so far if the test has not ended.
    #[must_use]
    pub fn result(&self) -> TestResult {
        let config = &self.config;
        let [goodput_intervals, score_intervals] = self.stage_intervals;
        let confidence = |intervals: usize, stable: bool| match (intervals >= config.intervals.get(), stable) {
            (false, _) => Confidence::Low,
            (true, false) => Confidence::Medium,
            (true, true) => Confidence::High,
        };
        let scores = match (self.score_from, self.score_until) {
            (Some(from), until) => {
                let until = until.unwrap_or(self.interval_end);
                self.probes
                    .scores(config, false, from.max(until - config.window()), until)
            }
            (None, _) => Scores::default(),
        };
        let idle =
            (!config.idle.is_zero()).then(|| self.probes.scores(config, true, self.start, self.start + config.idle));
        let [foreign_idle, own_idle] = [ProbeKind::Foreign, ProbeKind::Own].map(|kind| self.probes.counts(kind, true));
        TestResult {
            end: self.end.unwrap_or(End::Cancelled),
            stage: self.reached,
            goodput_confidence: confidence(goodput_intervals, self.goodput_stable),
            score_confidence: confidence(score_intervals, self.score.is_stable()),
            goodput: self.loads.iter().map(|load| load.goodput(config)).collect(),
            scores,
            idle,
            foreign: self.probes.counts(ProbeKind::Foreign, false),
            own: self.probes.counts(ProbeKind::Own, false),
            idle_counts: foreign_idle.plus(own_idle),
            start_delay_max: self.probes.start_delay_max(),
            loaded: self.loaded,
            bytes: self.bytes,
        }
    }

    fn open(&mut self, load: Option<Direction>) {
        let connection = ConnectionId(self.connections.len() as u32);
        self.connections.push(Connection { load, open: false });
        self.actions.push_back(Action::Open { connection, load });
    }

    fn begin_load(&mut self, now: Instant) {
        for (number, connection) in self.connections.iter_mut().enumerate() {
            connection.open = false;
            self.actions.push_back(Action::Close(ConnectionId(number as u32)));
        }
        self.schedule = None;
        self.enter(Stage::Goodput);
        self.load_start = now;
        self.interval_end = now + self.config.interval;
        self.add_connections(self.config.first);
    }

    /// Adds connections to each direction, up to MNP.
    fn add_connections(&mut self, count: u32) {
        for index in 0..self.loads.len() {
            let load = &mut self.loads[index];
            let direction = load.direction;
            let new = count.min(self.config.connections - load.connections);
            load.connections += new;
            (0..new).for_each(|_| self.open(Some(direction)));
        }
    }

    fn enter(&mut self, stage: Stage) {
        self.stage = stage;
        self.reached = stage;
    }

    /// Sends the probe that is due.
    fn send_probe(&mut self, now: Instant) {
        let Some(schedule) = &mut self.schedule else { return };
        let (due, kind) = schedule.next();
        schedule.advance();
        let room = self.probes.has_room(kind);
        let probe = self.probes.add(due, now, kind, self.stage == Stage::Idle);
        let on = match kind {
            ProbeKind::Foreign => None,
            ProbeKind::Own => self.choose(),
        };
        if room && (kind == ProbeKind::Foreign || on.is_some()) {
            self.actions.push_back(Action::Probe { probe, on });
        } else {
            self.probes.set(probe, Err(ProbeFailure::NotSent));
        }
    }

    /// Returns an open connection; each one has the same probability.
    fn choose(&mut self) -> Option<ConnectionId> {
        let open: Vec<usize> = (0..self.connections.len())
            .filter(|index| self.connections[*index].open)
            .collect();
        let place = self.choice.below(open.len() as u64);
        let index = open.get(place as usize)?;
        Some(ConnectionId(*index as u32))
    }

    /// Ends the interval that ends at `at`.
    fn end_interval(&mut self, at: Instant) {
        let config = &self.config;
        let interval = config.interval;
        self.loaded = at.checked_since(self.load_start).unwrap_or(Duration::ZERO);
        self.interval_end = at + interval;
        let rates: Vec<u64> = self.loads.iter().map(|load| load.bytes).collect();
        for load in &mut self.loads {
            load.end_interval(config);
        }
        let stage = self.stage;
        let left = config.time.saturating_sub(self.loaded);
        let mut score = None;
        if stage == Stage::Goodput {
            self.stage_intervals[0] += 1;
            self.goodput_stable = self.loads.iter().all(|load| load.stability.is_stable());
            // Another interval must leave MAD intervals for the score.
            if self.goodput_stable || left < config.window() + interval {
                self.enter(Stage::Responsiveness);
                self.score_from = Some(at);
                self.schedule = Some(Schedule::new(at, loaded_gap(&self.config, self.slowest())));
            } else {
                self.add_connections(self.config.added);
            }
        } else {
            self.stage_intervals[1] += 1;
            let from = self.score_from.unwrap_or(at).max(at - config.window());
            score = self.probes.scores(config, false, from, at).draft.map(|rpm| rpm.score);
            if let Some(score) = score {
                self.score.push(score);
            }
            if self.score.is_stable() {
                self.settle(at, End::Stable);
            } else if left < interval {
                self.settle(at, End::TimeLimit);
            } else {
                let gap = loaded_gap(&self.config, self.slowest());
                if let Some(schedule) = &mut self.schedule {
                    schedule.set_gap(at, gap);
                }
            }
        }
        let goodput = self.loads.iter().zip(rates).map(|(load, bytes)| Goodput {
            rate: BitRate::mean(ByteSize::from_bytes(bytes), interval),
            ..load.goodput(&self.config)
        });
        self.intervals.push_back(Interval {
            since_start: self.loaded,
            stage,
            goodput: goodput.collect(),
            score,
        });
    }

    /// Returns the goodput of the slowest direction.
    fn slowest(&self) -> BitRate {
        let rates = self.loads.iter().map(|load| load.goodput(&self.config).rate);
        rates.flatten().min().unwrap_or(BitRate::from_bps(0))
    }

    /// Waits for the responses to the last probes.
    fn settle(&mut self, at: Instant, end: End) {
        self.schedule = None;
        self.score_until = Some(at);
        self.end = Some(end);
        self.stage = Stage::Settling;
        self.continue_without_probes(at);
    }

    /// Continues if the test only waits for probes, and there are none.
    fn continue_without_probes(&mut self, now: Instant) {
        if self.probes.outstanding() > 0 {
            return;
        }
        match self.stage {
            Stage::Idle if self.idle_end.is_some() && self.schedule.is_none() => self.begin_load(now),
            Stage::Settling => self.finish(now),
            _ => {}
        }
    }

    /// Ends the test without waiting for probes.
    fn end_now(&mut self, now: Instant, end: End) {
        if self.stage == Stage::Finished {
            return;
        }
        self.score_until.get_or_insert(now);
        self.end.get_or_insert(end);
        self.finish(now);
    }

    fn finish(&mut self, now: Instant) {
        if self.reached >= Stage::Goodput {
            self.loaded = now.checked_since(self.load_start).unwrap_or(Duration::ZERO);
        }
        self.stage = Stage::Finished;
        self.schedule = None;
        self.actions.clear();
        self.probes.end();
    }
}

impl Load {
    fn end_interval(&mut self, config: &Config) {
        let bytes = std::mem::take(&mut self.bytes);
        self.recent.push_back(bytes);
        if self.recent.len() > config.intervals.get() {
            self.recent.pop_front();
        }
        if let Some(average) = self.average.push(bytes) {
            self.stability.push(average);
        }
    }

    fn goodput(&self, config: &Config) -> Goodput {
        let bytes = self.recent.iter().fold(0_u64, |sum, bytes| sum.saturating_add(*bytes));
        Goodput {
            direction: self.direction,
            rate: BitRate::mean(ByteSize::from_bytes(bytes), config.interval * self.recent.len() as u64),
            connections: self.connections,
            stable: self.stability.is_stable(),
        }
    }
}
