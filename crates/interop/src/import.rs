//! Import of other programs' files as runs, so that their results can be shown and compared.
//!
//! - [`flent`](mod@flent): its data files.
//! - [`iperf3`]: its JSON.

mod common;
pub mod flent;
pub mod iperf3;

use flent::{FlentError, Program};
use iperf3::Iperf3Error;

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

/// Reason for which a file cannot be imported.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ImportError {
    /// A file of flent, or of an unsupported program.
    #[error(transparent)]
    Flent(#[from] FlentError),
    /// A file of iperf3.
    #[error(transparent)]
    Iperf3(#[from] Iperf3Error),
}

/// Reads a file of a supported program, compressed with gzip or not. `file` is its name, for the record.
///
/// # Errors
/// When no supported program wrote it, it is invalid, or it has no value that a run can have.
pub fn read(bytes: &[u8], file: &str) -> Result<Imported, ImportError> {
    match flent::read(bytes, file) {
        Err(FlentError::OtherProgram(Program::Iperf3)) => Ok(iperf3::read(&flent::unpacked(bytes)?, file)?),
        other => Ok(other?),
    }
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
