//! Rows from where they are measured to where they are kept: gathered into messages, each with a number, held until the
//! controller says that it keeps them.

use crate::protocol::standing::LateResultsEnd;
use crate::protocol::{Batch, Rows};
use crate::spool::Writer;
use netburn_record::Row;
use std::collections::VecDeque;
use std::fs::File;
use std::io;

/// The most messages under way that the controller has not said it keeps.
const WINDOW: u64 = 512;
/// The most rows that are held in memory where there is no room on the disk: some 30 MB.
pub(crate) const MAX_MEMORY_ROWS: usize = 200_000;
/// Messages that stay in memory beside the spool, to be sent without being read again.
const MAX_CACHED_MESSAGES: usize = 16;

/// The rows of one participant in one run.
///
/// **Call order:** [`put`](Self::put) rows; [`seal`](Self::seal) several times a second; [`take_next`](Self::take_next)
/// while there is a connection that takes them; [`acknowledged`](Self::acknowledged) and, on a new connection,
/// [`rewind`](Self::rewind), as the controller says.
#[derive(Debug)]
pub(crate) struct Outbox {
    batch: Batch,
    /// The last message.
    sequence: u64,
    /// The next to be sent.
    next: u64,
    /// Those not acknowledged, in order.
    held: VecDeque<Held>,
    rows: usize,
    store: Store,
    /// Rows that nothing had room for.
    lost: u64,
}

#[derive(Debug)]
struct Held {
    sequence: u64,
    rows: usize,
    message: Option<Rows>,
}

/// Where messages are that were sent and may have to be sent again.
#[derive(Debug)]
enum Store {
    /// Nowhere: there is one connection.
    Nowhere,
    /// On the disk.
    Spool(Writer),
    /// In memory, those after the last that the disk had room for.
    Memory(Option<Writer>),
}

impl Outbox {
    /// For a connection that there is only once.
    pub(crate) fn once() -> Outbox {
        Outbox::with(Store::Nowhere)
    }

    /// With what was sent on a disk.
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

    /// With what was sent in memory, as much as has room there.
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

    /// Puts a row into the next message. True: it is full, and to be sealed.
    pub(crate) fn put(&mut self, row: &Row) -> bool {
        if matches!(self.store, Store::Memory(_)) && self.rows + self.batch.len() >= MAX_MEMORY_ROWS {
            self.lost += 1;
            return false;
        }
        self.batch.push(row);
        self.batch.is_full()
    }

    /// Makes a message of what there is.
    ///
    /// # Errors
    /// When the disk takes no more, once: from then on messages are in memory.
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

    /// Whether there is something to send.
    pub(crate) fn has_next(&self) -> bool {
        let first = self.held.front().map_or(self.next, |held| held.sequence);
        let bounded = !matches!(self.store, Store::Nowhere);
        self.next <= self.sequence && !(bounded && self.next >= first.saturating_add(WINDOW))
    }

    /// The next message to send.
    ///
    /// # Errors
    /// When it can't be read from the disk.
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
        let message = message.ok_or_else(|| io::Error::other(format!("rows {} are gone", self.next)))?;
        self.next += 1;
        Ok(Some(message))
    }

    /// Whether something was sent that the controller should have acknowledged by and by.
    pub(crate) fn is_owed(&self) -> bool {
        self.next > self.held.front().map_or(self.next, |held| held.sequence)
    }

    /// The controller keeps everything up to with this number.
    pub(crate) fn acknowledged(&mut self, sequence: u64) {
        while let Some(held) = self.held.front().filter(|held| held.sequence <= sequence) {
            self.rows -= held.rows;
            self.held.pop_front();
        }
        self.next = self.next.max(sequence.min(self.sequence) + 1);
    }

    /// On a new connection: the controller has taken everything up to with this number.
    pub(crate) fn rewind(&mut self, taken: u64) {
        self.next = taken.min(self.sequence) + 1;
    }

    /// Rows that the controller has not said it keeps.
    pub(crate) fn pending(&self) -> u64 {
        (self.rows + self.batch.len()) as u64
    }

    /// Rows that nothing had room for since this was last asked.
    pub(crate) fn take_lost(&mut self) -> u64 {
        let room = self.rows + self.batch.len() < MAX_MEMORY_ROWS / 2;
        if room { std::mem::take(&mut self.lost) } else { 0 }
    }

    /// What is to be synced, if anything is.
    pub(crate) fn unsynced(&mut self) -> Option<File> {
        match &mut self.store {
            Store::Spool(writer) | Store::Memory(Some(writer)) => writer.unsynced(),
            Store::Nowhere | Store::Memory(None) => None,
        }
    }

    /// Notes on the disk how it ended. Where the disk is full, nobody will know.
    pub(crate) fn end(&mut self, end: &LateResultsEnd) {
        if let Store::Spool(writer) = &mut self.store
            && let Err(error) = writer.end(end)
        {
            tracing::warn!(%error, "how it ended can't be kept");
        }
    }

    /// All is said and kept elsewhere.
    pub(crate) fn discard(self) {
        match self.store {
            Store::Spool(writer) | Store::Memory(Some(writer)) => writer.remove(),
            Store::Nowhere | Store::Memory(None) => {}
        }
    }

    /// From now on the disk takes no more.
    #[cfg(test)]
    pub(crate) fn fill_disk(&mut self) {
        if let Store::Spool(writer) = &mut self.store {
            writer.fill_disk();
        }
    }

    /// Whether what isn't acknowledged stays on the disk.
    pub(crate) fn is_kept(&self) -> bool {
        matches!(self.store, Store::Spool(_) | Store::Memory(Some(_)))
    }
}
