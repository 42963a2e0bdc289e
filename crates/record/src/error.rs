//! What can go wrong with a run folder.

use std::io;
use std::path::PathBuf;

/// Why a run folder can't be written or read.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// A file can't be read or written: the disk is full, permission is missing, it isn't there.
    #[error("{path}: {source}", path = path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// The folder of a record can't be made.
    #[error("cannot create the folder {path}: {at}: {source}", path = path.display(), at = at.display())]
    Folder {
        /// The folder.
        path: PathBuf,
        /// Where it failed: the folder itself or one above it.
        at: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// There is neither a finished record nor one under way.
    #[error("{path} is not a run folder: {why}", path = .0.display(), why = if .0.is_dir() {
        "found neither run.json nor a spool"
    } else {
        "no such folder"
    })]
    NotARun(PathBuf),
    /// Somebody is still recording into it.
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
        /// Its version.
        found: u64,
        /// The newest version known here.
        known: u64,
    },
    /// A file is not what it should be.
    #[error("{path} is damaged: {what}", path = path.display())]
    Damaged {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        what: String,
    },
    /// Runs that are to be pooled are not of one scenario, or there are none.
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
