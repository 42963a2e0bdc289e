//! Rows between measurement and acknowledgement: batched into numbered messages, which are kept until the
//! controller acknowledges them.

use crate::spool::Writer;
use netburn_protocol::messages::standing::LateResultsEnd;
use netburn_protocol::messages::{Batch, Rows};
use netburn_record::Row;
use std::collections::VecDeque;
use std::fs::File;
use std::io;

/// Maximum number of unacknowledged messages.
const MAX_UNACKED: u64 = 512;
/// Maximum number of rows in memory if the disk is full: about 30 MB.
pub(crate) const MAX_MEMORY_ROWS: usize = 200_000;
/// Number of messages that stay in memory beside the spool, so that they need not be read again.
const MAX_CACHED_MESSAGES: usize = 16;

/// Rows of one agent in one run.
///
/// **Call order:** [`put`](Self::put) rows; [`seal`](Self::seal) several times a second;
/// [`take_next`](Self::take_next) while the connection accepts messages;
/// [`acknowledged`](Self::acknowledged) for each acknowledgement; [`rewind`](Self::rewind) after a
/// reconnect.
#[derive(Debug)]
pub(crate) struct Outbox {
    batch: Batch,
    /// Sequence number of the last message.
    sequence: u64,
    /// Sequence number of the next message to send.
    next: u64,
    /// Unacknowledged messages, in order.
    held: VecDeque<Held>,
    rows: usize,
    store: Store,
    /// Number of rows dropped for lack of space.
    lost: u64,
}

#[derive(Debug)]
struct Held {
    sequence: u64,
    rows: usize,
    message: Option<Rows>,
}

/// Storage of messages that may have to be sent again.
#[derive(Debug)]
enum Store {
    /// None, because there is only one connection.
    Nowhere,
    /// On disk.
    Spool(Writer),
    /// In memory: messages after the last that fitted on the disk.
    Memory(Option<Writer>),
}

impl Outbox {
    /// For a single connection.
    pub(crate) fn once() -> Outbox {
        Outbox::with(Store::Nowhere)
    }

    /// With messages on disk.
    pub(crate) fn spooled(writer: Writer) -> Outbox {
        let sequence = writer.messages();
        let held = (1..=sequence).map(|sequence| Held {
            sequence,
            rows: 1,
            message: None,
        });
        Outbox {
            sequence,
            held: held.collect(),
            rows: usize::try_from(sequence).unwrap_or(usize::MAX),
            ..Outbox::with(Store::Spool(writer))
        }
    }

    /// With messages in memory, up to the limit.
    pub(crate) fn remembered() -> Outbox {
        Outbox::with(Store::Memory(None))
    }

    fn with(store: Store) -> Outbox {
        Outbox {
            batch: Batch::default(),
            sequence: 0,
            next: 1,
            held: VecDeque::new(),
            rows: 0,
            store,
            lost: 0,
        }
    }

    /// Adds a row to the next message. Returns `true` if the message is full and must be sealed.
    pub(crate) fn put(&mut self, row: &Row) -> bool {
        if matches!(self.store, Store::Memory(_)) && self.rows + self.batch.len() >= MAX_MEMORY_ROWS {
            self.lost += 1;
            return false;
        }
        self.batch.push(row);
        self.batch.is_full()
    }

    /// Closes the current message.
    ///
    /// # Errors
    /// Once, if the disk is full. Further messages are kept in memory.
    pub(crate) fn seal(&mut self) -> io::Result<()> {
        if self.batch.is_empty() {
            return Ok(());
        }
        let batch = std::mem::take(&mut self.batch);
        self.sequence += 1;
        let (sequence, rows) = (self.sequence, batch.len());
        let message = Rows { sequence, batch };
        let written = match &mut self.store {
            Store::Spool(writer) => writer.rows(&message),
            Store::Nowhere | Store::Memory(_) => Ok(()),
        };
        if written.is_err()
            && let Store::Spool(writer) = std::mem::replace(&mut self.store, Store::Memory(None))
        {
            self.store = Store::Memory(Some(writer));
        }
        let fresh = sequence - self.next < MAX_CACHED_MESSAGES as u64;
        let keep = fresh || !matches!(self.store, Store::Spool(_));
        self.rows += rows;
        self.held.push_back(Held {
            sequence,
            rows,
            message: keep.then_some(message),
        });
        written
    }

    /// Returns whether there is a message to send.
    pub(crate) fn has_next(&self) -> bool {
        let first = self.held.front().map_or(self.next, |held| held.sequence);
        let bounded = !matches!(self.store, Store::Nowhere);
        self.next <= self.sequence && !(bounded && self.next >= first.saturating_add(MAX_UNACKED))
    }

    /// Returns the next message to send.
    ///
    /// # Errors
    /// If the message can't be read from disk.
    pub(crate) fn take_next(&mut self) -> io::Result<Option<Rows>> {
        if !self.has_next() {
            return Ok(None);
        }
        let first = self.held.front().map_or(self.next, |held| held.sequence);
        let place = self.next.checked_sub(first).and_then(|at| usize::try_from(at).ok());
        let held = place.and_then(|at| self.held.get_mut(at));
        let in_memory = match (&self.store, held) {
            (Store::Memory(_), Some(held)) => held.message.clone(),
            (_, Some(held)) => held.message.take(),
            (_, None) => None,
        };
        let message = match (in_memory, &mut self.store) {
            (Some(message), _) => Some(message),
            (None, Store::Spool(writer) | Store::Memory(Some(writer))) => writer.message(self.next)?,
            (None, Store::Nowhere | Store::Memory(None)) => None,
        };
        let message =
            message.ok_or_else(|| io::Error::other(format!("rows {} are missing in the spool", self.next)))?;
        self.next += 1;
        Ok(Some(message))
    }

    /// Returns whether a sent message is not acknowledged.
    pub(crate) fn is_owed(&self) -> bool {
        self.next > self.held.front().map_or(self.next, |held| held.sequence)
    }

    /// Handles an acknowledgement of all messages up to `sequence`.
    pub(crate) fn acknowledged(&mut self, sequence: u64) {
        while let Some(held) = self.held.front().filter(|held| held.sequence <= sequence) {
            self.rows -= held.rows;
            self.held.pop_front();
        }
        self.next = self.next.max(sequence.min(self.sequence) + 1);
    }

    /// After a reconnect: the controller has received all messages up to `taken`.
    pub(crate) fn rewind(&mut self, taken: u64) {
        self.next = taken.min(self.sequence) + 1;
    }

    /// Number of unacknowledged rows.
    pub(crate) fn pending(&self) -> u64 {
        (self.rows + self.batch.len()) as u64
    }

    /// Number of dropped rows since the last call.
    pub(crate) fn take_lost(&mut self) -> u64 {
        let room = self.rows + self.batch.len() < MAX_MEMORY_ROWS / 2;
        if room { std::mem::take(&mut self.lost) } else { 0 }
    }

    /// File to sync, if there are unsynced messages.
    pub(crate) fn unsynced(&mut self) -> Option<File> {
        match &mut self.store {
            Store::Spool(writer) | Store::Memory(Some(writer)) => writer.unsynced(),
            Store::Nowhere | Store::Memory(None) => None,
        }
    }

    /// Stores how the part ended. On a full disk this is lost.
    pub(crate) fn end(&mut self, end: &LateResultsEnd) {
        if let Store::Spool(writer) = &mut self.store
            && let Err(error) = writer.end(end)
        {
            tracing::warn!(%error, "the end of the part can't be stored");
        }
    }

    /// Deletes the stored messages, because the controller has all of them.
    pub(crate) fn discard(self) {
        match self.store {
            Store::Spool(writer) | Store::Memory(Some(writer)) => writer.remove(),
            Store::Nowhere | Store::Memory(None) => {}
        }
    }

    /// Simulates a full disk.
    #[cfg(test)]
    pub(crate) fn fill_disk(&mut self) {
        if let Store::Spool(writer) = &mut self.store {
            writer.fill_disk();
        }
    }

    /// Returns whether unacknowledged messages stay on disk.
    pub(crate) fn is_kept(&self) -> bool {
        matches!(self.store, Store::Spool(_) | Store::Memory(Some(_)))
    }
}
