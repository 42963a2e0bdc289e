//! Storage of rows on a thread of its own, so that a slow disk delays neither messages nor their timestamps.
//!
//! **Call order:** [`with_writer`] starts the thread and gives a [`RowQueue`] to the controller of a run. The controller adds rows
//! and requests syncs. The thread reports each completed sync, or the first error, after which it discards all rows.

use crate::disk_queue::{DiskQueue, DiskThread, QueueError, disk_queue};
use netburn_record::{Row, Sink};
use std::io;

/// Maximum number of rows that wait for the thread: 150 MB and their texts. More rows are a storage error.
pub const MAX_WAITING_ROWS: usize = 1 << 19;

/// Work of the thread, in order.
#[expect(clippy::large_enum_variant, reason = "almost all items are rows")]
enum Item {
    Row(Row),
    Sync,
}

/// Rows on their way to the thread that stores them.
#[derive(Debug)]
pub struct RowQueue {
    items: DiskQueue<Item, io::Result<()>>,
    syncing: bool,
}

/// The other end of a [`RowQueue`], for the thread that stores the rows.
#[derive(Debug)]
pub struct RowWriter {
    items: DiskThread<Item, io::Result<()>>,
}

/// Calls `run` on this thread. A second thread passes the rows of the queue to `sinks`, in this order. Returns when both have
/// ended; rows that are in the queue then are passed on, but not synced.
pub fn with_writer<T>(sinks: &mut [&mut (dyn Sink + Send)], run: impl FnOnce(RowQueue) -> T) -> T {
    let (queue, writer) = row_queue();
    std::thread::scope(|scope| {
        scope.spawn(|| writer.run(sinks));
        run(queue)
    })
}

/// Creates a queue.
#[must_use]
pub fn row_queue() -> (RowQueue, RowWriter) {
    let (items, waiting) = disk_queue(MAX_WAITING_ROWS);
    let queue = RowQueue { items, syncing: false };
    (queue, RowWriter { items: waiting })
}

impl RowQueue {
    /// Adds a row. Does not block.
    pub(crate) fn put(&self, row: Row) -> io::Result<()> {
        self.add(Item::Row(row))
    }

    /// Requests that all rows so far are synced. Does not block; [`result`](Self::result) returns when they are.
    pub(crate) fn request_sync(&mut self) -> io::Result<()> {
        self.syncing = true;
        self.add(Item::Sync)
    }

    /// Returns whether a requested sync has no result yet.
    pub(crate) const fn is_syncing(&self) -> bool {
        self.syncing
    }

    /// Waits for the result of the requested sync, or for a storage error. Cancellation safe.
    pub(crate) async fn result(&mut self) -> io::Result<()> {
        let result = self.items.reply().await.unwrap_or_else(|| Err(ended()));
        self.syncing = false;
        result
    }

    /// Syncs all rows and waits for the result.
    pub(crate) async fn sync(&mut self) -> io::Result<()> {
        if self.syncing {
            self.result().await?;
        }
        self.request_sync()?;
        self.result().await
    }

    fn add(&self, item: Item) -> io::Result<()> {
        self.items.try_put(item).map_err(|error| match error {
            QueueError::Full => io::Error::other(format!(
                "the disk is too slow: {MAX_WAITING_ROWS} rows wait to be written"
            )),
            QueueError::Closed => ended(),
        })
    }
}

impl RowWriter {
    /// Passes all rows to `sinks`, in this order, until the queue is dropped. Blocks.
    pub fn run(mut self, sinks: &mut [&mut (dyn Sink + Send)]) {
        while let Some(item) = self.items.next() {
            let result = match item {
                Item::Row(row) => match sinks.iter_mut().try_for_each(|sink| sink.put(&row)) {
                    Ok(()) => continue,
                    error => error,
                },
                Item::Sync => sinks.iter_mut().try_for_each(|sink| sink.sync()),
            };
            let failed = result.is_err();
            self.items.reply(result);
            if failed {
                break;
            }
        }
        // Later rows are discarded.
        while self.items.next().is_some() {}
    }
}

fn ended() -> io::Error {
    io::Error::new(io::ErrorKind::BrokenPipe, "the thread that stores rows has ended")
}

#[cfg(test)]
mod tests {
    use super::*;
    use netburn_record::{EventKind, EventRow};
    use netburn_units::Instant;

    fn row(text: &str) -> Row {
        Row::Event(EventRow {
            station: None,
            workload: None,
            at: Instant::ZERO,
            length: 0,
            kind: EventKind::Warning,
            detail: text.into(),
        })
    }

    /// A sink that stores rows, counts the synced ones, and fails when it holds `limit` rows.
    struct Limited {
        rows: Vec<Row>,
        synced: usize,
        limit: usize,
    }

    impl Sink for Limited {
        fn put(&mut self, row: &Row) -> io::Result<()> {
            if self.rows.len() == self.limit {
                return Err(io::ErrorKind::StorageFull.into());
            }
            self.rows.push(row.clone());
            Ok(())
        }

        fn sync(&mut self) -> io::Result<()> {
            self.synced = self.rows.len();
            Ok(())
        }
    }

    fn limited(limit: usize) -> Limited {
        Limited {
            rows: Vec::new(),
            synced: 0,
            limit,
        }
    }

    fn block_on<T>(future: impl Future<Output = T>) -> T {
        tokio::runtime::Builder::new_current_thread()
            .build()
            .unwrap()
            .block_on(future)
    }

    #[test]
    fn a_sync_covers_the_rows_before_it() {
        let mut sink = limited(10);
        with_writer(&mut [&mut sink], |mut queue| {
            queue.put(row("a")).unwrap();
            queue.put(row("b")).unwrap();
            block_on(queue.sync()).unwrap();
            assert!(!queue.is_syncing());
            queue.put(row("c")).unwrap();
        });
        assert_eq!(sink.rows, [row("a"), row("b"), row("c")]);
        assert_eq!(sink.synced, 2);
    }

    #[test]
    fn an_error_is_reported_once_and_later_rows_are_discarded() {
        let mut sink = limited(1);
        with_writer(&mut [&mut sink], |mut queue| {
            for text in ["a", "b", "c"] {
                queue.put(row(text)).unwrap();
            }
            let error = block_on(queue.sync()).unwrap_err();
            assert_eq!(error.kind(), io::ErrorKind::StorageFull);
            queue.put(row("d")).unwrap();
            assert!(block_on(queue.items.finish()).is_empty());
        });
        assert_eq!(sink.rows, [row("a")]);
        assert_eq!(sink.synced, 0);
    }

    #[test]
    fn a_full_queue_is_an_error() {
        let (queue, writer) = row_queue();
        for _ in 0..MAX_WAITING_ROWS {
            queue.put(row("")).unwrap();
        }
        let error = queue.put(row("")).unwrap_err();
        assert!(error.to_string().starts_with("the disk is too slow: "), "{error}");
        drop(writer);
        assert_eq!(queue.put(row("")).unwrap_err().kind(), io::ErrorKind::BrokenPipe);
    }
}
