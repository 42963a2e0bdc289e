//! Lifecycle of operations: due, start, timeout, end, and settling.

use super::action::{Action, Connection, Request, RequestId, Wake};
use super::in_flight::InFlight;
use super::{Phase, Workload};
use crate::config::{Connections, Kind, Window};
use crate::direction::Direction;
use crate::operation::{Operation, Outcome, RemoteTimestamps};
use netburn_units::Instant;

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
        let running = self.phase == Phase::Running;
        let end = self.window.to.min(self.end);
        self.schedule.next().filter(|due| running && *due < end)
    }

    pub(super) fn next_timeout(&self) -> Option<Instant> {
        let oldest = if self.config.kind.is_one_way() {
            self.sent.front()?.0
        } else {
            self.in_flight.values().map(|operation| operation.progress).min()?
        };
        oldest.checked_add(self.config.timeout)
    }

    fn handle_due(&mut self, due: Instant) {
        let sequence = self.schedule.fell_due().unwrap_or(self.sequence);
        self.sequence += 1;
        if self.overloaded && self.schedule.is_fixed() {
            self.operations.push_back(not_begun(sequence, due, Outcome::NotStarted));
        } else if self.config.kind.is_one_way() || self.in_flight.len() < self.config.max_in_flight() as usize {
            self.begin(sequence, due);
        } else if self.config.kind == Kind::Pages && self.waiting.is_none() {
            self.waiting = Some((sequence, due));
        } else {
            self.operations.push_back(not_begun(sequence, due, Outcome::NotStarted));
        }
    }

    fn begin(&mut self, sequence: u64, due: Instant) {
        let size = self.config.object_size;
        let mut operation = InFlight::new(sequence, due, self.now);
        if self.config.kind.is_datagram() {
            let id = RequestId {
                operation: sequence,
                object: 0,
            };
            operation.begin(None);
            self.actions.push_back(if self.config.kind.is_one_way() {
                self.sent.push_back((self.now, sequence));
                let direction = Direction::of_packet(sequence);
                Action::SendOneWay {
                    id,
                    due,
                    size: self.config.packet_size(direction),
                    direction,
                }
            } else {
                Action::Send { id, due, size }
            });
        } else {
            for object in 0..self.config.objects.max(1) {
                let slot = match self.config.connections {
                    Connections::New => None,
                    Connections::Keep => Some(self.slots.take()),
                };
                operation.begin(slot);
                self.actions.push_back(Action::Begin(Request {
                    id: RequestId {
                        operation: sequence,
                        object,
                    },
                    due,
                    connection: slot.map_or(Connection::New, Connection::Kept),
                    direction: match self.config.kind {
                        Kind::Upload => Direction::Up,
                        _ => Direction::Down,
                    },
                    size,
                    marking: self.config.marking(),
                }));
            }
        }
        self.in_flight.insert(sequence, operation);
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
            if !self.config.kind.is_datagram() {
                self.actions.push_back(Action::Cancel(id));
            }
            if let Some(slot) = slot {
                self.slots.release(slot);
            }
        }
        self.operations.push_back(operation.ended(at, outcome, far));
        self.schedule
            .ended(at.unwrap_or(self.now), outcome == Outcome::Finished);
        if let Some((sequence, due)) = self.waiting.take_if(|_| self.phase == Phase::Running) {
            self.begin(sequence, due);
        }
        self.settle_if_idle();
    }

    /// Times out the operation with the oldest progress.
    fn expire_oldest(&mut self, at: Instant) {
        let oldest = if self.config.kind.is_one_way() {
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
        let at = self.window.to;
        self.drop_waiting(at);
        self.cancel_bulk(at);
        self.window = self.upcoming.next().unwrap_or(Window {
            from: self.end,
            to: self.end,
        });
        self.schedule.restart(self.window.from);
    }

    /// End of the last window: no new operation begins.
    fn stop(&mut self) {
        self.phase = Phase::Draining;
        self.drop_waiting(self.end);
        if self.stops_early {
            self.cancel_bulk(self.end);
        }
        if let Some(player) = &mut self.player {
            player.stop(self.end);
        }
        self.settle_if_idle();
    }

    /// Drops the queued operation at the end of a window.
    fn drop_waiting(&mut self, at: Instant) {
        if let Some((sequence, due)) = self.waiting.take() {
            let outcome = self.final_outcome(due, at);
            self.operations.push_back(not_begun(sequence, due, outcome));
        }
    }

    /// Ends the objects of a bulk transfer at the end of a window. Other operations in flight can finish.
    fn cancel_bulk(&mut self, at: Instant) {
        if self.config.kind.is_bulk() {
            self.end_all(at);
        }
    }

    fn settle_if_idle(&mut self) {
        if self.phase == Phase::Draining && self.in_flight.is_empty() {
            self.phase = Phase::Settled;
        }
    }

    /// End of the drain: operations in flight don't finish.
    fn settle(&mut self) {
        self.end_all(self.settle);
        self.settle_if_idle();
    }

    /// Ends all operations in flight, which can't finish any more at `at`.
    fn end_all(&mut self, at: Instant) {
        for (sequence, due) in self
            .in_flight
            .values()
            .map(|o| (o.sequence(), o.due()))
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
        if self.config.kind.is_one_way() {
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

/// An operation that never began.
fn not_begun(sequence: u64, due: Instant, outcome: Outcome) -> Operation {
    Operation {
        sequence,
        due,
        started: None,
        connected: None,
        first_byte: None,
        finished: None,
        bytes: 0,
        outcome,
        far: None,
    }
}
