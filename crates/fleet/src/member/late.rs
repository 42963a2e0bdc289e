//! Results that nobody took in time, brought home over the connection that a member keeps.

use crate::protocol::standing::FromMember;
use crate::spool::{self, SpoolFolder, SpoolReader};
use std::collections::{BTreeMap, BTreeSet};
use std::io;

/// So many messages may be on their way that aren't known to be kept.
const MAX_UNACKED: u64 = 16;

/// What is wanted, and how far it is.
pub(super) struct Deliveries {
    folder: SpoolFolder,
    requested: BTreeSet<String>,
    current: Option<Delivery>,
    /// Up to which message each run is kept.
    acked: BTreeMap<String, u64>,
    /// Runs whose results the controller has, and whose spool an agent still has open.
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

    /// There is a new connection: what was on its way is sent again, and what is kept will be said anew. A controller that was ended
    /// may have less than its predecessor said.
    pub(super) fn reset(&mut self) {
        self.acked.clear();
        self.requested.clear();
        self.delivered.clear();
        self.current = None;
    }

    /// The results of `run` are wanted.
    pub(super) fn request(&mut self, run: &str) {
        self.requested.insert(run.to_owned());
    }

    /// All up to this message is kept there.
    pub(super) fn acked(&mut self, run: &str, sequence: u64) {
        let acked = self.acked.entry(run.to_owned()).or_default();
        *acked = sequence.max(*acked);
    }

    /// They aren't taken now: they stay here.
    pub(super) fn rejected(&mut self) {
        self.current = None;
    }

    /// Somebody else has all of `run`. Whether there was anything.
    pub(super) fn discard(&mut self, run: &str) -> bool {
        self.requested.remove(run);
        self.acked.remove(run);
        let was = self.current.take_if(|delivery| delivery.run == run).is_some();
        self.delivered.insert(run.to_owned());
        self.delete_delivered();
        was
    }

    /// Deletes the spools that were delivered. One that an agent still has open is deleted later.
    fn delete_delivered(&mut self) {
        let folder = &self.folder;
        self.delivered.retain(|run| match spool::remove(folder, run) {
            Ok(()) => false,
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => true,
            Err(error) => {
                tracing::warn!(run, %error, "what was delivered can't be deleted");
                false
            }
        });
    }

    /// The first of the wanted runs that can be delivered.
    fn open(&mut self, busy: Option<&str>) -> Option<Delivery> {
        let requested: Vec<String> = self.requested.iter().cloned().collect();
        for run in requested.into_iter().filter(|run| Some(run.as_str()) != busy) {
            let from = self.acked.get(&run).copied().unwrap_or(0) + 1;
            let opened = SpoolReader::open(&self.folder, &run, from);
            // Its part is over, and its last sync may not be: it stays wanted.
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

    /// The next message to send; `None` when what was sent is to be kept first, or nothing is wanted. Nothing of the run
    /// that is under way is.
    pub(super) fn next(&mut self, busy: Option<&str>) -> Option<FromMember> {
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
    use crate::protocol::{Batch, Rows, Start};
    use crate::spool::{SpoolHeader, Writer};

    fn sequence(message: Option<FromMember>) -> u64 {
        match message {
            Some(FromMember::LateResults(late)) => late.sequence,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn over_a_new_connection_only_what_is_said_kept_there_is_left_out_and_what_is_locked_is_waited_for() {
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
        // The next controller has nothing, and says of nothing that it is kept.
        deliveries.reset();
        deliveries.request("r");
        assert_eq!(sequence(deliveries.next(None)), 1);
    }

    /// An agent may still wait for its last acknowledgement when the controller already has all its results.
    #[test]
    fn a_spool_that_is_open_is_deleted_once_its_agent_has_ended() {
        let dir = tempfile::tempdir().unwrap();
        let folder = SpoolFolder::new(dir.path().to_owned());
        let files = || std::fs::read_dir(dir.path()).unwrap().count();
        let about = SpoolHeader {
            run: "r".to_owned(),
            name: "tv".to_owned(),
            stations: vec!["tv".to_owned()],
            proof: String::new(),
        };
        let mut writer = Writer::create(&folder, &about, Start { at: 0 }).unwrap();
        let batch = Batch::default();
        writer.rows(&Rows { sequence: 1, batch }).unwrap();
        let mut deliveries = Deliveries::new(folder);
        deliveries.discard("r");
        assert_eq!(files(), 1);
        drop(writer);
        assert!(deliveries.next(None).is_none());
        assert_eq!(files(), 0);
    }
}
