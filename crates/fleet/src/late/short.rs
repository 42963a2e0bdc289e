//! What there is no room for: tried again now and then, for a disk that is full is emptied one day.

use super::{Desk, Job, Refusal, Store, refused};
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
        let key = (member.to_owned(), run.clone());
        if self.short.is_empty() {
            self.until_tried = TRY_AGAIN;
            // Once is enough, however often it is tried.
            if !self.tried.contains(&key) {
                tracing::info!(run, "the disk has no room for late results; it is looked at again");
            }
        }
        self.short.insert(key, what);
    }

    /// What came of a part can't be kept, which is to be said to its member. Where that is for want of room, it is tried
    /// again.
    pub(super) fn give_up(&mut self, key: &(String, String), error: &io::Error) -> ToMember {
        let coming = self.coming.remove(key);
        if let Some(coming) = coming.filter(|_| is_full(error)) {
            self.fall_short(&key.0, Short::Results(coming.waiting()));
        }
        refused(&Refusal::NoRoom(key.1.clone(), error.to_string()))
    }

    /// The same where what was appended may not be on the disk: it isn't taken for kept when it is looked at again.
    pub(super) fn give_up_unsynced(&mut self, key: &(String, String), error: &io::Error) -> ToMember {
        if let Some(coming) = self.coming.get_mut(key)
            && let Store::Open(writer) = &mut coming.store
            && let Err(error) = writer.cut(coming.said)
        {
            tracing::warn!(run = key.1, %error, "what isn't synced can't be cut off");
        }
        self.give_up(key, error)
    }

    /// Tries again what there was no room for.
    pub(super) fn make_good(&mut self) -> Vec<(String, ToMember)> {
        self.until_tried = self.until_tried.saturating_sub(1);
        if self.until_tried > 0 || self.short.is_empty() {
            return Vec::new();
        }
        let mut said = Vec::new();
        let short = std::mem::take(&mut self.short);
        self.tried = short.keys().cloned().collect();
        for (key, short) in short {
            match short {
                Short::Record(job) => self.jobs.push_back(*job),
                Short::Results(waiting) => {
                    let answers = self.offer(&key.0, &[waiting]);
                    // That there is none still is no news; that it can't be for another reason is.
                    let again = self.short.contains_key(&key);
                    let news = answers
                        .into_iter()
                        .filter(|answer| !(again && matches!(answer, ToMember::Refused(_))));
                    said.extend(news.map(|answer| (key.0.clone(), answer)));
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
