//! Schedule of one workload as a state machine.
//!
//! - [`action`](self::Action): interface to its driver.
//! - `lifecycle`: processing of timeouts.
//! - `in_flight`: operations in flight.
//! - `slots`: numbers of persistent connections.
//! - `test`: a responsiveness test, whose stages change the load and the probes.
//!
//! Due times are those of the kind's `Schedule`.

mod action;
mod in_flight;
mod lifecycle;
mod slots;
mod test;

pub use crate::direction::Direction;
pub use action::{Action, Connection, Request, RequestId, Wake};

use crate::config::{Config, Dash, Window, Windows};
use crate::kinds::Transport;
use crate::kinds::responsiveness::Loads;
use crate::operation::{Failure, Operation, Outcome, RemoteTimestamps, Stall};
use crate::player::Player;
use crate::responsiveness::Stages;
use crate::schedule::Schedule;
use in_flight::InFlight;
use netburn_units::{BitRate, ByteSize, Duration, Instant, Seed};
use slots::Slots;
use std::collections::{BTreeMap, VecDeque};

/// One workload of one station.
///
/// **Call order:** after every `handle_*`, drain [`poll_action`](Self::poll_action),
/// [`poll_operation`](Self::poll_operation) and [`poll_stall`](Self::poll_stall), then sleep until
/// [`poll_timeout`](Self::poll_timeout) or the next input.
///
/// Calls may be late. Overdue events are processed in order, each latency counts from its due time,
/// and `started` is the actual time of the request. At one instant an input precedes the operations
/// that are due then. An input that is earlier than a previous one is processed at the time of that
/// one. An input about an unknown, complete or cancelled request is ignored.
#[derive(Debug)]
pub struct Workload {
    config: Config,
    lifetime: Lifetime,
    /// Latest time of an input.
    now: Instant,
    schedule: Box<dyn Schedule>,
    first_due: Option<Instant>,
    /// Number of operations that were due. Without streams it is the number of the next one.
    sequence: u64,
    in_flight: BTreeMap<u64, InFlight>,
    /// Packets that are not answered, in the order of sending: time and number. The first one is in flight.
    sent: VecDeque<(Instant, u64)>,
    /// Queued page, which was due while others were in flight: its number and its due time.
    waiting: Option<(u64, Instant)>,
    slots: Slots,
    /// Load connections of `responsiveness`.
    loads: Option<Loads>,
    /// Stages of a responsiveness test.
    test: Option<Box<Stages>>,
    player: Option<Player>,
    /// Bit rate of the last segment of `dash`; before the first one the lowest.
    media_rate: Option<BitRate>,
    /// True while the driver can't take new operations.
    overloaded: bool,
    actions: VecDeque<Action>,
    operations: VecDeque<Operation>,
}

/// Windows of a workload, and its place in them.
#[derive(Debug)]
struct Lifetime {
    /// Start of the first window.
    start: Instant,
    /// End of the last window.
    end: Instant,
    /// End of the drain.
    settle: Instant,
    /// True if the last window ends before the load of the station.
    stops_early: bool,
    /// Current window; between two windows the next one.
    window: Window,
    /// Windows after the current one.
    upcoming: Windows,
    phase: Phase,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Phase {
    /// Before `end`.
    Running,
    /// No new operation begins; operations in flight may finish.
    Draining,
    /// All operations have ended.
    Settled,
}

impl Workload {
    /// Creates a workload of a station whose load is from `start` to `end`, and which then has until
    /// `settle` (`end` + drain) to finish the operations in flight. It runs in the
    /// [windows](Config::windows) of this time; `settle` moves with the end of the last one.
    ///
    /// Its first due time is a random phase within one interval of the start of the window (the
    /// start itself without an interval). The phase is the same in each window. Phase and jitter
    /// come from `seed`; `index` distinguishes the workloads of a run.
    ///
    /// At the end of a window no new operation begins, and a queued page is dropped. Operations in
    /// flight can finish, except objects of a bulk transfer: they are cancelled, unless the window
    /// ends with the load of the station.
    ///
    /// The configuration should have passed [`Config::validate`]; invalid values are clamped,
    /// without a panic.
    #[must_use]
    pub fn new(config: Config, start: Instant, end: Instant, settle: Instant, seed: Seed, index: u64) -> Self {
        let mut upcoming = config.windows(start, end);
        let drain = settle.checked_since(end).unwrap_or_default();
        let (load_end, end) = (end, upcoming.last_window().map_or(end, |last| last.to));
        // Without a window nothing is due.
        let window = upcoming.next().unwrap_or(Window { from: end, to: end });
        let start = window.from;
        let schedule = config.schedule(start, seed, index);
        // The first window can be shorter than the phase. The later ones have one length, except the last.
        let mut windows = std::iter::once(window).chain(upcoming.clone()).take(2);
        let first_due = windows.find_map(|window| {
            schedule.next()?;
            let due = window.from.checked_add(schedule.phase());
            due.filter(|due| *due < window.to)
        });
        Workload {
            lifetime: Lifetime {
                start,
                end,
                settle: end.checked_add(drain).unwrap_or(settle),
                stops_early: end < load_end,
                window,
                upcoming,
                phase: Phase::Running,
            },
            now: Instant::from_nanos(i64::MIN),
            first_due,
            schedule,
            sequence: 0,
            in_flight: BTreeMap::new(),
            sent: VecDeque::new(),
            waiting: None,
            slots: Slots::default(),
            loads: Loads::new(config.load(), start, seed, index),
            test: None,
            player: config.playback().map(|player| Player::new(player, start)),
            media_rate: config.dash().map(Dash::lowest),
            overloaded: false,
            actions: VecDeque::new(),
            operations: VecDeque::new(),
            config,
        }
    }

    /// Configuration.
    #[must_use]
    pub fn config(&self) -> &Config {
        &self.config
    }

    /// Start of the first window: the base of its first due time and of [`startup`](Self::startup).
    #[must_use]
    pub fn start(&self) -> Instant {
        self.lifetime.start
    }

    /// End of its load.
    #[must_use]
    pub fn load_end(&self) -> Instant {
        self.lifetime.end
    }

    /// Due time of its first operation; `None` if that would be at or after its end.
    #[must_use]
    pub fn first_due(&self) -> Option<Instant> {
        self.first_due
    }

    /// Due time of the first packet of a direction, for a kind whose datagrams are not answered. `None` without such a
    /// stream, and if the time is at or after the end.
    #[must_use]
    pub fn first_packet(&self, direction: Direction) -> Option<Instant> {
        let first = self.schedule.first_packet(direction);
        first.filter(|first| *first < self.lifetime.end)
    }

    /// Time at which the last operation is due at the latest; no operation is due at or after it.
    #[must_use]
    pub fn end_of_load(&self) -> Instant {
        self.lifetime.end
    }

    /// Time from the workload's start to the start of playback; `None` until then, or without a
    /// player. Not a stall.
    #[must_use]
    pub fn startup(&self) -> Option<Duration> {
        self.player.as_ref()?.startup()
    }

    /// Media in the buffer of the player; `None` without a player.
    #[must_use]
    pub fn buffered(&self) -> Option<Duration> {
        Some(self.player.as_ref()?.buffered())
    }

    /// Number of operations in flight.
    #[must_use]
    pub fn in_flight(&self) -> usize {
        self.in_flight.len()
    }

    /// Processes all timeouts up to `now`.
    pub fn handle_timeout(&mut self, now: Instant) {
        self.now = self.now.max(now);
        while let Some((at, wake)) = self.poll_timeout().filter(|(at, _)| *at <= self.now) {
            self.process_timeout(at, wake);
        }
    }

    /// Sets the overload state of the driver. While it is set, operations with fixed due times are
    /// [not started](Outcome::NotStarted). An operation that waits for the previous one still
    /// begins: it can't be due faster than the driver works. A responsiveness test sends its probes all the same, because
    /// its load can use the whole processor. It reports the late ones.
    pub fn set_overloaded(&mut self, overloaded: bool) {
        self.overloaded = overloaded && self.test.is_none();
    }

    /// The request's connection is established (including TLS). Not called for a connection that
    /// was open already.
    pub fn handle_connected(&mut self, now: Instant, id: RequestId) {
        let now = self.catch_up(now);
        if let Some(operation) = self.awaiting_request(id) {
            operation.connected(now);
            self.load_moves(id);
        }
    }

    /// As [`handle_connected`](Self::handle_connected), for a connection that was established at `at` and becomes known
    /// only at the end of the request, as in a browser.
    pub fn handle_connected_at(&mut self, now: Instant, id: RequestId, at: Instant) {
        let now = self.catch_up(now);
        if let Some(operation) = self.awaiting_request(id) {
            operation.connected_at(at.min(now));
        }
    }

    /// The TCP handshake of a new connection for this request is complete. With TLS, its handshake follows, then
    /// [`handle_connected`](Self::handle_connected). Only `responsiveness` records the time.
    pub fn handle_tcp_connected(&mut self, now: Instant, id: RequestId) {
        let now = self.catch_up(now);
        if self.config.kind().has_handshake_times
            && let Some(operation) = self.awaiting_request(id)
        {
            operation.tcp_connected(now);
        }
    }

    /// `bytes` more of the object's content were received (or sent); the first call marks the first
    /// byte.
    pub fn handle_bytes(&mut self, now: Instant, id: RequestId, bytes: u64) {
        let now = self.catch_up(now);
        let Some(operation) = self.awaiting_request(id) else {
            return;
        };
        operation.received(now, bytes);
        self.load_moves(id);
        self.test_bytes(now, id, bytes);
        // A segment of `dash` can be played when it is complete.
        if let Some(player) = self.player.as_mut().filter(|_| self.config.dash().is_none()) {
            player.handle_bytes(now, bytes);
        }
    }

    /// A request of a load connection makes progress, so the connection is open.
    fn load_moves(&mut self, id: RequestId) {
        if let Some(loads) = &mut self.loads {
            loads.opened(id.operation);
        }
    }

    /// The object is complete.
    pub fn handle_finished(&mut self, now: Instant, id: RequestId) {
        let now = self.catch_up(now);
        let Some(operation) = self.awaiting_request(id) else {
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

    /// A packet that is not answered arrived at `at`, which may be earlier than `now`: the arrival at the server is known
    /// later. The operation ends at `at`, or at its start if that is later.
    pub fn handle_arrival(&mut self, now: Instant, id: RequestId, at: Instant) {
        let size = self.config.packet_size(Direction::of_packet(id.operation));
        self.handle_frame(now, id, at, size);
    }

    /// As [`handle_arrival`](Self::handle_arrival), for a frame of a `video-call`, which has `size` in all.
    pub fn handle_frame(&mut self, now: Instant, id: RequestId, at: Instant, size: ByteSize) {
        let now = self.catch_up(now);
        if !self.config.kind().is_one_way() {
            return;
        }
        let size = size.as_bytes();
        if let Some(operation) = self.awaiting(id) {
            let at = at.min(now).max(operation.progress);
            operation.received(at, size);
            self.end(id.operation, Some(at), Outcome::Finished, None);
            self.begin_due();
        }
    }

    /// The object failed. The rest of its operation is cancelled.
    pub fn handle_failed(&mut self, now: Instant, id: RequestId, failure: Failure) {
        let now = self.catch_up(now);
        let Some(operation) = self.awaiting_request(id) else {
            return;
        };
        let (slot, _) = operation.finish(now, id.object);
        if let Some(slot) = slot {
            self.slots.release(slot);
        }
        self.end(id.operation, Some(now), Outcome::Failed(failure), None);
        self.begin_due();
    }

    /// The echo of a datagram was received.
    pub fn handle_reply(&mut self, now: Instant, id: RequestId, far: Option<RemoteTimestamps>) {
        let now = self.catch_up(now);
        if self.config.kind().transport != Transport::Echo {
            return;
        }
        let size = self.config.operation_size().unwrap_or_default().as_bytes();
        if let Some(operation) = self.awaiting(id) {
            operation.received(now, size);
            self.end(id.operation, Some(now), Outcome::Finished, far);
        }
    }

    /// Ends the run at `now`, for operations in flight as well: the driver was stopped before the
    /// end.
    pub fn handle_stop(&mut self, now: Instant) {
        let now = self.catch_up(now);
        self.cancel_test(now);
        self.end_at(now);
        self.handle_timeout(now);
    }

    fn end_at(&mut self, now: Instant) {
        self.lifetime.end = self.lifetime.end.min(now);
        self.lifetime.settle = self.lifetime.settle.min(now);
    }

    /// Next command to the driver.
    pub fn poll_action(&mut self) -> Option<Action> {
        self.actions.pop_front()
    }

    /// Next operation that has ended.
    pub fn poll_operation(&mut self) -> Option<Operation> {
        self.operations.pop_front()
    }

    /// Next stall that has ended.
    pub fn poll_stall(&mut self) -> Option<Stall> {
        self.player.as_mut()?.poll_stall()
    }

    /// Time of the next [`handle_timeout`](Self::handle_timeout), and its reason; `None` once all
    /// is settled.
    #[must_use]
    pub fn poll_timeout(&self) -> Option<(Instant, Wake)> {
        let over = match self.lifetime.phase {
            Phase::Running if self.lifetime.window.to < self.lifetime.end => (self.lifetime.window.to, Wake::Pause),
            Phase::Running => (self.lifetime.end, Wake::End),
            Phase::Draining => (self.lifetime.settle, Wake::Settle),
            Phase::Settled => return None,
        };
        let stall = self.player.as_ref().and_then(Player::poll_timeout);
        let stage = self.test.as_ref().and_then(|test| test.poll_timeout());
        // Of those at one instant the first in this list comes first: a timeout makes room for a
        // due operation.
        [
            self.next_timeout().map(|at| (at, Wake::Timeout)),
            stall.map(|at| (at, Wake::Stall)),
            // A probe that is due at the end of an interval belongs to the next one.
            stage.map(|at| (at, Wake::Stage)),
            self.next_due().map(|at| (at, Wake::Due)),
            Some(over),
        ]
        .into_iter()
        .flatten()
        .min_by_key(|(at, _)| *at)
    }

    /// Returns true if all is settled: nothing is in flight and nothing will begin.
    #[must_use]
    pub fn is_settled(&self) -> bool {
        self.lifetime.phase == Phase::Settled
    }
}
