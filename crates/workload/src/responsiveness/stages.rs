//! Stages of a responsiveness test: when connections are added, and when probes are sent.

use super::config::{Config, ConfigError};
use super::probe::ProbeKind;
use super::probes::Probes;
use super::result::{Counts, End, Goodput, Scores, TestResult};
use super::schedule::{idle_gap, loaded_gap};
use super::stage::{ConnectionId, Stage};
use crate::Direction;
use crate::operation::{Operation, Outcome};
use netburn_stats::rpm::{Confidence, MovingAverage, Stability};
use netburn_units::{BitRate, ByteSize, Duration, Instant};
use std::collections::VecDeque;

/// Command to the workload.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Command {
    /// Open a connection without load.
    OpenIdle,
    /// Send no more probes on the connection without load.
    CloseIdle,
    /// Open a connection with load in this direction.
    Load(Direction),
    /// Send probes of each kind with this time between two of them; `None` for no probes.
    Probe(Option<Duration>),
    /// End everything.
    Finish,
}

/// End of an object on a connection with load, or on the connection without load.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct LoadEnd {
    pub(crate) connection: ConnectionId,
    /// True for the connection without load.
    pub(crate) is_idle: bool,
    /// True if the connection was open.
    pub(crate) was_open: bool,
}

/// Part of the idle stage.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Idle {
    /// The connection is opened.
    Opening,
    /// Probes are sent until this time.
    Probing(Instant),
    /// The last probes have no responses yet.
    Waiting,
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

/// Stages of a responsiveness test in one direction, or in both at the same time.
///
/// **After each call, the [`Workload`](crate::Workload) drains [`poll_command`](Self::poll_command), then calls
/// [`handle_timeout`](Self::handle_timeout) at [`poll_timeout`](Self::poll_timeout).** Times of calls do not decrease.
/// The test ends when [`is_finished`](Self::is_finished) returns true. [`result`](Self::result) is its result.
#[derive(Debug, Clone)]
pub struct Stages {
    config: Config,
    stage: Stage,
    /// Last stage before the end.
    reached: Stage,
    idle: Idle,
    /// Idle scores count the probes from this time.
    start: Instant,
    load_start: Instant,
    /// End of the present interval.
    interval_end: Instant,
    /// Intervals of the goodput stage and of the responsiveness stage.
    stage_intervals: [usize; 2],
    loads: Vec<Load>,
    probes: Probes,
    goodput_stable: bool,
    score: Stability,
    /// Start and end of the probes whose times can count.
    score_from: Option<Instant>,
    score_until: Option<Instant>,
    bytes: u64,
    loaded: Duration,
    end: Option<End>,
    commands: VecDeque<Command>,
    intervals: VecDeque<Interval>,
}

impl Stages {
    /// Creates a test that starts at `start`.
    ///
    /// # Errors
    /// [`ConfigError`] when a parameter is out of its range.
    pub(crate) fn new(config: Config, start: Instant) -> Result<Stages, ConfigError> {
        config.check()?;
        let load = |direction: &Direction| Load {
            direction: *direction,
            bytes: 0,
            recent: VecDeque::new(),
            average: MovingAverage::new(config.intervals),
            stability: Stability::new(config.intervals, config.tolerance),
            connections: 0,
        };
        let mut stages = Stages {
            stage: Stage::Idle,
            reached: Stage::Idle,
            idle: Idle::Opening,
            start,
            load_start: start,
            interval_end: start,
            stage_intervals: [0; 2],
            loads: config.directions.iter().map(load).collect(),
            probes: Probes::default(),
            goodput_stable: false,
            score: Stability::new(config.intervals, config.tolerance),
            score_from: None,
            score_until: None,
            bytes: 0,
            loaded: Duration::ZERO,
            end: None,
            commands: VecDeque::new(),
            intervals: VecDeque::new(),
            config,
        };
        if stages.config.idle.is_zero() {
            stages.begin_load(start);
        } else {
            stages.commands.push_back(Command::OpenIdle);
        }
        Ok(stages)
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

    /// Returns the next command.
    pub(crate) fn poll_command(&mut self) -> Option<Command> {
        self.commands.pop_front()
    }

    /// Returns the next interval that has ended.
    pub fn poll_interval(&mut self) -> Option<Interval> {
        self.intervals.pop_front()
    }

    /// Returns the end of the idle probes or of the present interval; `None` while the test waits for a connection or for
    /// the last probes, and after its end.
    #[must_use]
    pub fn poll_timeout(&self) -> Option<Instant> {
        match (self.stage, self.idle) {
            (Stage::Idle, Idle::Probing(end)) => Some(end),
            (Stage::Goodput | Stage::Responsiveness, _) => Some(self.interval_end),
            _ => None,
        }
    }

    /// Handles the timeout of the time `at`.
    pub(crate) fn handle_timeout(&mut self, at: Instant) {
        match self.stage {
            Stage::Idle => {
                self.idle = Idle::Waiting;
                self.commands.push_back(Command::Probe(None));
                self.continue_without_probes(at);
            }
            Stage::Goodput | Stage::Responsiveness => self.end_interval(at),
            Stage::Settling | Stage::Finished => {}
        }
    }

    /// An object on a connection with load, or on the connection without load, has ended. After a failure the test ends. The
    /// connection without load may fail after its stage. A connection with load may pause.
    pub(crate) fn handle_load_ended(&mut self, now: Instant, load: LoadEnd, outcome: Outcome) {
        let has_failed = match outcome {
            Outcome::Finished => false,
            // Without load, nothing shows that the server responds.
            Outcome::TimedOut => load.is_idle || !load.was_open,
            _ => true,
        };
        match (load.is_idle, has_failed) {
            (true, _) if self.stage != Stage::Idle => {}
            (_, true) => self.end_now(now, End::ConnectionFailed(load.connection)),
            (true, false) if self.idle == Idle::Opening => {
                self.idle = Idle::Probing(now + self.config.idle);
                self.start = now;
                self.commands.push_back(Command::Probe(Some(idle_gap(&self.config))));
            }
            _ => {}
        }
    }

    /// Load was transferred.
    pub(crate) fn handle_bytes(&mut self, now: Instant, direction: Direction, bytes: u64) {
        let load = self.loads.iter_mut().find(|load| load.direction == direction);
        let Some(load) = load.filter(|_| self.stage != Stage::Finished) else {
            return;
        };
        load.bytes = load.bytes.saturating_add(bytes);
        self.bytes = self.bytes.saturating_add(bytes);
        if self.config.data.is_some_and(|limit| self.bytes > limit.as_bytes()) {
            self.end_now(now, End::DataLimit);
        }
    }

    /// A probe was sent.
    pub(crate) fn handle_probe_sent(&mut self, kind: ProbeKind) {
        self.probes.sent(kind);
    }

    /// A probe has ended, or was not sent.
    pub(crate) fn handle_probe_ended(&mut self, now: Instant, kind: ProbeKind, operation: &Operation) {
        let idle = self.reached == Stage::Idle;
        self.probes.put(kind, operation, idle, self.config.tls_round_trips);
        self.continue_without_probes(now);
    }

    /// Ends the test.
    pub(crate) fn cancel(&mut self, now: Instant) {
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
        let is_idle = self.reached == Stage::Idle;
        let counts = |kind: ProbeKind, idle: bool| self.probes.counts(kind, idle, idle == is_idle);
        TestResult {
            end: self.end.unwrap_or(End::Cancelled),
            stage: self.reached,
            goodput_confidence: confidence(goodput_intervals, self.goodput_stable),
            score_confidence: confidence(score_intervals, self.score.is_stable()),
            goodput: self.loads.iter().map(|load| load.goodput(config)).collect(),
            scores,
            idle,
            foreign: counts(ProbeKind::Foreign, false),
            own: counts(ProbeKind::Own, false),
            idle_counts: Counts::plus(counts(ProbeKind::Foreign, true), counts(ProbeKind::Own, true)),
            start_delay_max: self.probes.start_delay_max(),
            loaded: self.loaded,
            bytes: self.bytes,
        }
    }

    fn begin_load(&mut self, now: Instant) {
        self.commands.push_back(Command::CloseIdle);
        self.enter(Stage::Goodput);
        self.load_start = now;
        self.interval_end = now + self.config.interval;
        self.add_connections(self.config.first);
    }

    /// Adds connections to each direction, up to MNP.
    fn add_connections(&mut self, count: u32) {
        for load in &mut self.loads {
            let new = count.min(self.config.connections - load.connections);
            load.connections += new;
            let command = Command::Load(load.direction);
            self.commands.extend(std::iter::repeat_n(command, new as usize));
        }
    }

    fn enter(&mut self, stage: Stage) {
        self.stage = stage;
        self.reached = stage;
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
                self.probe_beside_load();
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
                self.probe_beside_load();
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

    /// Sends probes as often as the goodput of the slowest direction permits.
    fn probe_beside_load(&mut self) {
        let rates = self.loads.iter().map(|load| load.goodput(&self.config).rate);
        let slowest = rates.flatten().min().unwrap_or(BitRate::from_bps(0));
        let gap = loaded_gap(&self.config, slowest);
        self.commands.push_back(Command::Probe(Some(gap)));
    }

    /// Waits for the responses to the last probes.
    fn settle(&mut self, at: Instant, end: End) {
        self.commands.push_back(Command::Probe(None));
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
            Stage::Idle if self.idle == Idle::Waiting => self.begin_load(now),
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
        self.commands.clear();
        self.commands.push_back(Command::Finish);
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
