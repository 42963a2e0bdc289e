//! A run folder after the run.

use crate::error::Error;
use crate::header::{Ending, Header};
use crate::row::Row;
use crate::summary::Summary;
use std::path::{Path, PathBuf};

/// A finished run folder.
#[derive(Debug)]
pub struct Run {
    path: PathBuf,
    header: Header,
    ending: Ending,
    summary: Summary,
}

impl Run {
    /// Opens a run folder; one whose controller was killed is finished first, with every row that was spooled.
    ///
    /// # Errors
    /// When it isn't a run folder, is still being recorded, was written by a newer netburn or is damaged.
    pub fn open(path: &Path) -> Result<Self, Error> {
        let _ = path;
        todo!()
    }

    /// The folder.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// What was known before the first row.
    #[must_use]
    pub fn header(&self) -> &Header {
        &self.header
    }

    /// How it ended.
    #[must_use]
    pub fn ending(&self) -> &Ending {
        &self.ending
    }

    /// What it came to.
    #[must_use]
    pub fn summary(&self) -> &Summary {
        &self.summary
    }

    /// Hands every row to `take`: operations first, then intervals, connections, link, events; within each in the
    /// order in which they were put.
    ///
    /// # Errors
    /// When the columns can't be read.
    pub fn rows(&self, take: &mut dyn FnMut(Row)) -> Result<(), Error> {
        let _ = take;
        todo!()
    }
}
