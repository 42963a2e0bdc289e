//! Errors of run folders.

use parquet::errors::ParquetError;
use std::io;
use std::path::PathBuf;

/// Reason for which a run folder cannot be written or read.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// A file cannot be read or written: the disk is full, permission is missing, or the file does
    /// not exist.
    #[error("{path}: {source}", path = path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// Error of the operating system.
        source: io::Error,
    },
    /// The folder of a record cannot be created.
    #[error("cannot create the folder {path}: {at}: {source}", path = path.display(), at = at.display())]
    Folder {
        /// The folder.
        path: PathBuf,
        /// Path of the failure: the folder itself or a parent.
        at: PathBuf,
        /// Error of the operating system.
        source: io::Error,
    },
    /// Neither a finished nor an unfinished record.
    #[error("{path} is not a run folder: {why}", path = .0.display(), why = if .0.is_dir() {
        "found neither run.json nor a spool"
    } else {
        "no such folder"
    })]
    NotARun(PathBuf),
    /// Another process is recording into it.
    #[error("{path} is still being recorded", path = .0.display())]
    Live(PathBuf),
    /// A newer netburn wrote it.
    #[error(
        "{path} was written by a newer netburn: found version {found}, expected at most {known}",
        path = path.display()
    )]
    Newer {
        /// The file.
        path: PathBuf,
        /// Version of the file.
        found: u64,
        /// The newest version known here.
        known: u64,
    },
    /// A file is not what it should be.
    #[error("{path} is damaged: {what}", path = path.display())]
    Damaged {
        /// The file.
        path: PathBuf,
        /// Description of the damage.
        what: String,
    },
    /// The runs to pool are of different scenarios, or there are none.
    #[error("cannot pool these runs: {0}")]
    Pool(String),
}

impl Error {
    /// An I/O error at `path`.
    pub(crate) fn io(path: impl Into<PathBuf>) -> impl FnOnce(io::Error) -> Self {
        let path = path.into();
        move |source| Error::Io { path, source }
    }

    /// Damage at `path`.
    pub(crate) fn damaged(path: impl Into<PathBuf>, what: impl ToString) -> Self {
        Error::Damaged {
            path: path.into(),
            what: what.to_string(),
        }
    }
}

/// The I/O error within an error of Parquet, so that a full disk is reported as a full disk.
#[must_use]
pub fn io_error(error: ParquetError) -> io::Error {
    match error {
        ParquetError::External(inner) => match inner.downcast::<io::Error>() {
            Ok(error) => *error,
            Err(inner) => io::Error::other(inner),
        },
        other => io::Error::other(other),
    }
}
