//! The folder of a watch: its lock, its hours, and their deletion.

use crate::exit::CliError;
use crate::page;
use netburn_analysis::View;
use netburn_record::run_list::{RunEntry, State, inspect};
use netburn_record::{UnixTime, files::record_files, recover};
use netburn_units::ByteSize;
use netburn_watch::{hour, keep};
use std::fs::{self, File, TryLockError};
use std::io;
use std::path::{Path, PathBuf};

/// File whose lock a running watch holds.
const LOCK: &str = "watch.lock";
/// File with which the free space is tested.
const SPACE: &str = "watch.space";
/// Free space from which a record begins: more than one hour needs.
const NEEDED: usize = 8 << 20;
/// Further files that a watch writes into the folder of an hour.
const EXTRA: [&str; 3] = [
    page::FILE,
    netburn_analysis::explain::FILE,
    netburn_analysis::explain::REMEDIES_FILE,
];

/// Name of the scenario in all records of a watch.
pub(super) const SCENARIO: &str = "watch";

/// A folder that this process alone uses.
#[derive(Debug)]
pub(super) struct Folder {
    pub(super) path: PathBuf,
    /// Maximum size of all records.
    pub(super) keep: ByteSize,
    /// True if it is in memory, so that its files are lost with the next start of the computer.
    pub(super) is_in_memory: bool,
    _lock: File,
}

/// A record in the folder.
#[derive(Debug, Clone)]
pub(super) struct Hour {
    pub(super) at: UnixTime,
    pub(super) name: String,
    pub(super) path: PathBuf,
    pub(super) entry: RunEntry,
}

impl Folder {
    /// Creates the folder if necessary, and takes its lock. All records have at most `keep`; `None`: what suits the folder.
    pub(super) fn open(path: &Path, keep: Option<ByteSize>) -> Result<Folder, CliError> {
        let unusable = |error: &dyn std::fmt::Display| CliError::Usage(format!("{}: {error}", path.display()));
        fs::create_dir_all(path).map_err(|error| unusable(&error))?;
        let lock = File::options()
            .create(true)
            .append(true)
            .open(path.join(LOCK))
            .map_err(|error| unusable(&error))?;
        match lock.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => return Err(unusable(&"another `netburn watch` uses this folder")),
            Err(TryLockError::Error(error)) => return Err(unusable(&error)),
        }
        let is_in_memory = is_in_memory(path);
        Ok(Folder {
            path: path.to_owned(),
            keep: keep.unwrap_or_else(|| keep::default_size(is_in_memory)),
            is_in_memory,
            _lock: lock,
        })
    }

    /// Completes the records of a watch that was killed. Returns a line for each of them, and for each that fails.
    pub(super) fn recover(&self) -> Vec<String> {
        let unfinished = hours(&self.path)
            .into_iter()
            .filter(|hour| hour.entry.state == State::Unfinished);
        unfinished
            .filter_map(|hour| match recover(&hour.path) {
                Ok(true) => {
                    if let Ok(view) = View::open(&hour.path) {
                        page::keep(&hour.path, &view);
                    }
                    Some(format!("{} was interrupted; its record is now complete", hour.name))
                }
                Ok(false) => None,
                Err(error) => Some(format!("{} can't be completed yet: {error}", hour.name)),
            })
            .collect()
    }

    /// Deletes the oldest hours until all records have at most [`keep`](Self::keep). Returns the names of the deleted ones, and errors.
    pub(super) fn delete_oldest(&self) -> (Vec<String>, Vec<String>) {
        let hours = hours(&self.path);
        let sizes: Vec<keep::Recorded> = hours
            .iter()
            .map(|hour| keep::Recorded {
                size: ByteSize::from_bytes(size(&hour.path)),
                is_open: hour.entry.state == State::Live,
            })
            .collect();
        let (mut deleted, mut errors) = (Vec::new(), Vec::new());
        for index in keep::to_delete(&sizes, self.keep) {
            match delete(&hours[index].path) {
                Ok(()) => deleted.push(hours[index].name.clone()),
                Err(error) => errors.push(format!("{} can't be deleted: {error}", hours[index].name)),
            }
        }
        (deleted, errors)
    }

    /// Tests whether a record can be written: whether there is space.
    pub(super) fn check_space(&self) -> io::Result<()> {
        let path = self.path.join(SPACE);
        let written = fs::write(&path, vec![0; NEEDED]);
        let _ = fs::remove_file(&path);
        written
    }
}

/// True if a folder is on a file system in memory.
fn is_in_memory(folder: &Path) -> bool {
    let mounts = fs::read("/proc/self/mountinfo").unwrap_or_default();
    let path = folder.canonicalize();
    path.is_ok_and(|path| keep::is_in_memory(&String::from_utf8_lossy(&mounts), &path))
}

/// The records of a watch in a folder, the oldest first. Only folders with a name and a scenario of a watch are among them,
/// and no links.
pub(super) fn hours(folder: &Path) -> Vec<Hour> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let mut hours: Vec<Hour> = entries
        .filter_map(|entry| {
            let name = entry.file_name().into_string().ok()?;
            let (at, _) = hour::parse(&name)?;
            entry.file_type().ok()?.is_dir().then_some(())?;
            let path = entry.path();
            let entry = inspect(&path)?;
            // The header of a record that was killed at once may be missing.
            let is_ours = entry.scenario.as_deref().is_none_or(|scenario| scenario == SCENARIO);
            is_ours.then_some(Hour { at, name, path, entry })
        })
        .collect();
    hours.sort_by(|one, other| (one.at, number(one), &one.name).cmp(&(other.at, number(other), &other.name)));
    hours
}

fn number(hour: &Hour) -> u32 {
    hour::parse(&hour.name).map_or(0, |(_, number)| number)
}

/// Files of a record and its page.
fn files(hour: &Path) -> Vec<PathBuf> {
    let record = record_files(hour).unwrap_or_default();
    let extra = EXTRA.map(|name| hour.join(name));
    record.into_iter().map(|(_, path)| path).chain(extra).collect()
}

/// Bytes of a record and its page.
fn size(hour: &Path) -> u64 {
    let sizes = files(hour)
        .into_iter()
        .filter_map(|path| Some(fs::symlink_metadata(path).ok()?.len()));
    sizes.sum()
}

/// Deletes the files of a record, and its folder. A folder with other files remains, with these files.
fn delete(hour: &Path) -> io::Result<()> {
    for path in files(hour) {
        match fs::remove_file(&path) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
            _ => {}
        }
    }
    match fs::remove_dir(hour) {
        Err(error) if error.kind() == io::ErrorKind::DirectoryNotEmpty => Ok(()),
        removed => removed,
    }
}

/// Name of a folder itself.
pub(super) fn name(path: &Path) -> String {
    path.file_name().unwrap_or_default().to_string_lossy().into_owned()
}
