//! The directory of runs with its index, shared by all requests.

use crate::index::{Index, RefreshMode};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

/// Runs of a directory.
#[derive(Debug)]
pub(crate) struct RunStore {
    dir: PathBuf,
    index: Mutex<Index>,
}

impl RunStore {
    pub(crate) fn new(dir: &Path) -> RunStore {
        RunStore {
            dir: dir.to_owned(),
            index: Mutex::new(Index::new(dir)),
        }
    }

    pub(crate) fn dir(&self) -> &Path {
        &self.dir
    }

    /// Refreshes the index and passes it to `read`.
    pub(crate) fn with<T>(&self, mode: RefreshMode, read: impl FnOnce(&Index) -> T) -> io::Result<T> {
        let mut index = self.index.lock().unwrap_or_else(PoisonError::into_inner);
        index.refresh(mode)?;
        Ok(read(&index))
    }
}
