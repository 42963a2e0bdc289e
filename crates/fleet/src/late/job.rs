//! Adding to a record what came late.

use super::waiting_room;
use crate::protocol::standing::LateEnd;
use crate::spool;
use netburn_record::{Error, Row, UnixTime, merge_late_results};
use netburn_units::Instant;
use std::collections::VecDeque;
use std::io;
use std::path::PathBuf;

/// Something that takes time: reading a whole record and writing it anew.
#[derive(Debug)]
pub struct Job {
    pub(super) member: String,
    pub(super) run: String,
    pub(super) name: String,
    pub(super) folder: PathBuf,
    pub(super) stations: Vec<u16>,
    pub(super) end: LateEnd,
    pub(super) came: UnixTime,
}

/// A job that was carried out.
#[derive(Debug)]
pub struct Done {
    pub(super) job: Job,
    /// How many rows were added.
    pub(super) result: Result<u64, Error>,
}

impl Job {
    /// Does it. Blocks.
    #[must_use]
    pub fn carry_out(self) -> Done {
        let result = self.add();
        Done { job: self, result }
    }

    fn add(&self) -> Result<u64, Error> {
        let path = self.folder.clone();
        let unreadable = |source: io::Error| Error::Io { path, source };
        let mut late = spool::Late::open(&waiting_room(&self.folder), &self.name, 1).map_err(unreadable)?;
        let mut ready: VecDeque<Row> = VecDeque::new();
        let mut next = || {
            while ready.is_empty() {
                let Some(message) = late.next()? else { return Ok(None) };
                let owned = |station: u16| self.stations.contains(&station);
                ready.extend(message.batch.into_rows(owned, false).map_err(io::Error::other)?);
            }
            Ok(ready.pop_front())
        };
        let whose = netburn_record::LateResults {
            name: &self.name,
            stations: &self.stations,
            came: self.came,
            health: self.end.health.as_ref(),
            error: self.end.error.as_deref(),
            held: self.end.told.map(Instant::from_nanos),
        };
        merge_late_results(&self.folder, &whose, &mut next).map(|amended| amended.added)
    }

    /// Removes what is in the record now.
    pub(super) fn clear(&self) {
        super::clear(&self.folder, &self.name);
    }
}
