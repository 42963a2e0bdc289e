//! The controller's thread for the disk: it stores late results, registrations of runs, and tokens. The hub's task
//! neither reads nor writes files, so a slow disk does not delay its other messages.

use super::*;
use crate::late::{Job, Registration};
use netburn_protocol::messages::standing::{LateResults, LateResultsEnd, ToMember};
use netburn_run_control::disk_queue::DiskThread;

/// Maximum number of messages with late rows that wait for the thread: 64 MiB at their maximum length. A
/// connection is not read while its message waits for a slot.
pub(super) const MAX_WAITING_ROWS: usize = 64;

/// Request to the thread.
pub(super) enum Request {
    /// Create and store new tokens, for this operator.
    NewTokens(ConnectionId),
    /// Store the registration of a run, for this operator.
    Register(ConnectionId, Registration),
    /// A member offers results.
    Offer(String, PendingResults),
    /// A run was released. The results of these parts are missing.
    RunOver(String, Vec<String>),
    /// Late rows of a member.
    LateResults(String, LateResults),
    /// End of the late rows of a member, and its time of arrival.
    LateResultsEnd(String, LateResultsEnd, UnixTime),
    /// A member disconnected.
    Gone(String),
    /// Sync late rows.
    Sync,
    /// A job ended.
    JobResult(Box<JobResult>),
}

/// Reply of the thread.
pub(super) enum Reply {
    /// New tokens of the fleet and of the dashboard are stored, or the old ones are still valid.
    NewTokens(ConnectionId, Result<(String, String), StateError>),
    /// The registration of this run is on the disk, or the reason why not.
    Registered(ConnectionId, String, io::Result<()>),
    /// Members that may have results of a released run.
    Holders(Vec<(String, PendingResults)>),
    /// Send this message to a member.
    Send(String, ToMember),
    /// All later replies to this member belong to its next connection.
    Gone(String),
    /// Execute this job on another thread. It may take minutes.
    Job(Box<Job>),
    /// Late rows are synced. The acknowledgements precede this reply.
    Synced,
}

/// Files of the controller.
pub(super) struct Storage {
    /// Keeps other controllers from using the files until the thread has ended.
    pub(super) lock: StateLock,
    pub(super) late_results: LateCollector,
}

impl Storage {
    /// Executes requests until the queue is closed. Blocks.
    pub(super) fn run(mut self, mut thread: DiskThread<Request, Reply>) {
        while let Some(request) = thread.next() {
            self.handle(request, |reply| thread.reply(reply));
        }
        // The lock is released before the hub's task learns of the end of the thread.
        drop(self);
    }

    fn handle(&mut self, request: Request, mut reply: impl FnMut(Reply)) {
        let late_results = &mut self.late_results;
        match request {
            Request::NewTokens(operator) => reply(Reply::NewTokens(operator, self.lock.new_tokens())),
            Request::Register(operator, registration) => {
                let run = registration.run.clone();
                let stored = late_results.register(registration);
                if let Err(error) = &stored {
                    tracing::warn!(run, %error, "the registration of a run can't be stored");
                }
                reply(Reply::Registered(operator, run, stored));
            }
            Request::Offer(member, waiting) => {
                for message in late_results.offer(&member, &[waiting]) {
                    reply(Reply::Send(member.clone(), message));
                }
            }
            Request::RunOver(run, missing) => {
                late_results.release(&run, &missing);
                reply(Reply::Holders(late_results.holders(&run)));
            }
            Request::LateResults(member, late) => {
                if let Some(message) = late_results.late(&member, late) {
                    reply(Reply::Send(member, message));
                }
            }
            Request::LateResultsEnd(member, end, received_at) => {
                if let Some(message) = late_results.end(&member, end, received_at) {
                    reply(Reply::Send(member, message));
                }
            }
            Request::Gone(member) => {
                late_results.gone(&member);
                reply(Reply::Gone(member));
            }
            Request::Sync => {
                for (member, message) in late_results.sync() {
                    reply(Reply::Send(member, message));
                }
                if let Some(job) = late_results.next_job() {
                    reply(Reply::Job(Box::new(job)));
                }
                reply(Reply::Synced);
            }
            Request::JobResult(done) => {
                if let Some((member, message)) = late_results.done(*done) {
                    reply(Reply::Send(member, message));
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::late::tests::{RUN, kept, registration, run};
    use netburn_protocol::messages::standing::{LateAck, RequestResults};
    use netburn_run_control::disk_queue::{DiskQueue, disk_queue};
    use netburn_run_control::spool::{self, SpoolFolder, SpoolReader};
    use std::path::Path;

    const OPERATOR: ConnectionId = ConnectionId(7);
    const MEMBER: &str = "kitchen";

    fn storage(dir: &Path) -> Storage {
        let lock = State::new(dir.join("state")).lock().unwrap();
        let late_results = LateCollector::open(&dir.join("state/late")).unwrap();
        Storage { lock, late_results }
    }

    /// Starts a thread. Executes `requests`, and returns all replies after the end of the thread.
    fn replies(storage: Storage, requests: Vec<Request>) -> Vec<Reply> {
        let (mut queue, thread): (DiskQueue<Request, Reply>, _) = disk_queue(MAX_WAITING_ROWS);
        let executing = std::thread::spawn(move || storage.run(thread));
        for request in requests {
            queue.put_unlimited(request).unwrap();
        }
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        let replies = runtime.block_on(queue.finish());
        executing.join().unwrap();
        replies
    }

    /// Messages to the member, in order.
    fn messages(replies: Vec<Reply>) -> Vec<ToMember> {
        let message = |reply| match reply {
            Reply::Send(member, message) => Some(message).filter(|_| member == MEMBER),
            _ => None,
        };
        replies.into_iter().filter_map(message).collect()
    }

    #[test]
    fn a_registration_is_on_the_disk_before_its_reply() {
        let dir = tempfile::tempdir().unwrap();
        let mut storage = storage(dir.path());
        let mut registered = 0;
        let request = Request::Register(OPERATOR, registration(&dir.path().join("run")));
        storage.handle(request, |reply| {
            assert!(matches!(reply, Reply::Registered(OPERATOR, run, Ok(())) if run == RUN));
            let stored = LateCollector::open(&dir.path().join("state/late")).unwrap();
            assert_eq!(stored.registration(RUN), Some(&registration(&dir.path().join("run"))));
            registered += 1;
        });
        assert_eq!(registered, 1);
        // The folder is missing.
        std::fs::remove_dir_all(dir.path().join("state/late")).unwrap();
        let request = Request::Register(OPERATOR, registration(&dir.path().join("run")));
        let replies = replies(storage, vec![request]);
        assert!(matches!(&replies[..], [Reply::Registered(OPERATOR, run, Err(_))] if run == RUN));
    }

    #[test]
    fn late_rows_are_acknowledged_by_a_sync_and_stored_before_the_end() {
        let dir = tempfile::tempdir().unwrap();
        let (folder, spooled) = (dir.path().join("run"), SpoolFolder::new(dir.path().join("agent")));
        run(&folder);
        kept(&spooled);
        let offer = spool::pending(&spooled).remove(0);
        let mut spooled = SpoolReader::open(&spooled, RUN, 1).unwrap();
        let mut late = || Request::LateResults(MEMBER.to_owned(), spooled.next().unwrap().unwrap());
        let requests = vec![
            Request::Register(OPERATOR, registration(&folder)),
            Request::RunOver(RUN.to_owned(), vec!["tv".to_owned()]),
            Request::Offer(MEMBER.to_owned(), offer.clone()),
            late(),
            late(),
            Request::Sync,
            late(),
            Request::Gone(MEMBER.to_owned()),
        ];
        let replies = replies(storage(dir.path()), requests);
        let [
            Reply::Registered(..),
            Reply::Holders(holders),
            Reply::Send(..),
            Reply::Send(..),
            Reply::Synced,
            Reply::Gone(member),
        ] = &replies[..]
        else {
            panic!("{} replies", replies.len())
        };
        assert_eq!((holders.len(), &*holders[0].0, &**member), (1, MEMBER, MEMBER));
        let run = RUN.to_owned();
        let requested = ToMember::RequestResults(RequestResults { run: run.clone() });
        let acked = |sequence| {
            ToMember::Ack(LateAck {
                run: run.clone(),
                sequence,
            })
        };
        assert_eq!(messages(replies), [requested.clone(), acked(2)]);
        // The state is free for the next controller, which has the row after the last sync, too.
        let again = storage(dir.path());
        let offered = vec![Request::Offer(MEMBER.to_owned(), offer)];
        assert_eq!(messages(self::replies(again, offered)), [acked(3), requested]);
    }

    #[test]
    fn a_storage_error_is_a_message_to_the_member() {
        let dir = tempfile::tempdir().unwrap();
        let (folder, spooled) = (dir.path().join("run"), SpoolFolder::new(dir.path().join("agent")));
        kept(&spooled);
        let requests = vec![
            Request::Register(OPERATOR, registration(&folder)),
            Request::RunOver(RUN.to_owned(), vec!["tv".to_owned()]),
            Request::Offer(MEMBER.to_owned(), spool::pending(&spooled).remove(0)),
        ];
        let messages = messages(replies(storage(dir.path()), requests));
        assert!(
            matches!(&messages[..], [ToMember::Rejected(rejected)] if rejected.reason.contains("folder is missing")),
            "{messages:?}"
        );
    }
}
