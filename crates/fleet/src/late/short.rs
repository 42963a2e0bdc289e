//! What there is no room for: tried again now and then, for a disk that is full is emptied one day.

use super::{Desk, Job};
use crate::protocol::standing::{ToMember, Waiting};
use std::io;

/// From one try of what there was no room for to the next, in calls of [`Desk::sync`].
const TRY_AGAIN: u32 = 5;

/// What waits for room on the disk.
#[derive(Debug)]
pub(super) enum Short {
    /// The results, at their member.
    Results(Waiting),
    /// All is here, and can't be added to the record.
    Record(Box<Job>),
}

impl Desk {
    /// There was no room: it is tried again now and then, without a word from the member.
    pub(super) fn fall_short(&mut self, member: &str, what: Short) {
        let run = match &what {
            Short::Results(waiting) => &waiting.run,
            Short::Record(job) => &job.run,
        };
        if self.short.is_empty() {
            tracing::info!(run, "the disk has no room for late results; it is looked at again");
            self.until_tried = TRY_AGAIN;
        }
        self.short.insert((member.to_owned(), run.clone()), what);
    }

    /// Tries again what there was no room for.
    pub(super) fn make_good(&mut self) -> Vec<(String, ToMember)> {
        self.until_tried = self.until_tried.saturating_sub(1);
        if self.until_tried > 0 || self.short.is_empty() {
            return Vec::new();
        }
        let mut said = Vec::new();
        for ((member, _), short) in std::mem::take(&mut self.short) {
            match short {
                Short::Record(job) => self.jobs.push_back(*job),
                Short::Results(waiting) => {
                    let answers = self.offer(&member, &[waiting]);
                    // That there is none still is no news.
                    let news = answers
                        .into_iter()
                        .filter(|answer| !matches!(answer, ToMember::Refused(_)));
                    said.extend(news.map(|answer| (member.clone(), answer)));
                }
            }
        }
        said
    }
}

/// Whether there may be room later.
pub(super) fn is_full(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded)
}
