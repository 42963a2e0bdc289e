//! Workloads of a page that is reloaded during the run.
//!
//! Operations that were in flight have failed, because a reload aborts their requests. Operations that were due meanwhile were
//! not started. A player loses the content of its buffer.

use crate::load::Load;
use netburn_units::{Instant, Seed};
use netburn_workload::{Failure, Operation, Outcome, Workload};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};

/// Operations of one workload, as far as its outputs show them.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub(crate) struct Progress {
    /// Number after the highest that was begun or has ended.
    next: u64,
    /// Smaller numbers of which nothing is known: a page that waits for others.
    waiting: BTreeSet<u64>,
    /// True if operations can wait for others; else `waiting` is empty.
    #[serde(skip)]
    pub(crate) has_queue: bool,
    /// Start of the stall of a player that a reload interrupts, in ns since the start of the run.
    #[serde(default)]
    pub(crate) stall_from: Option<i64>,
    /// Operations in flight.
    in_flight: BTreeMap<u64, Begun>,
    /// Numbers of the page's machine are this much smaller, because it was created after a reload.
    #[serde(default)]
    offset: u64,
}

/// An operation in flight. Times are in ns since the start of the run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
struct Begun {
    due: i64,
    started: i64,
    first_byte: Option<i64>,
    bytes: u64,
}

impl Progress {
    /// Operation `sequence` of the machine begins.
    pub(crate) fn begin(&mut self, now: Instant, sequence: u64, due: Instant) {
        let sequence = sequence + self.offset;
        self.seen(sequence);
        self.in_flight.entry(sequence).or_insert(Begun {
            due: due.as_nanos(),
            started: now.as_nanos(),
            first_byte: None,
            bytes: 0,
        });
    }

    /// Content of an operation of the machine moved.
    pub(crate) fn handle_bytes(&mut self, now: Instant, sequence: u64, bytes: u64) {
        if let Some(begun) = self.in_flight.get_mut(&(sequence + self.offset)) {
            begun.first_byte.get_or_insert(now.as_nanos());
            begun.bytes += bytes;
        }
    }

    /// An operation of the machine has ended. Sets its number in the run.
    pub(crate) fn end(&mut self, operation: &mut Operation) {
        operation.sequence += self.offset;
        self.seen(operation.sequence);
        self.in_flight.remove(&operation.sequence);
    }

    fn seen(&mut self, sequence: u64) {
        if self.has_queue {
            self.waiting.extend(self.next..sequence);
        }
        self.waiting.remove(&sequence);
        self.next = self.next.max(sequence + 1);
    }
}

/// Continues a workload at `now`, which was saved at `saved_at`. Returns its machine, and the operations that have ended
/// meanwhile.
pub(crate) fn resume(
    load: &Load,
    seed: Seed,
    progress: &mut Progress,
    saved_at: Instant,
    now: Instant,
) -> (Workload, Vec<Operation>) {
    let mut ended: Vec<Operation> = std::mem::take(&mut progress.in_flight)
        .into_iter()
        .map(|(sequence, begun)| failed(sequence, begun, now))
        .collect();
    let machine = |start| Workload::new(load.config.clone(), start, load.end, load.settle, seed, load.index());
    if load.config.bulk().is_some() || load.config.playback().is_some() {
        // An operation of these workloads is due at the end of the previous one.
        progress.offset = progress.next;
        let mut machine = machine(load.start.max(now).min(load.end));
        // After the end of the load nothing begins, and its timeout is no suspension.
        if load.end <= now {
            machine.handle_timeout(now);
        }
        return (machine, ended);
    }
    let mut machine = machine(load.start);
    machine.set_overloaded(true);
    machine.handle_timeout(now);
    machine.set_overloaded(false);
    while let Some(operation) = machine.poll_operation() {
        let is_new = if load.config.has_queue() {
            operation.sequence >= progress.next || progress.waiting.contains(&operation.sequence)
        } else {
            operation.due > saved_at
        };
        if is_new {
            ended.push(Operation {
                outcome: Outcome::NotStarted,
                ..operation
            });
        }
    }
    (machine, ended)
}

fn failed(sequence: u64, begun: Begun, now: Instant) -> Operation {
    Operation {
        sequence,
        due: Instant::from_nanos(begun.due),
        started: Some(Instant::from_nanos(begun.started)),
        first_byte: begun.first_byte.map(Instant::from_nanos),
        finished: Some(now),
        bytes: begun.bytes,
        outcome: Outcome::Failed(Failure::Stopped),
        ..Operation::default()
    }
}
