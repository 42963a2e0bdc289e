//! A run folder while the run is active.

use crate::document::sync_folder;
use crate::error::Error;
use crate::finish::finish;
use crate::folder::SPOOL;
use crate::header::{Header, RunStatus};
use crate::row::{Row, Sink};
use crate::run::Run;
use crate::spool::SpoolWriter;
use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};

/// Writes a run folder: rows go to the spool while the run is active, and to Parquet tables when it
/// ends.
///
/// **Call order:** [`create`](Self::create), then any number of [`put`](Sink::put), with [`sync`](Sink::sync) at least
/// once a second, then [`finish`](Self::finish). A recorder that is dropped, or whose process is killed, leaves a
/// folder that [`recover`](crate::recover()) finishes. The record then has all rows up to the last `sync` and perhaps
/// more.
///
/// An error of `put` or `sync` is returned once. Later rows are discarded. `finish` then records
/// what reached the disk before, with the error as the run's status.
#[derive(Debug)]
pub struct Recorder {
    path: PathBuf,
    header: Header,
    /// Locked while the process lives, so that other processes see that the run is active.
    spool: SpoolWriter<File>,
    /// Text of the first error.
    broken: Option<String>,
}

impl Recorder {
    /// Creates the folder `path` and its parents. If it exists, `path-2`, `path-3` and so on are
    /// tried; [`path`](Self::path) returns the result.
    ///
    /// # Errors
    /// When it can't be made or written to.
    pub fn create(path: &Path, header: Header) -> Result<Self, Error> {
        let path = make_folder(path)?;
        let spool_path = path.join(SPOOL);
        let spool = (|| {
            let file = File::create_new(&spool_path)?;
            // No other process records here. But a process that checks for an active run may hold
            // the lock for a moment.
            file.lock()?;
            SpoolWriter::create(file, &header.to_spool())
        })();
        match spool {
            Ok(spool) => {
                // Not every system can sync a folder.
                let _ = sync_folder(&path);
                Ok(Recorder {
                    path,
                    header,
                    spool,
                    broken: None,
                })
            }
            Err(error) => {
                // Nothing was recorded: delete the folder.
                let _ = std::fs::remove_file(&spool_path);
                let _ = std::fs::remove_dir(&path);
                Err(Error::io(spool_path)(error))
            }
        }
    }

    /// The run's folder.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Header of the run.
    #[must_use]
    pub fn header(&self) -> &Header {
        &self.header
    }

    /// Turns the spool into columns, computes the summary and writes `run.json` last, in one rename.
    ///
    /// # Errors
    /// When it cannot be written. The spool stays and nothing looks finished, so that
    /// [`recover`](crate::recover()) can try again.
    pub fn finish(mut self, status: &RunStatus) -> Result<Run, Error> {
        let written = self.spool.write();
        // Rows that cannot be spooled are lost; earlier rows remain.
        let _ = self.note(written);
        let status = match self.broken {
            Some(why) => RunStatus::Failed(why),
            None => status.clone(),
        };
        let document = finish(&self.path, &self.header, |_| status)?;
        // Unlocked only now, so that no other process finishes the folder.
        drop(self.spool);
        Ok(Run::finished(self.path, self.header, document))
    }

    /// Remembers the first error.
    fn note(&mut self, result: io::Result<()>) -> io::Result<()> {
        if let Err(error) = &result
            && self.broken.is_none()
        {
            self.broken = Some(format!("the record could not be written: {error}"));
        }
        result
    }
}

impl Sink for Recorder {
    fn put(&mut self, row: &Row) -> io::Result<()> {
        let result = self.spool.put(row);
        self.note(result)
    }

    /// Returns when every row that was put is on the disk.
    fn sync(&mut self) -> io::Result<()> {
        let result = self.spool.sync();
        self.note(result)
    }
}

/// Creates a folder at `path`, or at the first free one of `path-2`, `path-3`, ….
///
/// # Errors
/// When none can be made.
pub fn make_folder(path: &Path) -> Result<PathBuf, Error> {
    let unmade = |at: &Path, source: io::Error| Error::Folder {
        path: path.to_owned(),
        at: at.to_owned(),
        source,
    };
    if let Some(parent) = path.parent() {
        std::fs::create_dir_all(parent).map_err(|error| unmade(parent, error))?;
    }
    let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
    for number in 1.. {
        let candidate = match number {
            1 => path.to_owned(),
            number => path.with_file_name(format!("{name}-{number}")),
        };
        match std::fs::create_dir(&candidate) {
            Ok(()) => return Ok(candidate),
            // An empty folder that the user created for the run is used.
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists && number == 1 && is_empty(&candidate) => {
                return Ok(candidate);
            }
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists && number < 10_000 => {}
            Err(error) => return Err(unmade(&candidate, error)),
        }
    }
    unreachable!("the numbers end with an error")
}

fn is_empty(path: &Path) -> bool {
    std::fs::read_dir(path).is_ok_and(|mut entries| entries.next().is_none())
}
