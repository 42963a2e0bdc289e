//! Thread of an agent's spool. The session's task neither reads nor writes the file, so a slow disk delays neither its
//! heartbeats nor its rows.
//!
//! The thread executes all requests in order. After a message that it can't append it appends nothing more, so the
//! file contains no message without all earlier ones.

use crate::disk_queue::{DiskQueue, DiskThread, disk_queue};
use crate::spool::Writer;
use netburn_protocol::messages::Rows;
use netburn_protocol::messages::standing::LateResultsEnd;
use std::io;
use std::sync::Arc;

/// Maximum number of rows in memory if the disk is full or too slow: about 30 MB.
pub(super) const MAX_MEMORY_ROWS: usize = 200_000;

/// Request to the thread.
#[derive(Debug)]
pub(super) enum Request {
    /// Append this message.
    Append(Arc<Rows>),
    /// Read the message of this number.
    Read(u64),
    /// Sync the file.
    Sync,
    /// Append the end of the part and sync the file.
    End(Box<LateResultsEnd>),
    /// Delete the file after all requests.
    Remove,
    /// Simulate a full disk.
    #[cfg(test)]
    FillDisk,
}

/// Reply of the thread.
#[derive(Debug)]
pub(super) enum Reply {
    /// The message of this number, with this number of rows, is in the file.
    Appended(u64, usize),
    /// A message can't be appended. Neither it nor any later message is in the file.
    Failed(io::Error),
    /// The message of this number; `None` if there is none.
    Read(u64, io::Result<Option<Rows>>),
    /// The file is synced, or an error was logged.
    Synced,
    /// The end of the part is synced, or the reason why not.
    Ended(io::Result<()>),
}

/// The task's end of the queue to the thread.
#[derive(Debug)]
pub(super) struct SpoolQueue {
    queue: DiskQueue<Request, Reply>,
    /// Number of the last message in the file.
    stored: u64,
    /// Number of rows that wait for the thread.
    waiting_rows: usize,
    /// True if a requested message is not read yet.
    reading: bool,
    /// True if a requested sync is not completed.
    syncing: bool,
}

impl SpoolQueue {
    /// Starts a thread for the spool. Must be called within a runtime.
    pub(super) fn start(writer: Writer) -> SpoolQueue {
        let (queue, thread) = SpoolQueue::new(writer.messages());
        tokio::task::spawn_blocking(move || execute(writer, thread));
        queue
    }

    /// Creates a queue for a spool of `stored` messages, and the thread's end.
    pub(super) fn new(stored: u64) -> (SpoolQueue, DiskThread<Request, Reply>) {
        // No request needs a slot: the waiting rows are limited, and there is at most one request of each other kind.
        let (queue, thread) = disk_queue(0);
        let queue = SpoolQueue {
            queue,
            stored,
            waiting_rows: 0,
            reading: false,
            syncing: false,
        };
        (queue, thread)
    }

    /// Number of the last message in the file.
    pub(super) const fn stored(&self) -> u64 {
        self.stored
    }

    /// Returns whether a requested message is not read yet.
    pub(super) const fn is_reading(&self) -> bool {
        self.reading
    }

    /// Requests that a message is appended, the next in order. Does not block.
    ///
    /// # Errors
    /// If the maximum number of rows waits for the thread. Then no further message may be appended.
    pub(super) fn append(&mut self, message: &Arc<Rows>) -> io::Result<()> {
        if self.waiting_rows >= MAX_MEMORY_ROWS {
            let rows = self.waiting_rows;
            return Err(io::Error::other(format!(
                "the disk is too slow: {rows} rows wait to be written"
            )));
        }
        self.waiting_rows += message.batch.len();
        self.request(Request::Append(Arc::clone(message)));
        Ok(())
    }

    /// Requests the message of this number.
    pub(super) fn request_message(&mut self, sequence: u64) {
        self.reading = true;
        self.request(Request::Read(sequence));
    }

    /// Requests that the file is synced, unless a requested sync is not completed.
    pub(super) fn request_sync(&mut self) {
        if !self.syncing {
            self.syncing = true;
            self.request(Request::Sync);
        }
    }

    /// Requests that the end of the part is stored.
    pub(super) fn request_end(&self, end: &LateResultsEnd) {
        self.request(Request::End(Box::new(end.clone())));
    }

    /// Simulates a full disk.
    #[cfg(test)]
    pub(super) fn fill_disk(&self) {
        self.request(Request::FillDisk);
    }

    /// Waits for the next reply; `None` if the thread has ended. Cancellation safe.
    pub(super) async fn reply(&mut self) -> Option<Reply> {
        let reply = self.queue.reply().await;
        match &reply {
            Some(Reply::Appended(sequence, rows)) => {
                self.stored = *sequence;
                self.waiting_rows -= rows;
            }
            Some(Reply::Read(..)) => self.reading = false,
            Some(Reply::Synced) => self.syncing = false,
            Some(Reply::Failed(_) | Reply::Ended(_)) | None => {}
        }
        reply
    }

    /// Deletes the file, or keeps it, after all requests. Returns when the file is closed and not locked any more.
    pub(super) async fn close(mut self, remove: bool) {
        if remove {
            self.request(Request::Remove);
        }
        self.queue.finish().await;
    }

    fn request(&self, request: Request) {
        // Fails only if the thread has panicked. The end of its replies shows that.
        let _ = self.queue.put_unlimited(request);
    }
}

/// Executes requests until the queue is closed. Blocks.
fn execute(mut writer: Writer, mut thread: DiskThread<Request, Reply>) {
    let (mut failed, mut remove) = (false, false);
    while let Some(request) = thread.next() {
        match request {
            Request::Append(_) if failed => {}
            Request::Append(message) => {
                let (sequence, rows) = (message.sequence, message.batch.len());
                let appended = writer.rows(&message);
                // The session can then use its copy without cloning it.
                drop(message);
                failed = appended.is_err();
                thread.reply(match appended {
                    Ok(()) => Reply::Appended(sequence, rows),
                    Err(error) => Reply::Failed(error),
                });
            }
            Request::Read(sequence) => thread.reply(Reply::Read(sequence, writer.message(sequence))),
            Request::Sync => {
                if let Err(error) = writer.sync() {
                    tracing::warn!(%error, "the spool can't be synced");
                }
                thread.reply(Reply::Synced);
            }
            // With an end, the file would count as complete.
            Request::End(_) if failed => {
                thread.reply(Reply::Ended(Err(io::Error::other("earlier rows are not in the spool"))));
            }
            Request::End(end) => thread.reply(Reply::Ended(writer.end(&end))),
            Request::Remove => remove = true,
            #[cfg(test)]
            Request::FillDisk => writer.fill_disk(),
        }
    }
    // The lock of the file is released before the session learns of the end of the thread.
    if remove {
        writer.remove();
    } else {
        drop(writer);
    }
}
