//! Lifecycle of operations: due, start, timeout, end, and settling.

use super::action::{Action, Connection, Request, RequestId, Wake};
use super::in_flight::InFlight;
use super::{Phase, Workload};
use crate::config::{Connections, Requests, Window};
use crate::direction::Direction;
use crate::kinds::responsiveness::{Loads, PROBE_OBJECT, Part};
use crate::operation::{Operation, Outcome, RemoteTimestamps};
use netburn_units::{ByteSize, Instant, earlier};

impl Workload {
    /// Processes all timeouts before an input at `now`; returns the input's time.
    pub(super) fn catch_up(&mut self, now: Instant) -> Instant {
        self.now = self.now.max(now);
        while let Some((at, wake)) = self.poll_timeout().filter(|(at, _)| *at < self.now) {
            self.process_timeout(at, wake);
        }
        self.now
    }

    /// Processes one timeout of the time `at`, which is `self.now` or earlier.
    pub(super) fn process_timeout(&mut self, at: Instant, wake: Wake) {
        match wake {
            Wake::Due => self.handle_due(at),
            Wake::Timeout => self.expire_oldest(at),
            Wake::Stall => {
                if let Some(player) = &mut self.player {
                    player.handle_timeout(at);
                }
            }
            Wake::Stage => self.end_stage(at),
            Wake::Pause => self.pause(),
            Wake::End => self.stop(),
            Wake::Settle => self.settle(),
        }
    }

    /// Begins operations that are due at the instant of an input that freed a slot.
    pub(super) fn begin_due(&mut self) {
        while let Some(at) = self.next_due().filter(|at| *at <= self.now) {
            self.handle_due(at);
        }
    }

    pub(super) fn next_due(&self) -> Option<Instant> {
        let running = self.lifetime.phase == Phase::Running;
        let end = self.lifetime.window.to.min(self.lifetime.end);
        let load = self.loads.as_ref().and_then(Loads::next_due);
        earlier(load, self.schedule.next()).filter(|due| running && *due < end)
    }

    pub(super) fn next_timeout(&self) -> Option<Instant> {
        let oldest = if self.config.kind().is_one_way() {
            self.sent.front()?.0
        } else {
            self.in_flight.values().map(|operation| operation.progress).min()?
        };
        oldest.checked_add(self.config.timeout)
    }

    fn handle_due(&mut self, due: Instant) {
        // At one instant the load comes first.
        if self
            .loads
            .as_ref()
            .and_then(Loads::next_due)
            .is_some_and(|load| load <= due)
        {
            self.begin_load(due);
            return;
        }
        let sequence = self.schedule.fell_due().unwrap_or(self.sequence);
        self.sequence += 1;
        if self.overloaded && self.schedule.is_fixed() {
            self.skip(sequence, due, Outcome::NotStarted);
        } else if self.config.kind().is_one_way() || self.limited_in_flight() < self.config.max_in_flight() as usize {
            self.begin(sequence, due);
        } else if self.config.has_queue() && self.waiting.is_none() {
            self.waiting = Some((sequence, due));
        } else {
            self.skip(sequence, due, Outcome::NotStarted);
        }
    }

    /// Operations in flight that count for their limit.
    fn limited_in_flight(&self) -> usize {
        match self.loads {
            Some(_) => self
                .in_flight
                .keys()
                .filter(|sequence| Part::from_sequence(**sequence) != Part::Load)
                .count(),
            None => self.in_flight.len(),
        }
    }

    /// Starts an object on a load connection.
    fn begin_load(&mut self, due: Instant) {
        let Some(load) = self.loads.as_mut().and_then(Loads::take) else {
            return;
        };
        let connection = Connection::Kept(load.connection);
        self.request(load.operation, due, connection, load.direction, load.size);
    }

    /// Starts a probe beside load.
    fn begin_probe(&mut self, sequence: u64, due: Instant) {
        let connection = match Part::from_sequence(sequence) {
            Part::Own => self.loads.as_mut().and_then(Loads::choose).map(Connection::Kept),
            Part::Foreign | Part::Load => Some(Connection::New),
        };
        match connection {
            Some(connection) => self.request(sequence, due, connection, Direction::Down, PROBE_OBJECT),
            // No connection transfers load.
            None => self.skip(sequence, due, Outcome::NotStarted),
        }
    }

    /// Starts an operation with one object, whose connection has no slot.
    fn request(&mut self, sequence: u64, due: Instant, connection: Connection, direction: Direction, size: ByteSize) {
        let mut operation = InFlight::new(sequence, due, self.now);
        operation.begin(None);
        self.actions.push_back(Action::Begin(Request {
            id: RequestId {
                operation: sequence,
                object: 0,
            },
            due,
            connection,
            direction,
            size,
            marking: self.config.marking(),
        }));
        self.in_flight.insert(sequence, operation);
        self.test_sent(sequence);
    }

    fn begin(&mut self, sequence: u64, due: Instant) {
        if self.loads.is_some() {
            self.begin_probe(sequence, due);
            return;
        }
        let id = |object| RequestId {
            operation: sequence,
            object,
        };
        let mut operation = InFlight::new(sequence, due, self.now);
        if let Some(requests) = self.config.requests() {
            let Requests {
                objects, connections, ..
            } = requests;
            let size = self.segment_size(due).unwrap_or(requests.object_size);
            for object in 0..objects.max(1) {
                let slot = match connections {
                    Connections::New => None,
                    Connections::Keep => Some(self.slots.take()),
                };
                operation.begin(slot);
                self.actions.push_back(Action::Begin(Request {
                    id: id(object),
                    due,
                    connection: slot.map_or(Connection::New, Connection::Kept),
                    direction: self.config.direction(),
                    size,
                    marking: self.config.marking(),
                }));
            }
        } else {
            let id = id(0);
            operation.begin(None);
            self.actions.push_back(if self.config.kind().is_one_way() {
                self.sent.push_back((self.now, sequence));
                let direction = Direction::of_packet(sequence);
                Action::SendOneWay {
                    id,
                    due,
                    size: self.config.packet_size(direction),
                    direction,
                }
            } else {
                let size = self.config.operation_size().unwrap_or_default();
                Action::Send { id, due, size }
            });
        }
        self.in_flight.insert(sequence, operation);
    }

    /// Size of a segment of `dash` that is due at `due`; selects its bit rate by the buffer at this time.
    fn segment_size(&mut self, due: Instant) -> Option<ByteSize> {
        let (dash, rate, player) = (self.config.dash()?, self.media_rate.as_mut()?, self.player.as_mut()?);
        player.handle_timeout(due);
        *rate = dash.select(player.buffered(), *rate);
        Some(dash.segment_size(*rate))
    }

    /// An operation ended at `at`. A complete segment of `dash` is media for the player. Returns the time from which on
    /// the player has room for the next one.
    fn play_segment(&mut self, at: Instant, outcome: Outcome) -> Instant {
        match (self.config.dash(), &mut self.player) {
            (Some(dash), Some(player)) if outcome == Outcome::Finished => {
                player.handle_media(at, dash.segment);
                player.room_at(at, dash.segment)
            }
            _ => at,
        }
    }

    /// Ends an operation that never began.
    fn skip(&mut self, sequence: u64, due: Instant, outcome: Outcome) {
        let operation = Operation {
            sequence,
            due,
            outcome,
            ..Operation::default()
        };
        self.operations.push_back(operation);
        self.test_ended(self.now, &operation, None);
    }

    /// Ends an operation in flight, cancels its remaining objects, and begins the queued operation.
    pub(super) fn end(&mut self, sequence: u64, at: Option<Instant>, outcome: Outcome, far: Option<RemoteTimestamps>) {
        let Some(operation) = self.in_flight.remove(&sequence) else {
            return;
        };
        let has_ended = |packet: &(Instant, u64)| !self.in_flight.contains_key(&packet.1);
        while self.sent.front().is_some_and(has_ended) {
            self.sent.pop_front();
        }
        for (id, slot) in operation.awaited() {
            if !self.config.kind().is_datagram() {
                self.actions.push_back(Action::Cancel(id));
            }
            if let Some(slot) = slot {
                self.slots.release(slot);
            }
        }
        let operation = operation.ended(at, outcome, far);
        self.operations.push_back(operation);
        let ended = at.unwrap_or(self.now);
        let next = self.play_segment(ended, outcome);
        self.schedule.ended(next, outcome == Outcome::Finished);
        if let Some(loads) = &mut self.loads {
            let load = loads.ended(sequence, ended, outcome == Outcome::Finished);
            self.test_ended(ended, &operation, load);
        }
        if let Some((sequence, due)) = self.waiting.take_if(|_| self.lifetime.phase == Phase::Running) {
            self.begin(sequence, due);
        }
        self.settle_if_idle();
    }

    /// Times out the operation with the oldest progress.
    fn expire_oldest(&mut self, at: Instant) {
        let oldest = if self.config.kind().is_one_way() {
            self.sent.front().map(|(_, sequence)| *sequence)
        } else {
            let oldest = self.in_flight.values().min_by_key(|o| (o.progress, o.sequence()));
            oldest.map(InFlight::sequence)
        };
        if let Some(sequence) = oldest {
            self.end(sequence, Some(at), Outcome::TimedOut, None);
        }
    }

    /// End of a window that is not the last one.
    fn pause(&mut self) {
        let at = self.lifetime.window.to;
        self.drop_waiting(at);
        self.cancel_bulk(at);
        self.lifetime.window = self.lifetime.upcoming.next().unwrap_or(Window {
            from: self.lifetime.end,
            to: self.lifetime.end,
        });
        self.schedule.restart(self.lifetime.window.from);
        if let Some(loads) = &mut self.loads {
            loads.restart(self.lifetime.window.from);
        }
    }

    /// End of the last window: no new operation begins.
    fn stop(&mut self) {
        self.lifetime.phase = Phase::Draining;
        self.drop_waiting(self.lifetime.end);
        if self.lifetime.stops_early {
            self.cancel_bulk(self.lifetime.end);
        }
        if let Some(player) = &mut self.player {
            player.stop(self.lifetime.end);
        }
        self.settle_if_idle();
    }

    /// Drops the queued operation at the end of a window.
    fn drop_waiting(&mut self, at: Instant) {
        if let Some((sequence, due)) = self.waiting.take() {
            let outcome = self.final_outcome(due, at);
            self.skip(sequence, due, outcome);
        }
    }

    /// Ends the objects of a bulk transfer at the end of a window. Other operations in flight can finish.
    fn cancel_bulk(&mut self, at: Instant) {
        if self.config.bulk().is_some() {
            self.end_all(at, |_| true);
        } else if self.loads.is_some() {
            self.end_loads(at);
        }
    }

    fn end_loads(&mut self, at: Instant) {
        self.end_all(at, |sequence| Part::from_sequence(sequence) == Part::Load);
    }

    /// Load continues until the last probe has ended.
    fn settle_if_idle(&mut self) {
        if self.lifetime.phase != Phase::Draining {
            return;
        }
        if self.loads.is_some() && self.limited_in_flight() == 0 && !self.in_flight.is_empty() {
            // Ends with a call of this function.
            self.end_loads(self.now);
            return;
        }
        if self.in_flight.is_empty() {
            self.lifetime.phase = Phase::Settled;
        }
    }

    /// End of the drain: operations in flight don't finish.
    fn settle(&mut self) {
        self.end_all(self.lifetime.settle, |_| true);
        self.settle_if_idle();
    }

    /// Ends the selected operations in flight, which can't finish any more at `at`.
    fn end_all(&mut self, at: Instant, is_selected: fn(u64) -> bool) {
        for (sequence, due) in self
            .in_flight
            .values()
            .map(|o| (o.sequence(), o.due()))
            .filter(|(sequence, _)| is_selected(*sequence))
            .collect::<Vec<_>>()
        {
            let outcome = self.final_outcome(due, at);
            self.end(sequence, None, outcome, None);
        }
    }

    /// Outcome of an operation that can't finish any more at `at`: a goal miss if it is older than
    /// its goal.
    fn final_outcome(&self, due: Instant, at: Instant) -> Outcome {
        let age = at.checked_since(due).unwrap_or_default();
        match self.config.latency_limit() {
            Some(limit) if age > limit => Outcome::Unfinished,
            _ => Outcome::Cut,
        }
    }

    /// Request in flight that has `id` as an unfinished object. A packet that is not answered is no request.
    pub(super) fn awaiting_request(&mut self, id: RequestId) -> Option<&mut InFlight> {
        if self.config.kind().is_one_way() {
            return None;
        }
        self.awaiting(id)
    }

    /// Operation in flight that has `id` as an unfinished object.
    pub(super) fn awaiting(&mut self, id: RequestId) -> Option<&mut InFlight> {
        let operation = self.in_flight.get_mut(&id.operation)?;
        operation.awaits(id.object).then_some(operation)
    }
}
