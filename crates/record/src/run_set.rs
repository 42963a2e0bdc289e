//! Several runs of one plan: a folder with runs `1`, `2` and so on, and one summary of all.

use crate::error::Error;
use crate::folder::MARK;
use crate::recorder::make_folder;
use crate::run::Run;
use crate::run::pool::pooled;
use std::fs::File;
use std::path::{Path, PathBuf};

/// The runs of one scenario while they are recorded.
///
/// **Call order:** [`create`](Self::create); for each run a [`Recorder`](crate::Recorder) at
/// [`next_path`](Self::next_path), finished, then [`add`](Self::add); [`finish`](Self::finish). If
/// the controller is killed, [`recover`](crate::recover()) finishes the folder with the existing runs.
#[derive(Debug)]
pub struct RunSet {
    path: PathBuf,
    runs: Vec<Run>,
    /// Held until the pool is written.
    lock: File,
}

impl RunSet {
    /// Makes the folder of runs, by [`make_folder`].
    ///
    /// # Errors
    /// When it can't be made.
    pub fn create(path: &Path) -> Result<Self, Error> {
        let path = make_folder(path)?;
        let mark = path.join(MARK);
        let lock = File::create_new(&mark).and_then(|file| {
            // A process that checks for an active run may hold the lock for a moment.
            file.lock()?;
            Ok(file)
        });
        Ok(RunSet {
            lock: lock.map_err(Error::io(mark))?,
            path,
            runs: Vec::new(),
        })
    }

    /// The folder of runs.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Path of the next run.
    #[must_use]
    pub fn next_path(&self) -> PathBuf {
        self.path_of(self.runs.len())
    }

    /// Path of run `number`, counted from 0. Runs may be recorded concurrently; they are
    /// [added](Self::add) in the order of their numbers.
    #[must_use]
    pub fn path_of(&self, number: usize) -> PathBuf {
        self.path.join((number + 1).to_string())
    }

    /// Adds the run that was recorded there.
    pub fn add(&mut self, run: Run) {
        self.runs.push(run);
    }

    /// Pools the runs and writes `run.json`.
    ///
    /// # Errors
    /// When there are none, they are not of one scenario, or it can't be written.
    pub fn finish(self) -> Result<Run, Error> {
        let run = pool(&self.path, &self.runs)?;
        // The pool is whole without this.
        let _ = std::fs::remove_file(self.path.join(MARK));
        drop(self.lock);
        Ok(run)
    }

    /// A run set whose controller was killed, with the runs that were begun. `lock` is the lock of
    /// its mark.
    pub(crate) fn resume(path: &Path, runs: Vec<Run>, lock: File) -> Self {
        RunSet {
            path: path.to_owned(),
            runs,
            lock,
        }
    }
}

/// Pools runs of one plan: the operations of all runs are judged together, and each run is listed.
/// Writes `run.json` into `folder`, which holds the runs' folders.
///
/// # Errors
/// When there are none, they are not of one scenario, a run can't be read, or it can't be written.
pub fn pool(folder: &Path, runs: &[Run]) -> Result<Run, Error> {
    let document = pooled(folder, runs)?;
    document.write(folder)?;
    Ok(Run::finished(folder.to_owned(), runs[0].header().clone(), document))
}
