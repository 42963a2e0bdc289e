//! Cached index of the runs of a directory.
//!
//! A refresh reads the `run.json` of a run again only if its modification time or length has changed. The index is saved to a
//! file in the directory, so that the next start reads only new and changed runs.

mod cache;

use crate::name::is_name;
use netburn_record::run_list::{RunEntry, RunListing, State, group, inspect, read_listing};
use netburn_runner::pool::{map, processors};
use std::collections::BTreeMap;
use std::fs::Metadata;
use std::io;
use std::path::{Path, PathBuf};
use std::time::UNIX_EPOCH;

/// The document of a finished run.
const DOCUMENT: &str = "run.json";

/// Index of the runs of a directory.
#[derive(Debug)]
pub struct Index {
    dir: PathBuf,
    runs: BTreeMap<String, Entry>,
    /// Modification time and length of the directory at the last full refresh.
    dir_stamp: Option<FileStamp>,
    /// The same of its folders that are no runs, by name. They may be groups of runs.
    groups: BTreeMap<String, FileStamp>,
    /// True after the first refresh.
    refreshed: bool,
    changes: u64,
    /// True if the cache file is out of date.
    cache_outdated: bool,
}

/// Entry of the index.
#[derive(Debug, Clone, PartialEq)]
pub struct Entry {
    /// Start of the run in milliseconds since 1970. A record without a start has the modification time of its document.
    pub at_ms: i64,
    /// State of the run, with the data that was read.
    pub state: RunState,
}

/// State of a run.
#[derive(Debug, Clone, PartialEq)]
pub enum RunState {
    /// The record is finished.
    Finished(FileStamp, Box<RunListing>),
    /// `run.json` cannot be read; with the reason.
    Unreadable(FileStamp, String),
    /// The record has no `run.json`: the run is in progress or was interrupted.
    Open(Box<RunEntry>),
}

/// Modification time and length of a file, to detect changes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct FileStamp {
    /// Modification time in nanoseconds since 1970.
    pub modified: i64,
    /// Length in bytes.
    pub length: u64,
}

/// Extent of a refresh.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RefreshMode {
    /// All runs.
    Full,
    /// Unfinished runs only; all runs if the directory has changed.
    Quick,
}

impl Index {
    /// Index of `dir` with the content of the cache file.
    #[must_use]
    pub fn new(dir: &Path) -> Index {
        Index {
            dir: dir.to_owned(),
            runs: cache::read(dir),
            dir_stamp: None,
            groups: BTreeMap::new(),
            refreshed: false,
            changes: 0,
            cache_outdated: false,
        }
    }

    /// Directory of the runs.
    #[must_use]
    pub fn dir(&self) -> &Path {
        &self.dir
    }

    /// Runs by name.
    #[must_use]
    pub fn runs(&self) -> &BTreeMap<String, Entry> {
        &self.runs
    }

    /// Number of changes so far. It never decreases.
    #[must_use]
    pub fn changes(&self) -> u64 {
        self.changes
    }

    /// Updates the index. If the cache file cannot be written, the next start reads all runs again.
    ///
    /// # Errors
    /// If the directory cannot be read. A directory that does not exist has no runs.
    pub fn refresh(&mut self, mode: RefreshMode) -> io::Result<()> {
        let now = match std::fs::metadata(&self.dir) {
            Ok(metadata) => Some(FileStamp::from_metadata(&metadata)),
            Err(error) if error.kind() == io::ErrorKind::NotFound => None,
            Err(error) => return Err(error),
        };
        if mode == RefreshMode::Quick && now.is_some() && now == self.dir_stamp && !self.groups_changed() {
            self.refresh_open();
        } else {
            self.refresh_all(now.is_some())?;
            self.dir_stamp = now;
        }
        if !std::mem::replace(&mut self.refreshed, true) {
            self.changes += 1;
        }
        if self.cache_outdated {
            self.cache_outdated = false;
            if let Err(error) = cache::write(&self.dir, &self.runs) {
                tracing::info!(%error, "cannot write the cache of the index");
            }
            // The cache file changed the directory, and a run may have changed at the same time: the next refresh is full.
            self.dir_stamp = None;
        }
        Ok(())
    }

    fn groups_changed(&self) -> bool {
        let changed = |(name, before): (&String, &FileStamp)| {
            let metadata = std::fs::metadata(self.dir.join(name));
            metadata.is_ok_and(|metadata| FileStamp::from_metadata(&metadata) != *before)
        };
        self.groups.iter().any(changed)
    }

    fn refresh_open(&mut self) {
        let open: Vec<String> = self
            .runs
            .iter()
            .filter(|(_, entry)| matches!(entry.state, RunState::Open(_)))
            .map(|(name, _)| name.clone())
            .collect();
        for name in open {
            let found = inspect_folder(&self.dir.join(&name), None);
            self.update(name, found);
        }
    }

    fn refresh_all(&mut self, exists: bool) -> io::Result<()> {
        let mut names = Vec::new();
        if exists {
            for entry in std::fs::read_dir(&self.dir)? {
                let entry = entry?;
                let kind = entry.file_type()?;
                let Ok(name) = entry.file_name().into_string() else {
                    continue;
                };
                // A link out of the directory is not a run of this directory.
                let is_inside = kind.is_dir() || kind.is_symlink() && crate::name::folder(&self.dir, &name).is_some();
                if is_inside && is_name(&name) {
                    names.push(name);
                }
            }
        }
        let mut found = read_all(&self.dir, &names, &self.runs);
        let members = self.members(&names, &found);
        found.extend(read_all(&self.dir, &members, &self.runs));
        names.extend(members);
        let mut found: Vec<(String, Found)> = names.into_iter().zip(found).collect();
        found.sort_unstable_by(|(one, _), (other, _)| one.cmp(other));
        let removed: Vec<String> = self
            .runs
            .keys()
            .filter(|name| found.binary_search_by(|(found, _)| found.cmp(name)).is_err())
            .cloned()
            .collect();
        for name in removed {
            self.update(name, Found::NoRun);
        }
        for (name, entry) in found {
            self.update(name, entry);
        }
        Ok(())
    }

    /// Names of the folders in groups: in the folders of `names` that are no runs. Remembers the state of these folders.
    fn members(&mut self, names: &[String], found: &[Found]) -> Vec<String> {
        self.groups.clear();
        let mut members = Vec::new();
        for (name, _) in names
            .iter()
            .zip(found)
            .filter(|(_, found)| matches!(found, Found::NoRun))
        {
            let path = self.dir.join(name);
            if let Ok(metadata) = std::fs::metadata(&path) {
                self.groups.insert(name.clone(), FileStamp::from_metadata(&metadata));
            }
            let inner = group(&path)
                .into_iter()
                .filter_map(|path| Some(path.file_name()?.to_str()?.to_owned()));
            members.extend(
                inner
                    .map(|inner| format!("{name}/{inner}"))
                    .filter(|name| is_name(name)),
            );
        }
        members
    }

    fn update(&mut self, name: String, found: Found) {
        let entry = match found {
            Found::Unchanged => return,
            Found::NoRun => None,
            Found::Run(entry) => Some(*entry),
        };
        if self.runs.get(&name) == entry.as_ref() {
            return;
        }
        self.changes += 1;
        let is_cached = |entry: Option<&Entry>| entry.is_some_and(|entry| !matches!(entry.state, RunState::Open(_)));
        self.cache_outdated |= is_cached(self.runs.get(&name)) || is_cached(entry.as_ref());
        match entry {
            Some(entry) => self.runs.insert(name, entry),
            None => self.runs.remove(&name),
        };
    }
}

impl Entry {
    /// Name of the state, as in the output of `netburn runs`.
    #[must_use]
    pub fn state_name(&self) -> &'static str {
        match &self.state {
            RunState::Finished(..) => "finished",
            RunState::Unreadable(..) => "unreadable",
            RunState::Open(listed) => match &listed.state {
                State::Finished(_) => "finished",
                State::Live => "live",
                State::Unfinished => "unfinished",
                State::Unreadable(_) => "unreadable",
            },
        }
    }

    /// Data of a finished run.
    #[must_use]
    pub fn brief(&self) -> Option<&RunListing> {
        match &self.state {
            RunState::Finished(_, brief) => Some(brief),
            _ => None,
        }
    }

    /// Reason why the run cannot be read.
    #[must_use]
    pub fn error(&self) -> Option<&str> {
        match &self.state {
            RunState::Unreadable(_, why) => Some(why),
            RunState::Open(listed) => match &listed.state {
                State::Unreadable(why) => Some(why),
                _ => None,
            },
            RunState::Finished(..) => None,
        }
    }
}

impl FileStamp {
    fn from_metadata(metadata: &Metadata) -> FileStamp {
        let modified = metadata.modified().ok();
        let since = modified.and_then(|at| at.duration_since(UNIX_EPOCH).ok());
        FileStamp {
            modified: since.map_or(0, |since| i64::try_from(since.as_nanos()).unwrap_or(i64::MAX)),
            length: metadata.len(),
        }
    }
}

/// Inspects the runs with these names, on several threads: the first refresh of a large directory reads many files.
fn read_all(dir: &Path, names: &[String], known: &BTreeMap<String, Entry>) -> Vec<Found> {
    const CHUNK: usize = 64;
    const MAX_THREADS: usize = 8;
    let read = |names: &[String]| -> Vec<Found> {
        let known = names.iter().map(|name| (name, known.get(name)));
        known
            .map(|(name, entry)| inspect_folder(&dir.join(name), entry))
            .collect()
    };
    let chunks: Vec<&[String]> = names.chunks(CHUNK).collect();
    let threads = processors().min(MAX_THREADS);
    let read = map(chunks.len(), threads, &|chunk| read(chunks[chunk]));
    read.into_iter().flatten().collect()
}

/// Result of the inspection of a folder.
enum Found {
    /// The folder is not a run.
    NoRun,
    /// The run has not changed.
    Unchanged,
    /// A new or changed run.
    Run(Box<Entry>),
}

/// Inspects a folder; `known` is its entry from the last refresh.
fn inspect_folder(path: &Path, known: Option<&Entry>) -> Found {
    let document = path.join(DOCUMENT);
    let Ok(metadata) = std::fs::metadata(&document) else {
        let Some(listed) = inspect(path) else {
            return Found::NoRun;
        };
        let at_ms = listed.at.map_or(0, |at| at.0 / 1_000_000);
        let state = RunState::Open(Box::new(listed));
        return Found::Run(Box::new(Entry { at_ms, state }));
    };
    let stamp = FileStamp::from_metadata(&metadata);
    match known {
        Some(known) if matches!(known.state, RunState::Finished(s, _) | RunState::Unreadable(s, _) if s == stamp) => {
            return Found::Unchanged;
        }
        _ => {}
    }
    let modified = stamp.modified / 1_000_000;
    Found::Run(Box::new(match read_listing(&document) {
        Ok(brief) => Entry {
            at_ms: brief.started.map_or(modified, |started| started.0 / 1_000_000),
            state: RunState::Finished(stamp, Box::new(brief)),
        },
        Err(error) => Entry {
            at_ms: modified,
            state: RunState::Unreadable(stamp, error.to_string()),
        },
    }))
}
