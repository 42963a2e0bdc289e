//! What happens when its time has come: operations fall due, begin, time out, end, and are settled.

use super::action::{Action, Connection, Direction, Request, RequestId, Wake};
use super::under_way::UnderWay;
use super::{Phase, Workload};
use crate::config::{Connections, Goal, Kind};
use crate::operation::{FarTimes, Operation, Outcome};
use netburn_units::Instant;

impl Workload {
    /// Takes what fell due before an input at `now`; gives the input's time.
    pub(super) fn catch_up(&mut self, now: Instant) -> Instant {
        self.now = self.now.max(now);
        while let Some((at, wake)) = self.poll_timeout().filter(|(at, _)| *at < self.now) {
            self.pass(at, wake);
        }
        self.now
    }

    /// One thing happens at its time `at`, which is `self.now` or earlier.
    pub(super) fn pass(&mut self, at: Instant, wake: Wake) {
        match wake {
            Wake::Due => self.fall_due(at),
            Wake::TimeOut => self.time_out(at),
            Wake::Stall => {
                if let Some(player) = &mut self.player {
                    player.handle_timeout(at);
                }
            }
            Wake::End => self.stop(),
            Wake::Settle => self.settle(),
        }
    }

    /// What may begin at the very instant of an input that made room for it.
    pub(super) fn begin_due(&mut self) {
        while let Some(at) = self.next_due().filter(|at| *at <= self.now) {
            self.fall_due(at);
        }
    }

    pub(super) fn next_due(&self) -> Option<Instant> {
        let running = self.phase == Phase::Running;
        self.schedule.next().filter(|due| running && *due < self.end)
    }

    pub(super) fn next_time_out(&self) -> Option<Instant> {
        let stalest = self.under_way.values().map(|operation| operation.progress).min()?;
        stalest.checked_add(self.config.timeout)
    }

    fn fall_due(&mut self, due: Instant) {
        self.schedule.fell_due();
        let sequence = self.sequence;
        self.sequence += 1;
        if self.overloaded && self.schedule.is_fixed() {
            self.operations.push_back(unbegun(sequence, due, Outcome::NotStarted));
        } else if self.under_way.len() < self.config.outstanding.max(1) as usize {
            self.begin(sequence, due);
        } else if self.config.kind == Kind::Pages && self.waiting.is_none() {
            self.waiting = Some((sequence, due));
        } else {
            self.operations.push_back(unbegun(sequence, due, Outcome::NotStarted));
        }
    }

    /// Begins an operation now.
    fn begin(&mut self, sequence: u64, due: Instant) {
        let size = self.config.object_size;
        let mut operation = UnderWay::new(sequence, due, self.now);
        if self.config.kind == Kind::Probe {
            let id = RequestId {
                operation: sequence,
                object: 0,
            };
            operation.begin(None);
            self.actions.push_back(Action::Send { id, due, size });
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
                    priority: self.config.priority,
                }));
            }
        }
        self.under_way.insert(sequence, operation);
    }

    /// Ends an operation under way, gives up what is left of it, and begins the one that waited for it.
    pub(super) fn end(&mut self, sequence: u64, at: Option<Instant>, outcome: Outcome, far: Option<FarTimes>) {
        let Some(operation) = self.under_way.remove(&sequence) else {
            return;
        };
        for (id, slot) in operation.awaited() {
            if self.config.kind != Kind::Probe {
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

    /// Gives up the operation that has been without progress the longest.
    fn time_out(&mut self, at: Instant) {
        let stalest = self.under_way.values().min_by_key(|o| (o.progress, o.sequence()));
        if let Some(sequence) = stalest.map(UnderWay::sequence) {
            self.end(sequence, Some(at), Outcome::TimedOut, None);
        }
    }

    /// The end: nothing new begins, and what waits never will.
    fn stop(&mut self) {
        self.phase = Phase::Draining;
        if let Some((sequence, due)) = self.waiting.take() {
            let outcome = self.left_over(due, self.end);
            self.operations.push_back(unbegun(sequence, due, outcome));
        }
        if let Some(player) = &mut self.player {
            player.stop(self.end);
        }
        self.settle_if_idle();
    }

    fn settle_if_idle(&mut self) {
        if self.phase == Phase::Draining && self.under_way.is_empty() {
            self.phase = Phase::Settled;
        }
    }

    /// The end of the drain: what is under way never finishes.
    fn settle(&mut self) {
        for (sequence, due) in self
            .under_way
            .values()
            .map(|o| (o.sequence(), o.due()))
            .collect::<Vec<_>>()
        {
            let outcome = self.left_over(due, self.settle);
            self.end(sequence, None, outcome, None);
        }
        self.settle_if_idle();
    }

    /// What became of an operation that can't finish any more at `at`: a miss if it is older than its goal by then.
    fn left_over(&self, due: Instant, at: Instant) -> Outcome {
        let limit = self.config.goals.iter().filter_map(|goal| match goal {
            Goal::Latency { limit } => Some(*limit),
            Goal::Rate { .. } | Goal::NoStall => None,
        });
        let age = at.checked_since(due).unwrap_or_default();
        match limit.min() {
            Some(limit) if age > limit => Outcome::Unfinished,
            _ => Outcome::Cut,
        }
    }

    /// The operation under way that `id` is an unfinished object of.
    pub(super) fn awaiting(&mut self, id: RequestId) -> Option<&mut UnderWay> {
        let operation = self.under_way.get_mut(&id.operation)?;
        operation.awaits(id.object).then_some(operation)
    }
}

/// An operation that never began.
fn unbegun(sequence: u64, due: Instant, outcome: Outcome) -> Operation {
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
