//! Folder of a sweep: its description, one small file for each finished run, and the results.
//!
//! `sweep.json` describes the sweep, and `runs/12.json` is the summary of the twelfth run. Files are written atomically by a
//! rename, so that an interruption loses only the runs in progress. A process locks the folder while it writes; the shards of
//! one sweep share the lock. Two processes may write the file of one run: both write the same bytes.

use super::check::{Checked, InvalidCells};
use super::grid::Grid;
use super::identity::Identity;
use super::rows::{Row, Rows};
use super::selection::{Due, Selection};
use netburn_record::Summary;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fs::{File, TryLockError};
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{SystemTime, UNIX_EPOCH};

const FILE: &str = "sweep.json";
const RUNS: &str = "runs";

/// End of the name of a file that is being written.
const INCOMPLETE: &str = ".tmp";

/// An open sweep folder.
#[derive(Debug)]
pub struct Folder {
    path: PathBuf,
    identity: Identity,
    /// Rows of the finished runs.
    finished: Mutex<BTreeMap<u64, Row>>,
    /// The table without rows.
    empty: Rows,
    /// Closing the file releases the lock.
    _lock: File,
    /// Invalid cells.
    impossible: Option<InvalidCells>,
}

/// Use of a folder.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Access {
    /// By this process only.
    Exclusive,
    /// By several shards at the same time.
    Shared,
}

/// Error of a sweep folder.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum FolderError {
    /// The path exists and is not a sweep.
    #[error("{} exists and is not a sweep", .0.display())]
    NotSweep(PathBuf),
    /// The folder belongs to another sweep.
    #[error("{} contains another sweep: {why}", .path.display())]
    Other {
        /// Path of the folder.
        path: PathBuf,
        /// Difference between the sweeps.
        why: String,
    },
    /// Another process uses the folder.
    #[error("another netburn process uses {}", .0.display())]
    Busy(PathBuf),
    /// The folder cannot be created.
    #[error("cannot create the folder {}: {source}", .path.display())]
    Create {
        /// Path of the folder.
        path: PathBuf,
        /// Error of the operating system.
        source: io::Error,
    },
    /// A file cannot be read or written.
    #[error("{}: {source}", .path.display())]
    Io {
        /// File or folder.
        path: PathBuf,
        /// Error of the operating system.
        source: io::Error,
    },
    /// The rows cannot be encoded.
    #[error("rows.parquet can't be written: {0}")]
    Encode(String),
}

/// Result of a finished run.
#[derive(Debug, Serialize, Deserialize)]
struct Finished {
    run: u64,
    values: Vec<String>,
    seed: u64,
    summary: Summary,
}

impl Folder {
    /// Opens the folder of this sweep, or creates it.
    ///
    /// # Errors
    /// The folder is not this sweep, another process uses it, or it cannot be read or written.
    pub fn open(path: &Path, grid: &Grid, checked: &Checked, access: Access) -> Result<Self, FolderError> {
        let io = |source| FolderError::Io {
            path: path.to_owned(),
            source,
        };
        let identity = Identity::new(grid, checked);
        let file = path.join(FILE);
        if !file.exists() {
            create(path, &file, &identity)?;
        }
        // On NFS, an exclusive lock needs a file that is open for writing (flock(2)).
        let writes = access == Access::Exclusive;
        let lock = File::options().read(true).write(writes).open(&file).map_err(io)?;
        let locked = match access {
            Access::Exclusive => lock.try_lock(),
            Access::Shared => lock.try_lock_shared(),
        };
        match locked {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => return Err(FolderError::Busy(path.to_owned())),
            Err(TryLockError::Error(error)) => return Err(io(error)),
        }
        is_of(path, &identity)?;
        std::fs::create_dir_all(path.join(RUNS)).map_err(io)?;
        let folder = Folder {
            path: path.to_owned(),
            identity,
            finished: Mutex::default(),
            empty: Rows::new(grid, checked),
            _lock: lock,
            impossible: checked.impossible.clone(),
        };
        if access == Access::Exclusive {
            remove_incomplete(path, |_| true);
            remove_incomplete(&path.join(RUNS), |_| true);
        }
        folder.refresh(grid)?;
        Ok(folder)
    }

    /// Reads the runs that other processes finished since the folder was opened.
    fn refresh(&self, grid: &Grid) -> Result<(), FolderError> {
        for run in stored(&self.path, grid)? {
            // A run whose file cannot be read runs again.
            if !self.is_finished(run)
                && let Some(text) = read(&self.path, run)
                && let Some(finished) = parse(&text, grid, run)
            {
                self.add(run, finished.seed, finished.values, &finished.summary);
            }
        }
        Ok(())
    }

    /// Adds the finished runs of another folder of the same sweep. Returns their number.
    ///
    /// # Errors
    /// The other folder is not this sweep or cannot be read, or a file cannot be written.
    pub fn merge(&self, other: &Path, grid: &Grid) -> Result<u64, FolderError> {
        is_of(other, &self.identity)?;
        let mut added = 0;
        for run in stored(other, grid)? {
            if !self.is_finished(run)
                && let Some(text) = read(other, run)
                && let Some(finished) = parse(&text, grid, run)
            {
                write(&self.file(run), text.as_bytes())?;
                self.add(run, finished.seed, finished.values, &finished.summary);
                added += 1;
            }
        }
        Ok(added)
    }

    /// Path of the folder.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Number of finished runs.
    #[must_use]
    pub fn finished(&self) -> u64 {
        self.lock().len() as u64
    }

    /// Number of runs of valid cells.
    #[must_use]
    pub fn possible(&self, grid: &Grid) -> u64 {
        let impossible = self.impossible.as_ref().map_or(0, InvalidCells::count);
        grid.runs() - impossible * u64::from(grid.repeat())
    }

    /// Returns the unfinished runs of a selection that can be executed now.
    #[must_use]
    pub fn due(&self, grid: &Grid, selection: &Selection) -> Due {
        let finished = self.lock();
        let valid = |cell: u64| self.impossible.as_ref().is_none_or(|wrong| wrong.why(cell).is_none());
        selection.due(grid, valid, |run| {
            let row = finished.get(&run)?;
            Some(selection.value(&row.metrics))
        })
    }

    /// Reads the runs that other processes finished, and returns the maximum number of unfinished runs of all shards. If
    /// there are none, it removes incomplete files of finished runs.
    ///
    /// # Errors
    /// The folder cannot be read.
    pub fn remaining(&self, grid: &Grid, selection: &Selection) -> Result<u64, FolderError> {
        self.refresh(grid)?;
        let everything = Selection {
            shard: None,
            target: selection.target.clone(),
        };
        let left = self.due(grid, &everything).left;
        if left == 0 {
            // Shared access cannot remove the files of killed processes earlier: another shard may be writing them.
            let is_finished = |run: u64| self.is_finished(run - 1);
            remove_incomplete(&self.path.join(RUNS), |name| number(name).is_some_and(is_finished));
        }
        Ok(left)
    }

    /// Stores the summary of a run.
    ///
    /// # Errors
    /// The file cannot be written.
    pub fn keep(&self, grid: &Grid, run: u64, summary: Summary) -> Result<(), FolderError> {
        let finished = Finished {
            run: run + 1,
            values: grid.choices(run).into_iter().map(str::to_owned).collect(),
            seed: summary.seed,
            summary,
        };
        let text = serde_json::to_string(&finished).expect("a summary has only text for keys");
        write(&self.file(run), text.as_bytes())?;
        self.add(run, finished.seed, finished.values, &finished.summary);
        Ok(())
    }

    /// Returns the rows of all finished runs in the order of their numbers, and one row for each invalid cell.
    #[must_use]
    pub fn rows(&self, grid: &Grid) -> Rows {
        let mut rows = self.empty.clone();
        let mut all = self.lock().clone();
        for cell in self.impossible.iter().flat_map(InvalidCells::cells) {
            let run = cell * u64::from(grid.repeat());
            let values = grid.choices(run).into_iter().map(str::to_owned).collect();
            all.insert(run, Row::impossible(&rows, run, values));
        }
        rows.rows = all.into_values().collect();
        rows
    }

    /// Returns the finished runs in the order of their numbers: values of the keys, path and summary.
    #[must_use]
    pub fn summaries(&self, grid: &Grid) -> Vec<(Vec<String>, PathBuf, Summary)> {
        let runs: Vec<u64> = self.lock().keys().copied().collect();
        let read = |run| Some((parse(&read(&self.path, run)?, grid, run)?, self.file(run)));
        let finished = runs.into_iter().filter_map(read);
        finished.map(|(run, path)| (run.values, path, run.summary)).collect()
    }

    /// Writes a result file atomically.
    ///
    /// # Errors
    /// The file cannot be written.
    pub fn write(&self, name: &str, content: &[u8]) -> Result<(), FolderError> {
        write(&self.path.join(name), content)
    }

    /// Removes a result file of an earlier execution, if it exists.
    pub(super) fn remove(&self, name: &str) {
        // A file that can't be removed is outdated, which is no reason to reject the results.
        let _ = std::fs::remove_file(self.path.join(name));
    }

    fn add(&self, run: u64, seed: u64, values: Vec<String>, summary: &Summary) {
        let row = Row::from_summary(&self.empty, run, seed, values, summary);
        self.lock().insert(run, row);
    }

    fn is_finished(&self, run: u64) -> bool {
        self.lock().contains_key(&run)
    }

    fn lock(&self) -> MutexGuard<'_, BTreeMap<u64, Row>> {
        self.finished.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn file(&self, run: u64) -> PathBuf {
        file(&self.path, run)
    }
}

/// Creates the folder with its description, unless another process does so at the same time.
fn create(path: &Path, description: &Path, identity: &Identity) -> Result<(), FolderError> {
    std::fs::create_dir_all(path).map_err(|source| FolderError::Create {
        path: path.to_owned(),
        source,
    })?;
    let io = |source| FolderError::Io {
        path: path.to_owned(),
        source,
    };
    let entries = std::fs::read_dir(path).map_err(io)?;
    let names: Result<Vec<_>, _> = entries.map(|entry| entry.map(|entry| entry.file_name())).collect();
    // An incomplete file is left by a sweep that was interrupted at its start.
    let incomplete = |name: &str| name.starts_with(FILE) && name.ends_with(INCOMPLETE);
    if names
        .map_err(io)?
        .iter()
        .any(|name| !name.to_str().is_some_and(incomplete))
    {
        return if description.exists() {
            Ok(())
        } else {
            Err(FolderError::NotSweep(path.to_owned()))
        };
    }
    let temporary = temporary(description);
    let written = std::fs::write(&temporary, identity.text()).and_then(|()| {
        // A rename would replace the file that another process has locked meanwhile.
        match std::fs::hard_link(&temporary, description) {
            Ok(()) => std::fs::remove_file(&temporary),
            Err(error) if error.kind() == ErrorKind::AlreadyExists => std::fs::remove_file(&temporary),
            // Not all file systems have links.
            Err(_) => std::fs::rename(&temporary, description),
        }
    });
    written.map_err(|source| {
        let _ = std::fs::remove_file(&temporary);
        io(source)
    })
}

/// Checks that a folder is of this sweep.
fn is_of(path: &Path, identity: &Identity) -> Result<(), FolderError> {
    let file = path.join(FILE);
    let text = match std::fs::read(&file) {
        Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => {
            return Err(FolderError::NotSweep(path.to_owned()));
        }
        Err(source) => return Err(FolderError::Io { path: file, source }),
        Ok(text) => text,
    };
    let found = Identity::parse(&text).ok_or_else(|| FolderError::NotSweep(path.to_owned()))?;
    match found.difference(identity) {
        Some(why) => Err(FolderError::Other {
            path: path.to_owned(),
            why,
        }),
        None => Ok(()),
    }
}

/// Numbers of the runs of which a folder has a file, in no particular order.
fn stored(path: &Path, grid: &Grid) -> Result<Vec<u64>, FolderError> {
    let runs = path.join(RUNS);
    let io = |source| FolderError::Io {
        path: runs.clone(),
        source,
    };
    let mut all = Vec::new();
    for entry in std::fs::read_dir(&runs).map_err(io)? {
        let name = entry.map_err(io)?.file_name();
        let number = name
            .to_str()
            .and_then(|name| name.strip_suffix(".json")?.parse::<u64>().ok());
        if let Some(run) = number.and_then(|number| number.checked_sub(1))
            && run < grid.runs()
        {
            all.push(run);
        }
    }
    Ok(all)
}

fn file(path: &Path, run: u64) -> PathBuf {
    path.join(RUNS).join(format!("{}.json", run + 1))
}

fn read(path: &Path, run: u64) -> Option<String> {
    std::fs::read_to_string(file(path, run)).ok()
}

/// Reads the content of the file of a run. `None` if it is damaged or of another run.
fn parse(text: &str, grid: &Grid, run: u64) -> Option<Finished> {
    let finished: Finished = serde_json::from_str(text).ok()?;
    (finished.run == run + 1 && finished.values == grid.choices(run)).then_some(finished)
}

/// Reads any bytes as files of a folder: `sweep.json`, a finished run. For fuzzing.
#[cfg(feature = "fuzz")]
pub(super) fn read_any(bytes: &[u8]) -> (bool, bool) {
    let finished = serde_json::from_slice::<Finished>(bytes).is_ok();
    (Identity::parse(bytes).is_some(), finished)
}

/// Name of a file that is renamed to `path` when it is complete. No other process uses it.
fn temporary(path: &Path) -> PathBuf {
    static NUMBER: AtomicU64 = AtomicU64::new(0);
    // Processes of several machines can have the same number.
    let now = SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .unwrap_or_default()
        .as_nanos();
    let mut name = path.as_os_str().to_owned();
    let number = NUMBER.fetch_add(1, Ordering::Relaxed);
    name.push(format!(".{}-{now:x}-{number}{INCOMPLETE}", std::process::id()));
    PathBuf::from(name)
}

/// Number of the run of an incomplete file: at least 1.
fn number(name: &str) -> Option<u64> {
    name.split_once('.')?.0.parse().ok().filter(|number| *number > 0)
}

/// Removes files that a killed process did not complete, if `is_left` of their names is true.
fn remove_incomplete(folder: &Path, is_left: impl Fn(&str) -> bool) {
    let Ok(entries) = std::fs::read_dir(folder) else { return };
    for entry in entries.flatten() {
        if entry
            .file_name()
            .to_str()
            .is_some_and(|name| name.ends_with(INCOMPLETE) && is_left(name))
        {
            // It only uses space.
            let _ = std::fs::remove_file(entry.path());
        }
    }
}

fn write(path: &Path, content: &[u8]) -> Result<(), FolderError> {
    let temporary = temporary(path);
    std::fs::write(&temporary, content)
        .and_then(|()| std::fs::rename(&temporary, path))
        .map_err(|source| {
            // An incomplete file is useless, and removing it frees its space.
            let _ = std::fs::remove_file(&temporary);
            FolderError::Io {
                path: path.to_owned(),
                source,
            }
        })
}
