//! Rows between measurement and acknowledgement: batched into numbered messages, which are kept until the
//! controller acknowledges them.

#[cfg(test)]
mod tests;

use super::spool_queue::{MAX_MEMORY_ROWS, Reply, SpoolQueue};
use crate::spool::Writer;
use netburn_protocol::messages::standing::LateResultsEnd;
use netburn_protocol::messages::{Batch, Rows};
use netburn_record::Row;
use std::collections::VecDeque;
use std::io;
use std::sync::Arc;

/// Maximum number of unacknowledged messages.
const MAX_UNACKED: u64 = 512;
/// Number of messages that stay in memory beside the spool, so that they need not be read again.
const MAX_CACHED_MESSAGES: u64 = 16;

/// Rows of one agent in one run. No function blocks: a thread writes and reads the spool.
///
/// **Call order:** [`put`](Self::put) rows; [`seal`](Self::seal) several times a second;
/// [`take_next`](Self::take_next) while the connection accepts messages;
/// [`handle_disk`](Self::handle_disk) whenever the task waits;
/// [`acknowledged`](Self::acknowledged) for each acknowledgement; [`rewind`](Self::rewind) after a
/// reconnect. At the end [`close`](Self::close) or [`discard`](Self::discard).
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
    /// Reason for which further messages are kept in memory, until it is reported.
    storage_error: Option<io::Error>,
    /// Error of reading a message that is to be sent.
    read_error: Option<io::Error>,
    /// Number of rows dropped for lack of space.
    lost: u64,
}

#[derive(Debug)]
struct Held {
    sequence: u64,
    rows: usize,
    /// The thread has the same message until it is in the file.
    message: Option<Arc<Rows>>,
}

/// Storage of messages that may have to be sent again.
#[derive(Debug)]
enum Store {
    /// None, because there is only one connection.
    Nowhere,
    /// On disk. A message also stays in memory until it is in the file.
    Spool(SpoolQueue),
    /// In memory: messages after the last that fitted on the disk.
    Memory(Option<SpoolQueue>),
}

impl Outbox {
    /// For a single connection.
    pub(crate) fn once() -> Outbox {
        Outbox::with(Store::Nowhere)
    }

    /// With messages on disk. Must be called within a runtime.
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
            ..Outbox::with(Store::Spool(SpoolQueue::start(writer)))
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
            storage_error: None,
            read_error: None,
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
    pub(crate) fn seal(&mut self) {
        if self.batch.is_empty() {
            return;
        }
        let batch = std::mem::take(&mut self.batch);
        self.sequence += 1;
        let (sequence, rows) = (self.sequence, batch.len());
        let message = Arc::new(Rows { sequence, batch });
        if let Store::Spool(spool) = &mut self.store
            && let Err(error) = spool.append(&message)
        {
            self.stop_storing(error);
        }
        self.rows += rows;
        self.held.push_back(Held {
            sequence,
            rows,
            message: Some(message),
        });
    }

    /// Reason for which further messages are kept in memory: once, if the disk is full or too slow.
    pub(crate) fn take_storage_error(&mut self) -> Option<io::Error> {
        self.storage_error.take()
    }

    /// Returns whether there is a message to send. While a message is read from disk there is none.
    pub(crate) fn has_next(&self) -> bool {
        let first = self.held.front().map_or(self.next, |held| held.sequence);
        let bounded = !matches!(self.store, Store::Nowhere);
        self.next <= self.sequence
            && !(bounded && self.next >= first.saturating_add(MAX_UNACKED))
            && !self.store.spool().is_some_and(SpoolQueue::is_reading)
    }

    /// Returns the next message to send; `None` if there is none, or if it must be read from disk first.
    ///
    /// # Errors
    /// If the message can't be read from disk.
    pub(crate) fn take_next(&mut self) -> io::Result<Option<Rows>> {
        if !self.has_next() {
            return Ok(None);
        }
        if let Some(error) = self.read_error.take() {
            return Err(error);
        }
        let next = self.next;
        let is_needed_again = match &self.store {
            Store::Nowhere => false,
            Store::Spool(_) | Store::Memory(_) => !self.is_stored(next),
        };
        let message = self.held_mut(next).and_then(|held| {
            if is_needed_again {
                held.message.clone()
            } else {
                held.message.take()
            }
        });
        if let Some(message) = message {
            self.next += 1;
            return Ok(Some(Arc::unwrap_or_clone(message)));
        }
        let is_stored = self.is_stored(next);
        match self.store.spool_mut().filter(|_| is_stored) {
            Some(spool) => {
                spool.request_message(next);
                Ok(None)
            }
            None => Err(missing(next)),
        }
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

    /// Requests that all messages in the spool are synced.
    pub(crate) fn request_sync(&mut self) {
        if let Some(spool) = self.store.spool_mut() {
            spool.request_sync();
        }
    }

    /// Waits for a reply of the spool's thread and handles it; forever without a spool. Cancellation safe.
    pub(crate) async fn handle_disk(&mut self) {
        match self.store.spool_mut() {
            Some(spool) => {
                let reply = spool.reply().await;
                self.handle_reply(reply);
            }
            None => std::future::pending().await,
        }
    }

    /// Stores how the part ended. Returns when this and all messages are synced. On a full disk the end is lost.
    pub(crate) async fn end(&mut self, end: &LateResultsEnd) {
        let Store::Spool(spool) = &self.store else { return };
        spool.request_end(end);
        while let Some(spool) = self.store.spool_mut() {
            match spool.reply().await {
                Some(Reply::Ended(result)) => {
                    if let Err(error) = result {
                        tracing::warn!(%error, "the end of the part can't be stored");
                    }
                    return;
                }
                reply => self.handle_reply(reply),
            }
        }
    }

    /// Deletes the stored messages, because the controller has all of them.
    pub(crate) async fn discard(self) {
        self.store.close(true).await;
    }

    /// Closes the file with the stored messages. Returns when it can be opened for delivery.
    pub(crate) async fn close(self) {
        self.store.close(false).await;
    }

    /// Returns whether unacknowledged messages stay on disk.
    pub(crate) fn is_kept(&self) -> bool {
        self.store.spool().is_some()
    }

    fn handle_reply(&mut self, reply: Option<Reply>) {
        match reply {
            Some(Reply::Appended(sequence, _)) => {
                let cached = self.next..self.next.saturating_add(MAX_CACHED_MESSAGES);
                if !cached.contains(&sequence)
                    && let Some(held) = self.held_mut(sequence)
                {
                    held.message = None;
                }
            }
            Some(Reply::Failed(error)) => self.stop_storing(error),
            Some(Reply::Read(sequence, read)) => {
                // An acknowledged message is not needed any more.
                if let Some(held) = self.held_mut(sequence) {
                    match read {
                        Ok(Some(rows)) => held.message = Some(Arc::new(rows)),
                        Ok(None) => self.read_error = Some(missing(sequence)),
                        Err(error) => self.read_error = Some(error),
                    }
                }
            }
            Some(Reply::Synced | Reply::Ended(_)) => {}
            None => {
                self.stop_storing(io::Error::other("the thread that stores them has ended"));
                self.store = Store::Memory(None);
            }
        }
    }

    /// Keeps all messages that are not in the file, and all further ones, in memory.
    fn stop_storing(&mut self, error: io::Error) {
        self.store = match std::mem::replace(&mut self.store, Store::Nowhere) {
            Store::Spool(spool) => {
                self.storage_error = Some(error);
                Store::Memory(Some(spool))
            }
            store => store,
        };
    }

    /// Returns whether a message is in the file.
    fn is_stored(&self, sequence: u64) -> bool {
        self.store.spool().is_some_and(|spool| sequence <= spool.stored())
    }

    /// Unacknowledged message of this number.
    fn held_mut(&mut self, sequence: u64) -> Option<&mut Held> {
        let first = self.held.front()?.sequence;
        let index = usize::try_from(sequence.checked_sub(first)?).ok()?;
        self.held.get_mut(index)
    }
}

impl Store {
    /// Queue of the spool's thread, if there is a file.
    fn spool(&self) -> Option<&SpoolQueue> {
        match self {
            Store::Spool(spool) | Store::Memory(Some(spool)) => Some(spool),
            Store::Nowhere | Store::Memory(None) => None,
        }
    }

    fn spool_mut(&mut self) -> Option<&mut SpoolQueue> {
        match self {
            Store::Spool(spool) | Store::Memory(Some(spool)) => Some(spool),
            Store::Nowhere | Store::Memory(None) => None,
        }
    }

    /// Deletes the file, or closes it.
    async fn close(self, remove: bool) {
        if let Store::Spool(spool) | Store::Memory(Some(spool)) = self {
            spool.close(remove).await;
        }
    }
}

fn missing(sequence: u64) -> io::Error {
    io::Error::other(format!("rows {sequence} are missing in the spool"))
}
