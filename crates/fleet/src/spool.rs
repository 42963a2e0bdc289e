//! What an agent of a fleet keeps on its own disk, until whoever holds the run has all of it on theirs.
//!
//! One file per run, `RUN.spool`, appended to and synced once a second:
//!
//! ```text
//! file  = "nbagent\n"  version: u32  frame*       header first, then start, rows in the order of their numbers, end
//! frame = length: u32  kind: u8  payload: length bytes of JSON  crc: u32
//! ```
//!
//! Integers are little-endian; the CRC is CRC-32 (IEEE 802.3, as in zlib) over length, kind and payload. A reader stops
//! at the first frame that is torn or wrong and keeps everything before it, so a file survives `kill -9` and the loss of
//! power at any byte. Nothing in it lets anybody in anywhere; its proof lets these results be delivered.
//!
//! - [`waiting`], [`Late`], [`forget`]: for those that bring results home when the run is over.
//! - `write`, `read`: the file itself.

mod read;
#[cfg(test)]
mod tests;
mod write;

pub(crate) use read::Source;
pub use read::{SpoolContent, SpoolReader};
pub(crate) use write::Writer;

use crate::protocol::standing::{MAX_PENDING_RUNS, PendingResults};
use serde::{Deserialize, Serialize};
use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};

/// The first bytes of a spool.
const MAGIC: &[u8; 8] = b"nbagent\n";
/// The newest version of the file that this code writes and reads.
const VERSION: u32 = 1;
/// The longest payload: that of a message, and some.
const MAX_PAYLOAD: usize = crate::protocol::MAX_TO_CONTROLLER + 1024;
/// Length, kind and CRC of a frame.
const OVERHEAD: usize = 4 + 1 + 4;
/// How the file of a run ends.
const SUFFIX: &str = ".spool";
/// The longest name of a run, in bytes.
pub const MAX_RUN_NAME: usize = 128;

/// What a frame holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    Header = 0,
    Start = 1,
    Rows = 2,
    End = 3,
}

/// Where an agent keeps what it has measured. One folder per member: who shares one would deliver each other's.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SpoolFolder(PathBuf);

/// Whose part of which run a spool holds.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct SpoolHeader {
    /// The run.
    pub run: String,
    /// Under which name it took part.
    pub name: String,
    /// The stations it drove, by name.
    pub stations: Vec<String>,
    /// What shows that it was this part: see [`standing::proof`](crate::protocol::standing::proof).
    #[serde(default)]
    pub proof: String,
}

impl SpoolFolder {
    /// That folder. It is made when there is something to keep.
    #[must_use]
    pub fn new(path: impl Into<PathBuf>) -> SpoolFolder {
        SpoolFolder(path.into())
    }

    /// Where it is.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.0
    }

    /// The file of a run.
    fn file(&self, run: &str) -> io::Result<PathBuf> {
        match is_run(run) {
            true => Ok(self.0.join(format!("{run}{SUFFIX}"))),
            false => Err(io::Error::other(format!("`{run}` is no run's name"))),
        }
    }

    /// The runs that there are files of, in the order of their names.
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

/// Whether a run may be called so: letters, digits, `-`, `_` and `.`, 1 to 128 of them, not beginning with `.`. Such a
/// name is a file's name everywhere, and leads nowhere else.
#[must_use]
pub fn is_run(text: &str) -> bool {
    (1..=MAX_RUN_NAME).contains(&text.len())
        && !text.starts_with('.')
        && text
            .bytes()
            .all(|b| b.is_ascii_alphanumeric() || matches!(b, b'-' | b'_' | b'.'))
}

/// The runs whose results wait here, the oldest name first, at most [`MAX_PENDING_RUNS`]. What an agent still writes, and
/// what is damaged beyond its header, is left out.
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

/// Deletes what was kept of a run, because somebody else has it. What isn't there is forgotten already.
///
/// # Errors
/// When it can't be deleted, or an agent still writes it.
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
