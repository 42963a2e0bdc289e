//! A run folder while the run is under way.

use crate::document::header_to_json;
use crate::document::sync_folder;
use crate::error::Error;
use crate::finish::{SPOOL, finish};
use crate::header::{Header, RunStatus};
use crate::row::{Row, Sink};
use crate::run::Run;
use crate::spool::SpoolWriter;
use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};

/// Writes a run folder: rows go to the spool while the run is under way, to Parquet columns when it ends.
///
/// **Call order:** [`create`](Self::create), then any number of [`put`](Sink::put), with [`sync`](Sink::sync) at least
/// once a second, then [`finish`](Self::finish). A recorder that is dropped, or whose process is killed, leaves a folder
/// that [`Run::open`] finishes, with all rows up to the last `sync` and perhaps more.
///
/// An error of `put` or `sync` is returned once. After it, rows are let go; `finish` then keeps what reached
/// the disk before, and the run has failed for that reason.
#[derive(Debug)]
pub struct Recorder {
    path: PathBuf,
    header: Header,
    /// It is locked: whoever opens the folder sees that it is live. The lock goes with the process.
    spool: SpoolWriter<File>,
    /// What the first error said.
    broken: Option<String>,
}

impl Recorder {
    /// Makes the folder `path`, and those above it. When it is taken, `path-2`, `path-3` and so on are tried:
    /// [`path`](Self::path) says which it became.
    ///
    /// # Errors
    /// When it can't be made or written to.
    pub fn create(path: &Path, header: Header) -> Result<Self, Error> {
        let path = make_folder(path)?;
        let spool_path = path.join(SPOOL);
        let spool = (|| {
            let file = File::create_new(&spool_path)?;
            // Nobody else records here; but somebody who looks whether it is live may hold it for a moment.
            file.lock()?;
            SpoolWriter::create(file, &header_to_json(&header))
        })();
        match spool {
            Ok(spool) => {
                // A system that can't sync a folder still has it.
                let _ = sync_folder(&path);
                Ok(Recorder {
                    path,
                    header,
                    spool,
                    broken: None,
                })
            }
            Err(error) => {
                // Nothing was recorded: leave no folder that looks like a run.
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

    /// What was known before the first row.
    #[must_use]
    pub fn header(&self) -> &Header {
        &self.header
    }

    /// Turns the spool into columns, computes the summary and writes `run.json` last, in one rename.
    ///
    /// # Errors
    /// When it can't be written. The spool is kept then, and nothing that looks finished is left: [`Run::open`] tries
    /// again.
    pub fn finish(mut self, status: &RunStatus) -> Result<Run, Error> {
        let written = self.spool.write();
        // What can't be spooled any more is lost; what was, isn't.
        let _ = self.note(written);
        let status = match self.broken {
            Some(why) => RunStatus::Failed(why),
            None => status.clone(),
        };
        let document = finish(&self.path, &self.header, |_| status)?;
        // Unlocked only now, so that nobody finishes the folder a second time.
        drop(self.spool);
        Ok(Run::from_parts(self.path, self.header, document))
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

/// Makes a new folder at `path`, or the first of `path-2`, `path-3`, … that isn't taken.
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
            // An empty folder that somebody made for the run is as good as a new one.
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
