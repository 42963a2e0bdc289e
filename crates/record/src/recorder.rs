//! A run folder while the run is under way.

use crate::error::Error;
use crate::header::{Ending, Header};
use crate::row::{Row, Sink};
use crate::run::Run;
use netburn_units::Instant;
use std::path::{Path, PathBuf};

/// Writes a run folder: rows go to the spool while the run is under way, to Parquet columns when it ends.
///
/// **Call order:** [`create`](Self::create), then any number of [`put`](Sink::put), with
/// [`sync_if_due`](Self::sync_if_due) several times a second, then [`finish`](Self::finish). A recorder that is
/// dropped, or whose process is killed, leaves a folder that [`Run::open`] finishes.
#[derive(Debug)]
pub struct Recorder {
    path: PathBuf,
    header: Header,
}

impl Recorder {
    /// Makes the folder `path`, and those above it. When it is taken, `path-2`, `path-3` and so on are tried:
    /// [`path`](Self::path) says which it became.
    ///
    /// # Errors
    /// When it can't be made or written to.
    pub fn create(path: &Path, header: Header) -> Result<Self, Error> {
        Ok(Recorder {
            path: path.to_owned(),
            header,
        })
    }

    /// The run's folder.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// What was known before the first row.
    #[must_use]
    pub fn header(&self) -> &Header {
        &self.header
    }

    /// Hands what was put to the system, and once a second to the disk. `now` is the run's own time.
    ///
    /// # Errors
    /// As [`put`](Sink::put).
    pub fn sync_if_due(&mut self, now: Instant) -> std::io::Result<()> {
        let _ = now;
        todo!()
    }

    /// Turns the spool into columns, computes the summary and writes `run.json` last, in one rename.
    ///
    /// # Errors
    /// When it can't be written. The spool is kept then, and nothing that looks finished is left: [`Run::open`] tries
    /// again.
    pub fn finish(self, ending: &Ending) -> Result<Run, Error> {
        let _ = ending;
        todo!()
    }
}

impl Sink for Recorder {
    fn put(&mut self, row: &Row) -> std::io::Result<()> {
        let _ = row;
        todo!()
    }
}
