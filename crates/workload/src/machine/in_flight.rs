//! An operation in flight: its objects and their progress.

use super::action::RequestId;
use crate::operation::{Operation, Outcome, RemoteTimestamps};
use netburn_units::Instant;

/// An operation that has begun and not ended.
#[derive(Debug)]
pub(super) struct InFlight {
    sequence: u64,
    due: Instant,
    started: Instant,
    tcp_connected: Option<Instant>,
    connected: Option<Instant>,
    first_byte: Option<Instant>,
    bytes: u64,
    /// Time of the last progress: its start, a connection, bytes, an object's end.
    pub(super) progress: Instant,
    objects: Vec<Object>,
    /// Number of objects that have not finished.
    left: u32,
}

/// One object of an operation.
#[derive(Debug, Clone, Copy)]
pub(super) struct Object {
    /// Persistent connection that it occupies.
    pub(super) slot: Option<u32>,
    pub(super) finished: bool,
}

impl InFlight {
    pub(super) fn new(sequence: u64, due: Instant, started: Instant) -> Self {
        InFlight {
            sequence,
            due,
            started,
            tcp_connected: None,
            connected: None,
            first_byte: None,
            bytes: 0,
            progress: started,
            objects: Vec::new(),
            left: 0,
        }
    }

    /// Begins one more object, on the persistent connection `slot` if any.
    pub(super) fn begin(&mut self, slot: Option<u32>) {
        self.objects.push(Object { slot, finished: false });
        self.left += 1;
    }

    /// Returns true if `object` belongs to this operation and is not finished.
    pub(super) fn awaits(&self, object: u32) -> bool {
        self.objects.get(object as usize).is_some_and(|o| !o.finished)
    }

    pub(super) fn tcp_connected(&mut self, now: Instant) {
        self.tcp_connected = Some(now);
        self.progress = now;
    }

    pub(super) fn connected(&mut self, now: Instant) {
        self.connected = Some(now);
        self.progress = now;
    }

    /// A connection was established at `at`. The last one counts.
    pub(super) fn connected_at(&mut self, at: Instant) {
        self.connected = self.connected.max(Some(at));
    }

    pub(super) fn received(&mut self, now: Instant, bytes: u64) {
        self.first_byte.get_or_insert(now);
        self.bytes = self.bytes.saturating_add(bytes);
        self.progress = now;
    }

    /// Marks an unfinished object as complete; returns its persistent connection, and true if it
    /// was the last object.
    pub(super) fn finish(&mut self, now: Instant, object: u32) -> (Option<u32>, bool) {
        let object = &mut self.objects[object as usize];
        object.finished = true;
        self.left -= 1;
        self.progress = now;
        (object.slot.take(), self.left == 0)
    }

    /// Unfinished objects.
    pub(super) fn awaited(&self) -> impl Iterator<Item = (RequestId, Option<u32>)> {
        (0..)
            .zip(&self.objects)
            .filter(|(_, o)| !o.finished)
            .map(|(object, o)| {
                let id = RequestId {
                    operation: self.sequence,
                    object,
                };
                (id, o.slot)
            })
    }

    /// Result of the operation.
    pub(super) fn ended(
        &self,
        finished: Option<Instant>,
        outcome: Outcome,
        far: Option<RemoteTimestamps>,
    ) -> Operation {
        Operation {
            sequence: self.sequence,
            due: self.due,
            started: Some(self.started),
            connected: self.connected,
            first_byte: self.first_byte,
            finished,
            bytes: self.bytes,
            outcome,
            far,
            tcp_connected: self.tcp_connected,
        }
    }

    pub(super) fn sequence(&self) -> u64 {
        self.sequence
    }

    pub(super) fn due(&self) -> Instant {
        self.due
    }
}
