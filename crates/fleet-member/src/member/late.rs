//! Delivery of late results over the member's standing connection.
//!
//! A thread reads and deletes the spools ([`Deliveries::run`]). The member's task passes messages to it and requests the
//! next message to send. So a slow disk delays neither heartbeats nor an agent in the same process.

use netburn_protocol::messages::standing::{FromMember, PendingResults};
use netburn_run_control::disk_queue::{DiskQueue, DiskThread};
use netburn_run_control::spool::{self, SpoolFolder, SpoolReader};
use std::collections::{BTreeMap, BTreeSet};
use std::io;

/// Maximum number of requests that wait for the thread. The connection is not read while one waits for a slot.
pub(super) const MAX_WAITING_REQUESTS: usize = 16;
/// Maximum number of unacknowledged messages.
const MAX_UNACKED: u64 = 16;

/// Queue of the thread.
pub(super) type LateQueue = DiskQueue<Request, Reply>;

/// Request to the thread.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Request {
    /// A connection will be opened. Resets the deliveries; the reply is [`Reply::Pending`].
    Connecting,
    /// The controller requests the results of this run.
    Results(String),
    /// The controller has synced the results of this run up to this message.
    Acked(String, u64),
    /// The controller rejected results.
    Rejected,
    /// The controller has added the results of this run to the record.
    Discard(String),
    /// Read the next message to send, not of this run; the reply is [`Reply::Next`].
    Next(Option<String>),
}

/// Reply of the thread.
#[expect(
    clippy::large_enum_variant,
    reason = "almost all replies are messages, one at a time"
)]
#[derive(Debug, PartialEq)]
pub(super) enum Reply {
    /// Results on the disk. All later replies belong to the new connection.
    Pending(Vec<PendingResults>),
    /// Next message to send; `None` if an acknowledgement is awaited or nothing is requested.
    Next(Option<FromMember>),
    /// The results of this run were delivered.
    Delivered(String),
}

/// Requested results, and the progress of their delivery.
pub(super) struct Deliveries {
    folder: SpoolFolder,
    requested: BTreeSet<String>,
    current: Option<Delivery>,
    /// Last acknowledged message of each run.
    acked: BTreeMap<String, u64>,
    /// Delivered runs whose spool an agent still has open.
    delivered: BTreeSet<String>,
}

struct Delivery {
    run: String,
    late: SpoolReader,
    sent: u64,
    ended: bool,
}

impl Deliveries {
    pub(super) fn new(folder: SpoolFolder) -> Deliveries {
        Deliveries {
            folder,
            requested: BTreeSet::new(),
            current: None,
            acked: BTreeMap::new(),
            delivered: BTreeSet::new(),
        }
    }

    /// Executes requests until the queue is closed. Blocks.
    pub(super) fn run(mut self, mut thread: DiskThread<Request, Reply>) {
        while let Some(request) = thread.next() {
            match request {
                Request::Connecting => {
                    self.reset();
                    thread.reply(Reply::Pending(spool::pending(&self.folder)));
                }
                Request::Results(run) => self.request(&run),
                Request::Acked(run, sequence) => self.acked(&run, sequence),
                Request::Rejected => self.rejected(),
                Request::Discard(run) => {
                    if self.discard(&run) {
                        thread.reply(Reply::Delivered(run));
                    }
                }
                Request::Next(busy) => thread.reply(Reply::Next(self.next(busy.as_deref()))),
            }
        }
    }

    /// Resets the state for a new connection: unacknowledged messages are sent again. A restarted
    /// controller may have less than its predecessor acknowledged.
    fn reset(&mut self) {
        self.acked.clear();
        self.requested.clear();
        self.delivered.clear();
        self.current = None;
    }

    /// Handles a request for the results of `run`.
    fn request(&mut self, run: &str) {
        self.requested.insert(run.to_owned());
    }

    /// Handles an acknowledgement.
    fn acked(&mut self, run: &str, sequence: u64) {
        let acked = self.acked.entry(run.to_owned()).or_default();
        *acked = sequence.max(*acked);
    }

    /// Handles a rejection. The results stay on disk.
    fn rejected(&mut self) {
        self.current = None;
    }

    /// Handles the completion of `run`. Returns whether its results were being delivered.
    fn discard(&mut self, run: &str) -> bool {
        self.requested.remove(run);
        self.acked.remove(run);
        let was = self.current.take_if(|delivery| delivery.run == run).is_some();
        self.delivered.insert(run.to_owned());
        self.delete_delivered();
        was
    }

    /// Deletes delivered spools. A spool that an agent still has open is deleted later.
    fn delete_delivered(&mut self) {
        let folder = &self.folder;
        self.delivered.retain(|run| match spool::remove(folder, run) {
            Ok(()) => false,
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => true,
            Err(error) => {
                tracing::warn!(run, %error, "a delivered spool can't be deleted");
                false
            }
        });
    }

    /// Opens the first requested run that can be delivered.
    fn open(&mut self, busy: Option<&str>) -> Option<Delivery> {
        let requested: Vec<String> = self.requested.iter().cloned().collect();
        for run in requested.into_iter().filter(|run| Some(run.as_str()) != busy) {
            let from = self.acked.get(&run).copied().unwrap_or(0) + 1;
            let opened = SpoolReader::open(&self.folder, &run, from);
            // The agent may still be syncing the spool. The request stays.
            if opened
                .as_ref()
                .is_err_and(|error| error.kind() == io::ErrorKind::WouldBlock)
            {
                continue;
            }
            self.requested.remove(&run);
            match opened {
                Ok(late) => {
                    return Some(Delivery {
                        run,
                        late,
                        sent: from - 1,
                        ended: false,
                    });
                }
                Err(error) => tracing::info!(run, %error, "nothing to deliver"),
            }
        }
        None
    }

    /// Next message to send; `None` if an acknowledgement is awaited or nothing is requested. Omits the
    /// `busy` run.
    fn next(&mut self, busy: Option<&str>) -> Option<FromMember> {
        self.delete_delivered();
        if self.current.is_none() {
            self.current = self.open(busy);
        }
        let delivery = self.current.as_mut()?;
        let acked = self.acked.get(&delivery.run).copied().unwrap_or(0);
        if delivery.ended || delivery.sent >= acked + MAX_UNACKED {
            return None;
        }
        match delivery.late.next() {
            Ok(Some(late)) => {
                delivery.sent = late.sequence;
                Some(FromMember::LateResults(late))
            }
            Ok(None) => {
                delivery.ended = true;
                Some(FromMember::LateResultsEnd(delivery.late.end()))
            }
            Err(error) => {
                tracing::warn!(run = delivery.run, %error, "results can't be read from the disk");
                self.current = None;
                None
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use netburn_protocol::messages::{Batch, Rows, Start};
    use netburn_run_control::disk_queue::disk_queue;
    use netburn_run_control::spool::{SpoolHeader, Writer};

    fn sequence(message: Option<FromMember>) -> u64 {
        match message {
            Some(FromMember::LateResults(late)) => late.sequence,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn a_new_connection_omits_acknowledged_rows_and_waits_for_locked_spools() {
        let folder = tempfile::tempdir().unwrap();
        let folder = SpoolFolder::new(folder.path().join("spool"));
        let about = SpoolHeader {
            run: "r".to_owned(),
            name: "tv".to_owned(),
            stations: vec!["tv".to_owned()],
            proof: String::new(),
        };
        let mut writer = Writer::create(&folder, &about, Start { at: 0 }).unwrap();
        for sequence in 1..=5 {
            let batch = Batch::default();
            writer.rows(&Rows { sequence, batch }).unwrap();
        }
        let mut deliveries = Deliveries::new(folder);
        // A spool that an agent still writes stays requested. A spool that does not exist is no longer requested.
        deliveries.request("a");
        deliveries.request("r");
        assert!(deliveries.next(None).is_none());
        drop(writer);
        assert_eq!(sequence(deliveries.next(None)), 1);
        deliveries.reset();
        deliveries.acked("r", 3);
        deliveries.request("r");
        assert_eq!(sequence(deliveries.next(None)), 4);
        // The next controller has no results and acknowledges none.
        deliveries.reset();
        deliveries.request("r");
        assert_eq!(sequence(deliveries.next(None)), 1);
    }

    /// An open spool of run `r` with one message.
    fn spool(folder: &SpoolFolder) -> Writer {
        let about = SpoolHeader {
            run: "r".to_owned(),
            name: "tv".to_owned(),
            stations: vec!["tv".to_owned()],
            proof: String::new(),
        };
        let mut writer = Writer::create(folder, &about, Start { at: 0 }).unwrap();
        let batch = Batch::default();
        writer.rows(&Rows { sequence: 1, batch }).unwrap();
        writer
    }

    /// An agent may still wait for its last acknowledgement when the controller already has all its results.
    #[test]
    fn a_spool_that_is_open_is_deleted_once_its_agent_has_ended() {
        let dir = tempfile::tempdir().unwrap();
        let folder = SpoolFolder::new(dir.path().to_owned());
        let files = || std::fs::read_dir(dir.path()).unwrap().count();
        let writer = spool(&folder);
        let mut deliveries = Deliveries::new(folder);
        deliveries.discard("r");
        assert_eq!(files(), 1);
        drop(writer);
        assert!(deliveries.next(None).is_none());
        assert_eq!(files(), 0);
    }

    /// The connection is lost during a delivery.
    #[test]
    fn a_new_connection_offers_the_results_in_delivery_again() {
        let dir = tempfile::tempdir().unwrap();
        let folder = SpoolFolder::new(dir.path().to_owned());
        let writer = spool(&folder);
        drop(writer);
        let (mut late, thread) = disk_queue(MAX_WAITING_REQUESTS);
        let executing = std::thread::spawn(move || Deliveries::new(folder).run(thread));
        let run = || "r".to_owned();
        let requests = [
            Request::Connecting,
            Request::Results(run()),
            Request::Next(Some(run())),
            Request::Next(None),
            Request::Connecting,
            Request::Next(None),
            Request::Results(run()),
            Request::Next(None),
            Request::Next(None),
            Request::Discard(run()),
        ];
        for request in requests {
            late.try_put(request).unwrap();
        }
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        let replies = runtime.block_on(late.finish());
        executing.join().unwrap();
        let kind = |reply: &Reply| match reply {
            Reply::Pending(pending) => format!("{} pending", pending.len()),
            Reply::Next(None) => "nothing".to_owned(),
            Reply::Next(Some(FromMember::LateResults(late))) => format!("rows {}", late.sequence),
            Reply::Next(Some(_)) => "end".to_owned(),
            Reply::Delivered(run) => format!("delivered {run}"),
        };
        assert_eq!(
            replies.iter().map(kind).collect::<Vec<_>>(),
            [
                "1 pending",
                "nothing",
                "rows 1",
                "1 pending",
                "nothing",
                "rows 1",
                "end",
                "delivered r"
            ]
        );
        assert_eq!(std::fs::read_dir(dir.path()).unwrap().count(), 0);
    }
}
