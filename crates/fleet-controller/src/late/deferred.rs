//! Late results without space on the disk, which are retried at intervals.

use super::{Job, LateCollector, Rejection, Store, rejected};
use netburn_protocol::messages::standing::{PendingResults, ToMember};
use std::io;

/// Interval of retries, in calls of [`LateCollector::sync`].
const RETRY_INTERVAL: u32 = 5;

/// Results that wait for space on the disk.
#[derive(Debug)]
pub(super) enum DeferredNoSpace {
    /// Results at their member.
    Results(PendingResults),
    /// Complete results that can't be added to the record.
    Record(Box<Job>),
}

impl LateCollector {
    /// Defers results for lack of space, and retries without a message from the member.
    pub(super) fn defer_no_space(&mut self, member: &str, what: DeferredNoSpace) {
        let run = match &what {
            DeferredNoSpace::Results(waiting) => &waiting.run,
            DeferredNoSpace::Record(job) => &job.run,
        };
        let key = (member.to_owned(), run.clone());
        if self.deferred.is_empty() {
            self.syncs_until_retry = RETRY_INTERVAL;
            // Logged once, not for each retry.
            if !self.retried.contains(&key) {
                tracing::info!(run, "the disk is full; late results are retried");
            }
        }
        self.deferred.insert(key, what);
    }

    /// Rejects results that can't be stored. Defers them if the disk is full.
    pub(super) fn reject_storage_error(&mut self, key: &(String, String), error: &io::Error) -> ToMember {
        let deliveries = self.deliveries.remove(key);
        if let Some(deliveries) = deliveries.filter(|_| is_full(error)) {
            self.defer_no_space(&key.0, DeferredNoSpace::Results(deliveries.waiting()));
        }
        rejected(&Rejection::NoRoom(key.1.clone(), error.to_string()))
    }

    /// The same for appended data that may not be on disk. Truncates the file, so that the data does not
    /// count as received.
    pub(super) fn reject_unsynced(&mut self, key: &(String, String), error: &io::Error) -> ToMember {
        if let Some(deliveries) = self.deliveries.get_mut(key)
            && let Store::Open(writer) = &mut deliveries.store
            && let Err(error) = writer.cut(deliveries.acked)
        {
            tracing::warn!(run = key.1, %error, "the unsynced end of the spool can't be truncated");
        }
        self.reject_storage_error(key, error)
    }

    /// Retries deferred results.
    pub(super) fn retry_deferred(&mut self) -> Vec<(String, ToMember)> {
        self.syncs_until_retry = self.syncs_until_retry.saturating_sub(1);
        if self.syncs_until_retry > 0 || self.deferred.is_empty() {
            return Vec::new();
        }
        let mut acked = Vec::new();
        let deferred = std::mem::take(&mut self.deferred);
        self.retried = deferred.keys().cloned().collect();
        for (key, deferred) in deferred {
            match deferred {
                DeferredNoSpace::Record(job) => self.jobs.push_back(*job),
                DeferredNoSpace::Results(waiting) => {
                    let answers = self.offer(&key.0, &[waiting]);
                    // A repeated lack of space is not reported again; other errors are.
                    let again = self.deferred.contains_key(&key);
                    let answers = answers
                        .into_iter()
                        .filter(|answer| !(again && matches!(answer, ToMember::Rejected(_))));
                    acked.extend(answers.map(|answer| (key.0.clone(), answer)));
                }
            }
        }
        acked
    }
}

/// Returns whether space may become available.
pub(super) fn is_full(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded)
}
