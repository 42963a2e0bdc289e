//! A checked workload: every call passes through here, and all laws of the machine are verified.

use super::probes;
use crate::config::{Activity, Config, Connections, Dash, KindSettings};
use crate::kinds::Transport;
use crate::machine::{Action, Connection, Direction, Request, RequestId, Workload};
use crate::operation::{Failure, Operation, Outcome, RemoteTimestamps, Stall};
use crate::schedule::BACKOFF;
use netburn_units::{Duration, Instant, Seed};
use std::collections::BTreeMap;

/// Input of a driver.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Input {
    /// Timeout.
    Timeout,
    /// The TCP handshake of a connection is complete.
    TcpConnected(RequestId),
    /// A connection is established.
    Connected(RequestId),
    /// Bytes arrived.
    Bytes(RequestId, u64),
    /// An object is complete.
    Finished(RequestId),
    /// An object failed.
    Failed(RequestId, Failure),
    /// A datagram was echoed.
    Reply(RequestId, Option<RemoteTimestamps>),
    /// A packet of a call arrived at a time.
    Arrival(RequestId, Instant),
}

/// A [`Workload`] whose outputs are compared with the laws. Panics on a violation.
#[derive(Debug)]
pub struct Checked {
    workload: Workload,
    config: Config,
    start: Instant,
    end: Instant,
    settle: Instant,
    now: Instant,
    /// Active requests, with the persistent connection of each.
    pub active: BTreeMap<RequestId, Option<u32>>,
    /// Active operations: bytes so far.
    begun: BTreeMap<u64, u64>,
    /// Ended operations, by number.
    pub ended: BTreeMap<u64, Operation>,
    /// Ended stalls.
    pub stalls: Vec<Stall>,
    /// All outputs, in order.
    pub trace: Vec<String>,
}

impl Checked {
    /// A new checked workload.
    #[must_use]
    pub fn new(config: Config, start: Instant, end: Instant, settle: Instant, seed: Seed) -> Self {
        Checked {
            workload: Workload::new(config.clone(), start, end, settle, seed, 0),
            config,
            start,
            end,
            settle: settle.max(end),
            now: Instant::from_nanos(i64::MIN),
            active: BTreeMap::new(),
            begun: BTreeMap::new(),
            ended: BTreeMap::new(),
            stalls: Vec::new(),
            trace: Vec::new(),
        }
    }

    /// The workload, for inspection.
    #[must_use]
    pub fn workload(&self) -> &Workload {
        &self.workload
    }

    /// Passes an input to the workload, drains its outputs, and checks them. Returns the actions.
    pub fn handle(&mut self, now: Instant, input: Input) -> Vec<Action> {
        let before = self.workload.poll_timeout();
        assert_eq!(
            before,
            self.workload.poll_timeout(),
            "without input poll_timeout is stable"
        );
        self.now = self.now.max(now);
        match input {
            Input::Timeout => self.workload.handle_timeout(now),
            Input::TcpConnected(id) => self.workload.handle_tcp_connected(now, id),
            Input::Connected(id) => self.workload.handle_connected(now, id),
            Input::Bytes(id, bytes) => self.workload.handle_bytes(now, id, bytes),
            Input::Finished(id) => self.workload.handle_finished(now, id),
            Input::Failed(id, failure) => self.workload.handle_failed(now, id, failure),
            Input::Reply(id, far) => self.workload.handle_reply(now, id, far),
            Input::Arrival(id, at) => self.workload.handle_arrival(now, id, at),
        }
        let outputs = self.trace.len();
        let actions = self.drain(input);
        if let (Input::Timeout, Some((at, wake))) = (input, before) {
            let after = self.workload.poll_timeout();
            let moved = after.is_none_or(|(next, _)| next > at);
            let acted = now < at || self.trace.len() > outputs || moved;
            assert!(acted, "{wake:?} at {at:?} came to nothing: {after:?}");
            let all = after.is_none_or(|(next, _)| next > self.now);
            assert!(all, "all that fell due up to {:?} is handled: {after:?}", self.now);
        }
        actions
    }

    /// Advances to the next timeout and handles it; `None` when all is settled.
    pub fn wake(&mut self) -> Option<Vec<Action>> {
        let (at, _) = self.workload.poll_timeout()?;
        Some(self.handle(at, Input::Timeout))
    }

    /// Advances to the end of the run without further input, and checks the final state.
    pub fn finish(&mut self) {
        self.handle(self.settle, Input::Timeout);
        assert!(self.workload.is_settled(), "settled at its settle time");
        assert_eq!(self.workload.poll_timeout(), None, "a settled workload sleeps");
        assert!(self.active.is_empty(), "requests left: {:?}", self.active);
        assert!(self.begun.is_empty(), "operations left: {:?}", self.begun);
        if self.config.kind().is_one_way() {
            for direction in [Direction::Up, Direction::Down] {
                let numbers: Vec<u64> = self.ended_in(direction).map(|operation| operation.sequence).collect();
                let expected: Vec<u64> = (0..numbers.len() as u64)
                    .map(|number| direction.operation(number))
                    .collect();
                assert_eq!(numbers, expected, "every number of a direction ends exactly once");
            }
        } else if self.config.responsiveness().is_some() {
            probes::check_numbers(&self.ended);
        } else {
            let numbers: Vec<u64> = self.ended.keys().copied().collect();
            let expected: Vec<u64> = (0..numbers.len() as u64).collect();
            assert_eq!(numbers, expected, "every number ends exactly once");
        }
        if self.config.responsiveness().is_some() {
            probes::check_dues(&self.config, &self.ended, &self.windows());
        } else {
            self.check_dues();
            self.check_outstanding();
        }
        let mut last = self.start;
        for stall in &self.stalls {
            assert!(
                stall.began >= last && !stall.length.is_zero(),
                "stalls don't overlap: {stall:?}"
            );
            last = stall.began + stall.length;
            assert!(last <= self.end, "a stall ends at the end: {stall:?}");
        }
    }

    /// Windows of the load, in order, computed one after another.
    fn windows(&self) -> Vec<(Instant, Instant)> {
        let Activity { start, stop, repeat } = self.config.activity;
        let mut windows = Vec::new();
        let mut begin = start;
        loop {
            // A workload that does not start later starts with its station, also before 0.
            let from = if begin.is_zero() {
                self.start
            } else {
                self.start.max(Instant::ZERO + begin)
            };
            let to = stop.map_or(self.end, |stop| self.end.min(Instant::ZERO + begin + (stop - start)));
            if from < to {
                windows.push((from, to));
            }
            match repeat {
                Some(repeat) if Instant::ZERO + begin + repeat < self.end => begin += repeat,
                _ => return windows,
            }
        }
    }

    /// Ended operations of a direction, for packets that are not answered.
    fn ended_in(&self, direction: Direction) -> impl Iterator<Item = &Operation> {
        let ended = self.ended.values();
        ended.filter(move |operation| Direction::of_packet(operation.sequence) == direction)
    }

    fn drain(&mut self, input: Input) -> Vec<Action> {
        let mut actions = Vec::new();
        while let Some(action) = self.workload.poll_action() {
            self.trace.push(format!("{action:?}"));
            actions.push(action);
        }
        // Bytes of this input, if the operation is still active when they arrive.
        let mut brought = match input {
            Input::Bytes(id, bytes) if self.active.contains_key(&id) && !self.config.kind().is_one_way() => {
                Some((id.operation, bytes))
            }
            Input::Reply(id, _) if self.config.kind().transport == Transport::Echo && self.active.contains_key(&id) => {
                Some((id.operation, self.config.operation_size().unwrap().as_bytes()))
            }
            Input::Arrival(id, _) if self.config.kind().is_one_way() && self.active.contains_key(&id) => {
                let size = self.config.packet_size(Direction::of_packet(id.operation));
                Some((id.operation, size.as_bytes()))
            }
            _ => None,
        };
        // A finished or failed object ends before a new operation begins, unless the operation has
        // timed out before.
        let mut freed = None;
        if let Input::Finished(id) | Input::Failed(id, _) = input
            && !actions.contains(&Action::Cancel(id))
            && !self.config.kind().is_one_way()
        {
            freed = self.active.remove(&id).flatten();
        }
        for action in &actions {
            match action {
                Action::Begin(request) => self.check_begin(request, freed),
                Action::Send { id, due, .. } => {
                    assert_eq!(self.config.kind().transport, Transport::Echo);
                    assert!(*due >= self.start && *due < self.end && *due <= self.now);
                    assert!(self.active.insert(*id, None).is_none(), "{id:?} is sent once");
                    self.begun.insert(id.operation, 0);
                }
                Action::SendOneWay { id, due, direction, .. } => {
                    assert!(self.config.kind().is_one_way());
                    assert_eq!(*direction, Direction::of_packet(id.operation));
                    assert!(*due >= self.start && *due < self.end && *due <= self.now);
                    assert!(self.active.insert(*id, None).is_none(), "{id:?} is sent once");
                    self.begun.insert(id.operation, 0);
                }
                Action::Cancel(id) => {
                    assert!(self.active.remove(id).is_some(), "{id:?} was not there to cancel");
                }
            }
        }
        // A packet can be due in the call of an input about it, whose driver has guessed its number.
        if let Input::Arrival(id, _) = input
            && brought.is_none()
            && actions
                .iter()
                .any(|action| matches!(action, Action::SendOneWay { id: begun, .. } if *begun == id))
        {
            let size = self.config.packet_size(Direction::of_packet(id.operation));
            brought = Some((id.operation, size.as_bytes()));
        }
        // A request can begin in the call of an input about it, whose driver has guessed its number.
        if let Input::Finished(id) | Input::Failed(id, _) = input
            && !actions.contains(&Action::Cancel(id))
            && !self.config.kind().is_one_way()
        {
            self.active.remove(&id);
        }
        while let Some(operation) = self.workload.poll_operation() {
            self.trace.push(format!("{operation:?}"));
            // Bytes for an operation that has timed out or was settled before don't count; a reply
            // does.
            let late = matches!(
                operation.outcome,
                Outcome::TimedOut | Outcome::Unfinished | Outcome::Cut
            );
            if let Some((sequence, bytes)) = brought.take_if(|(sequence, _)| *sequence == operation.sequence)
                && !late
            {
                *self.begun.get_mut(&sequence).expect("it had begun") += bytes;
            }
            self.check_ended(&operation);
        }
        if let Some((sequence, bytes)) = brought {
            *self.begun.get_mut(&sequence).expect("it has begun") += bytes;
        }
        while let Some(stall) = self.workload.poll_stall() {
            self.trace.push(format!("{stall:?}"));
            self.stalls.push(stall);
        }
        // The limit is for probes, not for load connections.
        let allowed = (self.config.max_in_flight() + self.config.load().count()) as usize;
        assert!(
            self.begun.len() <= allowed || self.config.kind().is_one_way(),
            "{} of {allowed} outstanding",
            self.begun.len()
        );
        assert_eq!(self.workload.in_flight(), self.begun.len());
        actions
    }

    fn check_begin(&mut self, request: &Request, freed: Option<u32>) {
        assert!(!self.config.kind().is_datagram());
        assert!(
            request.due >= self.start && request.due < self.end,
            "due within the run: {request:?}"
        );
        assert!(request.due <= self.now, "never early: {request:?}");
        if self.config.responsiveness().is_some() {
            let slot = probes::check_begin(&self.config, request, &self.active, freed);
            assert!(
                self.active.insert(request.id, slot).is_none(),
                "{request:?} begins once"
            );
            self.begun.entry(request.id.operation).or_insert(0);
            return;
        }
        let requests = self.config.requests().expect("a kind over HTTP");
        match self.config.dash() {
            Some(dash) => assert!(
                dash.rate_of(request.size.as_bytes()).is_some(),
                "no segment: {request:?}"
            ),
            None => assert_eq!(request.size, requests.object_size),
        }
        let slot = match (request.connection, requests.connections) {
            (Connection::New, Connections::New) => None,
            (Connection::Kept(slot), Connections::Keep) => Some(slot),
            other => panic!("a connection of the wrong sort: {other:?}"),
        };
        if slot.is_some() {
            // The slot that this call freed may or may not have been reused already.
            let held: Vec<Option<u32>> = self.active.values().copied().collect();
            let lowest =
                |also: Option<u32>| (0..).find(|number| !held.contains(&Some(*number)) && Some(*number) != also);
            let right = slot == lowest(None) || slot == lowest(freed);
            assert!(right, "not the lowest free connection: {request:?}");
        }
        assert!(
            self.active.insert(request.id, slot).is_none(),
            "{request:?} begins once"
        );
        self.begun.entry(request.id.operation).or_insert(0);
    }

    fn check_ended(&mut self, operation: &Operation) {
        let begun = self.begun.remove(&operation.sequence);
        assert_eq!(
            begun.is_some(),
            operation.started.is_some(),
            "begun or not: {operation:?}"
        );
        assert_eq!(
            begun.unwrap_or(0),
            operation.bytes,
            "bytes are conserved: {operation:?}"
        );
        assert!(operation.due < self.end && operation.due >= self.start, "{operation:?}");
        assert!(
            operation.started.is_none_or(|started| started >= operation.due),
            "{operation:?}"
        );
        if let (Some(started), Some(finished)) = (operation.started, operation.finished) {
            assert!(
                finished >= started && finished <= self.settle.max(started),
                "{operation:?}"
            );
        }
        let times = [operation.tcp_connected, operation.connected, operation.first_byte];
        let times = times.into_iter().flatten();
        for at in times {
            assert!(operation.started.is_some_and(|started| at >= started), "{operation:?}");
            assert!(
                operation.finished.is_none_or(|finished| at <= finished),
                "{operation:?}"
            );
        }
        let finished = operation.finished.map(|finished| finished.since(operation.due));
        match operation.outcome {
            Outcome::Finished => {
                assert!(finished.is_some());
                assert_eq!(operation.latency(), finished, "latency counts from the due instant");
            }
            Outcome::Failed(_) => assert!(finished.is_some(), "{operation:?}"),
            Outcome::TimedOut => assert!(finished >= Some(self.config.timeout), "{operation:?}"),
            Outcome::NotStarted | Outcome::Unfinished | Outcome::Cut => assert_eq!(finished, None, "{operation:?}"),
        }
        if self.config.kind().is_datagram() {
            self.active.retain(|id, _| id.operation != operation.sequence);
        }
        let left = self.active.keys().any(|id| id.operation == operation.sequence);
        assert!(
            !left,
            "an operation ended while its requests are in progress: {operation:?}"
        );
        let twice = self.ended.insert(operation.sequence, *operation);
        assert_eq!(twice, None, "an operation ends once");
    }

    /// Checks that due times follow the schedule: in each window from its start on, and nowhere else.
    fn check_dues(&self) {
        let all: Vec<&Operation> = self.ended.values().collect();
        assert_eq!(
            all.first().map(|o| o.due),
            self.workload.first_due(),
            "the first due instant is known"
        );
        let mut phase = None;
        let mut checked = 0;
        for (from, to) in self.windows() {
            let operations: Vec<&Operation> = all.iter().copied().filter(|o| o.due >= from && o.due < to).collect();
            if let Some(first) = operations.first() {
                let since = first.due.since(from);
                assert_eq!(
                    *phase.get_or_insert(since),
                    since,
                    "windows begin in the same way: {first:?}"
                );
            }
            checked += operations.len();
            self.check_window(from, &operations);
        }
        assert_eq!(checked, all.len(), "an operation is due in no window");
    }

    fn check_window(&self, from: Instant, operations: &[&Operation]) {
        if self.config.kind().is_one_way() {
            // They have one window.
            self.check_packets(from);
            return;
        }
        if let Some(dash) = self.config.dash() {
            check_segments(dash, from, operations);
            return;
        }
        let Some(every) = self.config.interval() else {
            self.check_streams(from, operations);
            return;
        };
        let jitter = self.config.jitter();
        for (number, pair) in (1..).zip(operations.windows(2)) {
            let (before, after) = (pair[0], pair[1]);
            assert!(after.due >= before.due, "in the order of falling due");
            let ended = before.finished.unwrap_or(before.due);
            if matches!(self.config.settings, KindSettings::Stream(_)) {
                assert!(after.due >= ended, "one after another");
                assert!(after.due + jitter + jitter >= before.due + every, "never catches up");
            } else {
                let point = operations[0].due + every * number;
                let off = after.due.checked_since(point).or(point.checked_since(after.due));
                assert!(
                    off.is_some_and(|off| off <= jitter),
                    "the grid does not drift: {after:?}"
                );
            }
        }
    }

    /// Checks that each stream continues when its operation ends, or a while after a failure: every due time after the
    /// first ones belongs to one operation that ended before.
    fn check_streams(&self, from: Instant, operations: &[&Operation]) {
        let first = self.config.max_in_flight() as usize;
        let mut expected = vec![from; first];
        for (index, operation) in operations.iter().enumerate() {
            let place = expected.iter().position(|due| *due == operation.due);
            let place = place.unwrap_or_else(|| panic!("no stream continues at {operation:?}: {expected:?}"));
            expected.swap_remove(place);
            assert!(
                index == 0 || operation.due >= operations[index - 1].due,
                "in the order of falling due"
            );
            if let Some(finished) = operation.finished {
                let well = operation.outcome == Outcome::Finished;
                expected.push(finished + if well { Duration::ZERO } else { BACKOFF });
            }
        }
    }

    /// Checks that each direction has its grid of bursts, which starts within an interval of the start of the window, or
    /// of the other direction.
    fn check_packets(&self, from: Instant) {
        let streams = self.config.packet_streams();
        let mut base = from;
        for (direction, stream) in streams.all() {
            let Some(first) = self.workload.first_packet(direction) else {
                continue;
            };
            assert!(first.since(base) < stream.interval, "{direction:?} begins at {first:?}");
            base = first;
            for (number, operation) in (0..).zip(self.ended_in(direction)) {
                let burst = u64::from(stream.burst);
                let due = first + stream.interval * (number / burst) + stream.spacing * (number % burst);
                assert_eq!(operation.due, due, "the grids do not drift: {operation:?}");
            }
        }
    }

    /// Checks that an operation is not started only because too many were outstanding when it was
    /// due.
    fn check_outstanding(&self) {
        if self.config.kind().is_one_way() {
            let started = self.ended.values().all(|operation| operation.started.is_some());
            assert!(started, "packets without an answer have no limit");
            return;
        }
        let allowed = self.config.max_in_flight() as usize;
        let operations: Vec<&Operation> = self.ended.values().collect();
        let windows = self.windows();
        for (index, operation) in operations.iter().enumerate() {
            // Bulk transfers are cancelled at the end of a window.
            let mut cancelled = windows
                .iter()
                .filter(|(_, to)| self.config.bulk().is_some() && *to <= operation.due);
            let since = cancelled.next_back().map_or(self.start, |(_, to)| *to);
            let earlier = || {
                let earlier = operations[..index].iter();
                earlier.filter(|o| o.outcome != Outcome::NotStarted && o.due >= since)
            };
            // Ends at the same instant may have come before or after.
            let outlast = |at_least: bool| {
                earlier()
                    .filter(|o| {
                        o.finished
                            .is_none_or(|f| f > operation.due || (at_least && f == operation.due))
                    })
                    .count()
            };
            if operation.outcome == Outcome::NotStarted {
                let needed = allowed + usize::from(self.config.has_queue());
                assert!(outlast(true) >= needed, "{operation:?} had room");
            } else if !self.config.has_queue() {
                assert!(outlast(false) < allowed, "{operation:?} had no room");
            }
        }
    }
}

/// Checks that each segment is due when the previous one has ended, or a while after a failure. After a complete segment
/// it can be later, by one segment at most: the buffer is full.
fn check_segments(dash: &Dash, from: Instant, operations: &[&Operation]) {
    assert!(operations.first().is_none_or(|first| first.due == from));
    for pair in operations.windows(2) {
        let ended = pair[0].finished.expect("a segment ends before the next one is due");
        match pair[0].outcome {
            Outcome::Finished => {
                let wait = pair[1].due.since(ended);
                assert!(wait <= dash.segment, "the buffer has room: {pair:?}");
            }
            _ => assert_eq!(pair[1].due, ended + BACKOFF, "{pair:?}"),
        }
    }
}
