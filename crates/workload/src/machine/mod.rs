//! The schedule of one workload as a state machine.
//!
//! - [`action`](self::Action): what passes between it and its driver.
//! - `course`: what happens when its time has come.
//! - `schedule`: when the next operation falls due.
//! - `under_way`: an operation that has begun and not ended.
//! - `slots`: the numbers of kept connections.

mod action;
mod course;
mod schedule;
mod slots;
mod under_way;

pub use action::{Action, Connection, Direction, Request, RequestId, Wake};
pub use schedule::BACKOFF;

use crate::config::{Config, Kind};
use crate::operation::{Failure, FarTimes, Operation, Outcome, Stall};
use crate::player::Player;
use netburn_units::{Duration, Instant, Seed};
use schedule::Schedule;
use slots::Slots;
use std::collections::{BTreeMap, VecDeque};
use under_way::UnderWay;

/// One workload of one station.
///
/// **Call order:** after every `handle_*`, drain [`poll_action`](Self::poll_action),
/// [`poll_operation`](Self::poll_operation) and [`poll_stall`](Self::poll_stall), then sleep until
/// [`poll_timeout`](Self::poll_timeout) or the next input.
///
/// It may be called late: what fell due meanwhile is taken in order, each counted from when it was due, and a request's
/// `started` is the instant it was really handed out. At one instant an input comes before what falls due then. An
/// input that is earlier than one before it is taken to be at the same time as that. An input about a request that
/// is unknown, complete or given up is ignored.
#[derive(Debug)]
pub struct Workload {
    config: Config,
    start: Instant,
    end: Instant,
    settle: Instant,
    /// The latest time it was told.
    now: Instant,
    phase: Phase,
    schedule: Schedule,
    first_due: Option<Instant>,
    /// The next operation's number.
    sequence: u64,
    under_way: BTreeMap<u64, UnderWay>,
    /// The page that fell due while others were under way: its number and when it was due.
    waiting: Option<(u64, Instant)>,
    slots: Slots,
    player: Option<Player>,
    /// Whether the driver can take nothing new.
    overloaded: bool,
    actions: VecDeque<Action>,
    operations: VecDeque<Operation>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Phase {
    /// Before `end`.
    Running,
    /// Nothing new begins; what is under way may finish.
    Draining,
    /// All is over.
    Settled,
}

impl Workload {
    /// A workload that runs from `start` to `end` and then has until `settle` (`end` + drain) to finish what is under
    /// way. Its first due instant is a random phase within one period of `start` (`start` itself where there is no
    /// period), and jitter comes from the same `seed`; `index` tells apart the workloads of one run.
    ///
    /// The configuration should have passed [`Config::validate`]; one that hasn't is bent into range, never a panic.
    #[must_use]
    pub fn new(config: Config, start: Instant, end: Instant, settle: Instant, seed: Seed, index: u64) -> Self {
        let schedule = Schedule::new(&config, start, seed, index);
        let plays = config.kind != Kind::Upload && config.kind != Kind::Probe;
        Workload {
            start,
            end,
            settle: settle.max(end),
            now: Instant::from_nanos(i64::MIN),
            phase: Phase::Running,
            first_due: schedule.next().filter(|due| *due < end),
            schedule,
            sequence: 0,
            under_way: BTreeMap::new(),
            waiting: None,
            slots: Slots::default(),
            player: config.player.filter(|_| plays).map(|player| Player::new(player, start)),
            overloaded: false,
            actions: VecDeque::new(),
            operations: VecDeque::new(),
            config,
        }
    }

    /// Its settings.
    #[must_use]
    pub fn config(&self) -> &Config {
        &self.config
    }

    /// When it is switched on: what its first due instant and [`startup`](Self::startup) count from.
    #[must_use]
    pub fn start(&self) -> Instant {
        self.start
    }

    /// When its first operation falls due; `None` when that would be at or after its end.
    #[must_use]
    pub fn first_due(&self) -> Option<Instant> {
        self.first_due
    }

    /// How long after the workload's start its player began to play; `None` until then, or without a player. Not a
    /// stall.
    #[must_use]
    pub fn startup(&self) -> Option<Duration> {
        self.player.as_ref()?.startup()
    }

    /// How many operations are under way.
    #[must_use]
    pub fn under_way(&self) -> usize {
        self.under_way.len()
    }

    /// Time has come to `now`.
    pub fn handle_timeout(&mut self, now: Instant) {
        self.now = self.now.max(now);
        while let Some((at, wake)) = self.poll_timeout().filter(|(at, _)| *at <= self.now) {
            self.pass(at, wake);
        }
    }

    /// Whether the driver has more to do than it can. Until it is told otherwise, operations that fall due at fixed points
    /// in time are [missed](Outcome::NotStarted) instead of begun. An operation that waits for the previous one still begins:
    /// it can't fall due faster than the driver works.
    pub fn set_overloaded(&mut self, overloaded: bool) {
        self.overloaded = overloaded;
    }

    /// The request's connection is ready (dialled, TLS done). Not called for one that was open already.
    pub fn handle_connected(&mut self, now: Instant, id: RequestId) {
        let now = self.catch_up(now);
        if let Some(operation) = self.awaiting(id) {
            operation.connected(now);
        }
    }

    /// `bytes` more of the object's content have arrived (or been sent); the first call marks the first byte.
    pub fn handle_bytes(&mut self, now: Instant, id: RequestId, bytes: u64) {
        let now = self.catch_up(now);
        let Some(operation) = self.awaiting(id) else {
            return;
        };
        operation.received(now, bytes);
        if let Some(player) = &mut self.player {
            player.handle_bytes(now, bytes);
        }
    }

    /// The object is complete.
    pub fn handle_finished(&mut self, now: Instant, id: RequestId) {
        let now = self.catch_up(now);
        let Some(operation) = self.awaiting(id) else {
            return;
        };
        let (slot, last) = operation.finish(now, id.object);
        if let Some(slot) = slot {
            self.slots.release(slot);
        }
        if last {
            self.end(id.operation, Some(now), Outcome::Finished, None);
            self.begin_due();
        }
    }

    /// The object failed. The rest of its operation is cancelled.
    pub fn handle_failed(&mut self, now: Instant, id: RequestId, failure: Failure) {
        let now = self.catch_up(now);
        let Some(operation) = self.awaiting(id) else {
            return;
        };
        let (slot, _) = operation.finish(now, id.object);
        if let Some(slot) = slot {
            self.slots.release(slot);
        }
        self.end(id.operation, Some(now), Outcome::Failed(failure), None);
        self.begin_due();
    }

    /// The echo of a datagram came back.
    pub fn handle_reply(&mut self, now: Instant, id: RequestId, far: Option<FarTimes>) {
        let now = self.catch_up(now);
        if self.config.kind != Kind::Probe {
            return;
        }
        let size = self.config.object_size.as_bytes();
        if let Some(operation) = self.awaiting(id) {
            operation.received(now, size);
            self.end(id.operation, Some(now), Outcome::Finished, far);
        }
    }

    /// The run ends here and now, for what is under way too: a driver told to stop before the end.
    pub fn handle_stop(&mut self, now: Instant) {
        let now = self.catch_up(now);
        self.end = self.end.min(now);
        self.settle = self.settle.min(now);
        self.handle_timeout(now);
    }

    /// The next thing for the driver to do.
    pub fn poll_action(&mut self) -> Option<Action> {
        self.actions.pop_front()
    }

    /// The next operation that has ended.
    pub fn poll_operation(&mut self) -> Option<Operation> {
        self.operations.pop_front()
    }

    /// The next stall that has ended.
    pub fn poll_stall(&mut self) -> Option<Stall> {
        self.player.as_mut()?.poll_stall()
    }

    /// When to call [`handle_timeout`](Self::handle_timeout), and why; `None` once all is settled.
    #[must_use]
    pub fn poll_timeout(&self) -> Option<(Instant, Wake)> {
        let over = match self.phase {
            Phase::Running => (self.end, Wake::End),
            Phase::Draining => (self.settle, Wake::Settle),
            Phase::Settled => return None,
        };
        let stall = self.player.as_ref().and_then(Player::poll_timeout);
        // Of those at one instant the first named comes first: a time-out makes room for what falls due then.
        [
            self.next_time_out().map(|at| (at, Wake::TimeOut)),
            stall.map(|at| (at, Wake::Stall)),
            self.next_due().map(|at| (at, Wake::Due)),
            Some(over),
        ]
        .into_iter()
        .flatten()
        .min_by_key(|(at, _)| *at)
    }

    /// Whether all is settled: nothing is under way and nothing will begin.
    #[must_use]
    pub fn is_settled(&self) -> bool {
        self.phase == Phase::Settled
    }
}
