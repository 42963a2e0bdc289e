//! Adding late results to a record.

use super::pending_dir;
use netburn_protocol::messages::standing::LateResultsEnd;
use netburn_record::{Error, Row, UnixTime, merge_late_results};
use netburn_run_control::spool;
use netburn_units::Instant;
use std::collections::VecDeque;
use std::io;
use std::path::PathBuf;

/// A slow job: reads a whole record and writes it again.
#[derive(Debug)]
pub struct Job {
    pub(super) member: String,
    pub(super) run: String,
    pub(super) name: String,
    pub(super) folder: PathBuf,
    pub(super) stations: Vec<u16>,
    pub(super) end: LateResultsEnd,
    pub(super) received_at: UnixTime,
}

/// Result of a job.
#[derive(Debug)]
pub struct JobResult {
    pub(super) job: Job,
    /// Number of added rows.
    pub(super) result: Result<u64, Error>,
}

impl Job {
    /// Executes the job. Blocks.
    #[must_use]
    pub fn carry_out(self) -> JobResult {
        let result = self.add();
        JobResult { job: self, result }
    }

    fn add(&self) -> Result<u64, Error> {
        let path = self.folder.clone();
        let unreadable = |source: io::Error| Error::Io { path, source };
        let mut late = spool::SpoolReader::open(&pending_dir(&self.folder), &self.name, 1).map_err(unreadable)?;
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
            came: self.received_at,
            health: self.end.health.as_ref(),
            error: self.end.error.as_deref(),
            held: self.end.stop_requested_at.map(Instant::from_nanos),
        };
        merge_late_results(&self.folder, &whose, &mut next).map(|amended| amended.added)
    }

    /// Deletes the results, which are in the record now.
    pub(super) fn clear(&self) {
        super::clear(&self.folder, &self.name);
    }
}
