//! Import of other programs' files as runs, so that their results can be shown and compared.
//!
//! - [`flent`](mod@flent): its data files.

pub mod flent;

use netburn_record::{Error, Header, Recorder, Row, Run, RunStatus, Sink};
use std::path::Path;

/// A file of another program, converted to a header and rows.
#[derive(Debug, Clone, PartialEq)]
pub struct Imported {
    /// Header of the run; [`Header::source`] names the origin.
    pub header: Header,
    /// Rows.
    pub rows: Vec<Row>,
}

/// Records the import as a run in the folder `path`. If the folder exists, the new one is `path-2`
/// and so on.
///
/// # Errors
/// When it can't be written.
pub fn record(path: &Path, imported: &Imported) -> Result<Run, Error> {
    let mut recorder = Recorder::create(path, imported.header.clone())?;
    let folder = recorder.path().to_owned();
    for row in &imported.rows {
        recorder.put(row).map_err(|source| Error::Io {
            path: folder.clone(),
            source,
        })?;
    }
    recorder.finish(&RunStatus::Complete)
}
