//! Files of a run folder: their names, the spool, and the locks.

use crate::document::FILE;
use crate::error::Error;
use crate::regular;
use crate::spool::{SpoolError, SpoolReader, VERSION};
use std::fs::{File, OpenOptions, TryLockError};
use std::io;
use std::path::{Path, PathBuf};

/// The name of the spool's file.
pub(crate) const SPOOL: &str = "spool";

/// File that marks a run set while its runs are recorded. The recording process holds its lock.
pub(crate) const MARK: &str = "repeats";

/// Folder in which the record with late results is written. Its `run.json` is written last.
const AMENDED: &str = "amended";

/// Path of a table's file.
pub(crate) fn table_path(folder: &Path, name: &str) -> PathBuf {
    folder.join(format!("{name}.parquet"))
}

/// Path of the folder with the new record of a merge.
pub(crate) fn amended_path(folder: &Path) -> PathBuf {
    folder.join(AMENDED)
}

/// The folder with the present record: `amended` if a merge has written it whole but has not moved
/// it yet, otherwise `folder`.
pub(crate) fn present(folder: &Path) -> PathBuf {
    let amended = amended_path(folder);
    if amended.join(FILE).exists() {
        amended
    } else {
        folder.to_owned()
    }
}

/// Path of the file with the present rows of a table. A merge moves the tables one by one.
pub(crate) fn present_table(folder: &Path, name: &str) -> PathBuf {
    let table = table_path(&present(folder), name);
    if table.exists() {
        table
    } else {
        table_path(folder, name)
    }
}

/// Opens a folder's spool for reading.
pub(crate) fn open_spool(folder: &Path) -> Result<SpoolReader<File>, Error> {
    let path = folder.join(SPOOL);
    let file = regular::open(&path).map_err(Error::io(&path))?;
    SpoolReader::open(file).map_err(|error| match error {
        SpoolError::Io(error) => Error::io(path)(error),
        SpoolError::Newer(found) => Error::Newer {
            path,
            found: found.into(),
            known: VERSION.into(),
        },
        SpoolError::Damaged(what) => Error::damaged(path, what),
    })
}

/// Opens the spool or the mark of a folder that has no `run.json`; `None` if there is none.
///
/// # Errors
/// When it cannot be opened.
pub(crate) fn open_lock(path: &Path) -> Result<Option<File>, Error> {
    match regular::open(path) {
        Ok(lock) => Ok(Some(lock)),
        Err(error) if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) => Ok(None),
        Err(error) => Err(Error::io(path)(error)),
    }
}

/// Returns true if another process is recording: it holds the lock of this file. A file system
/// without locks has no recording process.
pub(crate) fn is_locked(lock: &File) -> bool {
    matches!(lock.try_lock_shared(), Err(TryLockError::WouldBlock))
}

/// Lock of a finished folder: the lock of its spool, which is created for this purpose and deleted
/// with it.
pub(crate) struct Lock {
    path: PathBuf,
    _file: File,
}

impl Lock {
    /// Takes the lock.
    ///
    /// # Errors
    /// [`Error::Live`] when another process holds it; when the file cannot be created.
    pub(crate) fn take(folder: &Path) -> Result<Lock, Error> {
        let path = folder.join(SPOOL);
        loop {
            match std::fs::metadata(&path) {
                Ok(there) => regular::check(there.file_type()).map_err(Error::io(&path))?,
                Err(error) if error.kind() == io::ErrorKind::NotFound => {}
                Err(error) => return Err(Error::io(path)(error)),
            }
            let opened = OpenOptions::new().write(true).create(true).truncate(false).open(&path);
            let file = opened.map_err(Error::io(&path))?;
            match file.try_lock() {
                Ok(()) => {}
                Err(TryLockError::WouldBlock) => return Err(Error::Live(folder.to_owned())),
                Err(TryLockError::Error(error)) => return Err(Error::io(path)(error)),
            }
            // The previous holder may have deleted it while we waited.
            if is_at(&file, &path) {
                return Ok(Lock { path, _file: file });
            }
        }
    }
}

impl Drop for Lock {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.path);
    }
}

/// Returns true if `path` still leads to `file`.
fn is_at(file: &File, path: &Path) -> bool {
    #[cfg(unix)]
    {
        use std::os::unix::fs::MetadataExt;
        let ours = file.metadata();
        let there = std::fs::metadata(path);
        ours.is_ok_and(|ours| there.is_ok_and(|there| (ours.dev(), ours.ino()) == (there.dev(), there.ino())))
    }
    #[cfg(not(unix))]
    {
        let _ = file;
        path.exists()
    }
}
