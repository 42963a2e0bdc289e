//! Folder of a sweep: its description, one small file for each finished run, and the results.
//!
//! `sweep.json` describes the sweep, and `runs/12.json` is the summary of the twelfth run. Files are written atomically by a
//! rename, so that an interruption loses only the runs in progress. A process locks the folder while it writes.

use super::check::{Checked, InvalidCells};
use super::grid::Grid;
use super::rows::{Row, Rows};
use netburn_record::Summary;
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;
use std::fs::{File, TryLockError};
use std::io;
use std::path::{Path, PathBuf};

/// The schema of `sweep.json`.
pub const SCHEMA: &str = "netburn.sweep/1";

const FILE: &str = "sweep.json";
const RUNS: &str = "runs";

/// An open sweep folder.
#[derive(Debug)]
pub struct Folder {
    path: PathBuf,
    finished: BTreeSet<u64>,
    /// Closing the file releases the lock.
    _lock: File,
    /// Invalid cells.
    impossible: Option<InvalidCells>,
}

/// Error of a sweep folder.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum FolderError {
    /// The path exists and is not a sweep.
    #[error("{} exists and is not a sweep; use another --out", .0.display())]
    NotSweep(PathBuf),
    /// The folder belongs to another sweep.
    #[error("{} contains another sweep: {why}; use another --out", .path.display())]
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
}

/// Description of the sweep.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct Identity {
    schema: String,
    version: String,
    scenario: String,
    vary: Vec<Varied>,
    repeat: u32,
    runs: u64,
    /// Number of runs of invalid cells.
    #[serde(default, skip_serializing_if = "is_none")]
    impossible_runs: u64,
    fingerprint: String,
    /// Plan of the first valid run.
    plan: serde_json::Value,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes fields by reference")]
fn is_none(count: &u64) -> bool {
    *count == 0
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct Varied {
    key: String,
    values: Vec<String>,
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
    pub fn open(path: &Path, grid: &Grid, checked: &Checked) -> Result<Self, FolderError> {
        let io = |source| FolderError::Io {
            path: path.to_owned(),
            source,
        };
        let identity = identity(grid, checked);
        let file = path.join(FILE);
        if !file.exists() {
            std::fs::create_dir_all(path).map_err(|source| FolderError::Create {
                path: path.to_owned(),
                source,
            })?;
            let entries = std::fs::read_dir(path).map_err(io)?;
            let names: Result<Vec<_>, _> = entries.map(|entry| entry.map(|entry| entry.file_name())).collect();
            // An incomplete file is left by a sweep that was interrupted at its start.
            if names.map_err(io)?.iter().any(|name| *name != *"sweep.json.tmp") {
                return Err(FolderError::NotSweep(path.to_owned()));
            }
            write(&file, &pretty(&identity))?;
        }
        let lock = File::open(&file).map_err(io)?;
        match lock.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => return Err(FolderError::Busy(path.to_owned())),
            Err(TryLockError::Error(error)) => return Err(io(error)),
        }
        let text = std::fs::read_to_string(&file).map_err(io)?;
        let found: Identity = serde_json::from_str(&text).map_err(|_| FolderError::NotSweep(path.to_owned()))?;
        if let Some(why) = difference(&found, &identity) {
            return Err(FolderError::Other {
                path: path.to_owned(),
                why,
            });
        }
        std::fs::create_dir_all(path.join(RUNS)).map_err(io)?;
        let mut folder = Folder {
            path: path.to_owned(),
            finished: BTreeSet::new(),
            impossible: checked.impossible.clone(),
            _lock: lock,
        };
        for entry in std::fs::read_dir(path.join(RUNS)).map_err(io)? {
            let name = entry.map_err(io)?.file_name();
            let number = name
                .to_str()
                .and_then(|name| name.strip_suffix(".json")?.parse::<u64>().ok());
            // A run whose file cannot be read runs again.
            if let Some(run) = number.and_then(|number| number.checked_sub(1))
                && run < grid.runs()
                && folder.read(grid, run).is_some()
            {
                folder.finished.insert(run);
            }
        }
        Ok(folder)
    }

    /// Path of the folder.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Runs that were finished when the folder was opened.
    #[must_use]
    pub fn finished(&self) -> &BTreeSet<u64> {
        &self.finished
    }

    /// Number of runs of valid cells.
    #[must_use]
    pub fn possible(&self, grid: &Grid) -> u64 {
        let impossible = self.impossible.as_ref().map_or(0, InvalidCells::count);
        grid.runs() - impossible * u64::from(grid.repeat())
    }

    /// Returns `true` if a run belongs to an invalid cell.
    pub(super) fn is_impossible(&self, grid: &Grid, run: u64) -> bool {
        let impossible = self.impossible.as_ref();
        impossible.is_some_and(|wrong| wrong.why(run / u64::from(grid.repeat())).is_some())
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
        write(&self.file(run), &text)
    }

    /// Returns the rows of all finished runs in the order of their numbers, and one row for each invalid cell.
    ///
    /// # Errors
    /// An existing file cannot be read.
    pub fn rows(&self, grid: &Grid, checked: &Checked) -> Result<Rows, FolderError> {
        let mut rows = Rows::new(grid, checked);
        for run in 0..grid.runs() {
            if self.is_impossible(grid, run) {
                if run % u64::from(grid.repeat()) == 0 {
                    let values = grid.choices(run).into_iter().map(str::to_owned).collect();
                    rows.push(Row::impossible(&rows, run, values));
                }
            } else if let Some(finished) = self.read(grid, run) {
                rows.push(Row::from_summary(
                    &rows,
                    run,
                    finished.seed,
                    finished.values,
                    &finished.summary,
                ));
            }
        }
        Ok(rows)
    }

    /// Returns the finished runs in the order of their numbers: values of the keys, path and summary.
    #[must_use]
    pub fn summaries(&self, grid: &Grid) -> Vec<(Vec<String>, PathBuf, Summary)> {
        let read = |run| Some((self.read(grid, run)?, self.file(run)));
        let finished = (0..grid.runs()).filter_map(read);
        finished.map(|(run, path)| (run.values, path, run.summary)).collect()
    }

    /// Writes a result file atomically.
    ///
    /// # Errors
    /// The file cannot be written.
    pub fn write(&self, name: &str, content: &[u8]) -> Result<(), FolderError> {
        write_bytes(&self.path.join(name), content)
    }

    fn file(&self, run: u64) -> PathBuf {
        self.path.join(RUNS).join(format!("{}.json", run + 1))
    }

    fn read(&self, grid: &Grid, run: u64) -> Option<Finished> {
        let text = std::fs::read_to_string(self.file(run)).ok()?;
        let finished: Finished = serde_json::from_str(&text).ok()?;
        (finished.run == run + 1 && finished.values == grid.choices(run)).then_some(finished)
    }
}

/// Reads any bytes as files of a folder: `sweep.json`, a finished run. For fuzzing.
#[cfg(feature = "fuzz")]
pub(super) fn read_any(bytes: &[u8]) -> (bool, bool) {
    let identity = serde_json::from_slice::<Identity>(bytes).is_ok();
    (identity, serde_json::from_slice::<Finished>(bytes).is_ok())
}

fn identity(grid: &Grid, checked: &Checked) -> Identity {
    let vary = grid.keys().iter().zip(grid.values());
    let plan = grid.first_plan();
    let impossible = checked.impossible.as_ref().map_or(0, InvalidCells::count);
    Identity {
        schema: SCHEMA.to_owned(),
        version: env!("CARGO_PKG_VERSION").to_owned(),
        scenario: plan.as_ref().map(|plan| plan.name.clone()).unwrap_or_default(),
        vary: vary
            .map(|(key, values)| Varied {
                key: key.clone(),
                values: values.clone(),
            })
            .collect(),
        repeat: grid.repeat(),
        runs: grid.runs(),
        impossible_runs: impossible * u64::from(grid.repeat()),
        fingerprint: format!("{:016x}", checked.fingerprint),
        plan: plan.map(|plan| plan.to_json()).unwrap_or_default(),
    }
}

/// Returns the difference between the sweep found in the folder and the requested one.
fn difference(found: &Identity, wanted: &Identity) -> Option<String> {
    let keys = |identity: &Identity| -> Vec<String> { identity.vary.iter().map(|v| v.key.clone()).collect() };
    if found.schema != wanted.schema || found.version != wanted.version {
        return Some(format!(
            "found version {} of netburn, expected {}",
            found.version, wanted.version
        ));
    }
    if found.scenario != wanted.scenario {
        return Some(format!("found the scenario `{}`", found.scenario));
    }
    if keys(found) != keys(wanted) {
        return Some(format!("found the keys {}", keys(found).join(", ")));
    }
    for (one, other) in found.vary.iter().zip(&wanted.vary) {
        if one.values != other.values {
            return Some(format!("found other values of `{}`", one.key));
        }
    }
    if found.repeat != wanted.repeat {
        return Some(format!("found {} runs of each cell", found.repeat));
    }
    (found.fingerprint != wanted.fingerprint).then(|| "the scenario or its settings have changed".to_owned())
}

fn pretty(identity: &Identity) -> String {
    serde_json::to_string_pretty(identity).expect("it has only text for keys") + "\n"
}

fn write(path: &Path, text: &str) -> Result<(), FolderError> {
    write_bytes(path, text.as_bytes())
}

fn write_bytes(path: &Path, content: &[u8]) -> Result<(), FolderError> {
    let mut temporary = path.as_os_str().to_owned();
    temporary.push(".tmp");
    let temporary = PathBuf::from(temporary);
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
