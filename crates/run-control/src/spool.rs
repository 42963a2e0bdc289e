//! Spool: rows on an agent's disk until the holder of the run has all of them.
//!
//! One file per run, `RUN.spool`, appended to and synced once a second:
//!
//! ```text
//! file = "nbagent\n"  version: u32  frame*       header first, then start, rows in the order of their numbers, end
//! ```
//!
//! The [frames](netburn_record::spool::frame) are those of a record's spool. The payloads are JSON, because a frame of
//! rows is a message as it is sent: a number and a batch. The binary rows of a record's spool would need a conversion
//! from batches and back for each message, beside the JSON of the other frames. The file contains no token; its proof
//! only allows the delivery of these results.
//!
//! - [`pending`], [`SpoolReader`], [`remove`]: delivery of results after the run.
//! - `write`, `read`: the file format.

mod read;
#[cfg(test)]
mod tests;
mod write;

#[cfg(feature = "fuzz")]
pub(crate) use read::Source;
pub use read::{SpoolContent, SpoolReader};
pub use write::Writer;

use netburn_protocol::messages::standing::{MAX_PENDING_RUNS, PendingResults};
use netburn_protocol::messages::{MAX_TO_CONTROLLER, is_run};
use netburn_record::spool::frame::Format;
use serde::{Deserialize, Serialize};
use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};

/// Format of the file. A payload is at most as long as a message, with some margin.
const FORMAT: Format = Format {
    magic: b"nbagent\n",
    version: 1,
    max_payload: |_| MAX_TO_CONTROLLER + 1024,
};
/// File name suffix.
const SUFFIX: &str = ".spool";

/// Kind of a frame.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    Header = 0,
    Start = 1,
    Rows = 2,
    End = 3,
}

impl Kind {
    /// Kind of this number; `None` if there is none.
    fn from_number(number: u8) -> Option<Kind> {
        let mut all = [Kind::Header, Kind::Start, Kind::Rows, Kind::End].into_iter();
        all.find(|kind| *kind as u8 == number)
    }
}

/// Folder of spools. Each member needs its own; members that share one would deliver each other's results.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SpoolFolder(PathBuf);

/// Header of a spool.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct SpoolHeader {
    /// Name of the run.
    pub run: String,
    /// Name of the agent in the run.
    pub name: String,
    /// Names of its stations.
    pub stations: Vec<String>,
    /// Proof of the part: see [`standing::proof`](netburn_protocol::messages::standing::proof).
    #[serde(default)]
    pub proof: String,
}

impl SpoolFolder {
    /// Uses this folder. It is created with the first spool.
    #[must_use]
    pub fn new(path: impl Into<PathBuf>) -> SpoolFolder {
        SpoolFolder(path.into())
    }

    /// Path of the folder.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.0
    }

    /// Path of the spool of a run.
    fn file(&self, run: &str) -> io::Result<PathBuf> {
        if is_run(run) {
            Ok(self.0.join(format!("{run}{SUFFIX}")))
        } else {
            Err(io::Error::other(format!("`{run}` is not a valid run name")))
        }
    }

    /// Names of the runs with a spool, sorted.
    fn runs(&self) -> Vec<String> {
        let entries = std::fs::read_dir(&self.0).into_iter().flatten().flatten();
        let names = entries.filter_map(|entry| entry.file_name().into_string().ok());
        let mut runs: Vec<String> = names
            .filter_map(|name| Some(name.strip_suffix(SUFFIX)?.to_owned()))
            .filter(|run| is_run(run))
            .collect();
        runs.sort();
        runs
    }
}

/// Runs with results to deliver, oldest name first, at most [`MAX_PENDING_RUNS`]. Omits spools that an
/// agent has open or whose header is damaged.
#[must_use]
pub fn pending(folder: &SpoolFolder) -> Vec<PendingResults> {
    let all = folder.runs().into_iter().filter_map(|run| {
        let late = SpoolReader::open(folder, &run, 1).ok()?;
        Some(PendingResults {
            name: late.about().name.clone(),
            messages: late.messages(),
            run,
        })
    });
    all.take(MAX_PENDING_RUNS).collect()
}

/// Deletes the spool of a run after its delivery. A missing file is no error.
///
/// # Errors
/// If the file can't be deleted, or an agent has it open.
pub fn remove(folder: &SpoolFolder, run: &str) -> io::Result<()> {
    let path = folder.file(run)?;
    match File::open(&path) {
        Ok(file) => {
            file.try_lock()?;
            std::fs::remove_file(path)
        }
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        Err(error) => Err(error),
    }
}
