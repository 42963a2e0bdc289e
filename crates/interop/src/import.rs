//! Import of other programs' files as runs, so that their results can be shown and compared.
//!
//! A program is a file or folder of this module, and a line in [`TOOLS`]. [`flent`](mod@flent) and
//! [`iperf3`] have errors of their own; the others have [`FileError`].

mod bounded;
mod common;
mod crusader;
mod file_error;
pub mod flent;
mod foreign;
mod goresponsiveness;
mod http_probes;
pub mod iperf3;
mod irtt;
mod network_quality;
mod ping;
mod round_trips;
mod tool;
mod unpack;

pub use file_error::FileError;
pub use foreign::Program;
pub use unpack::{UnpackError, unpacked};

use flent::FlentError;
use iperf3::Iperf3Error;
use tool::{Content, Tool};

use netburn_record::{Error, Header, Recorder, Row, Run, RunStatus, Sink};
use std::path::Path;

/// All programs, in the order in which they are tried.
static TOOLS: &[Tool] = &[
    crusader::TOOL,
    iperf3::TOOL,
    irtt::TOOL,
    network_quality::TOOL,
    goresponsiveness::TOOL,
    ping::TOOL,
    flent::TOOL,
];

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
    /// The file can't be decompressed.
    #[error(transparent)]
    Unpack(#[from] UnpackError),
    /// A file of flent.
    #[error(transparent)]
    Flent(#[from] FlentError),
    /// A file of iperf3.
    #[error(transparent)]
    Iperf3(#[from] Iperf3Error),
    /// A file of another supported program.
    #[error("file of {tool}: {error}")]
    File {
        /// The program.
        tool: &'static str,
        /// The reason.
        error: FileError,
    },
    /// A file that no supported program wrote.
    #[error("this is {0}; netburn imports {files}", files = importable())]
    Unsupported(Program),
}

impl ImportError {
    fn file(tool: &'static str, error: FileError) -> Self {
        ImportError::File { tool, error }
    }
}

/// Names of all files that can be imported.
fn importable() -> String {
    let files: Vec<&str> = TOOLS.iter().map(|tool| tool.files).collect();
    match files.split_last() {
        Some((last, first)) => format!("{} and {last}", first.join(", ")),
        None => String::new(),
    }
}

/// Reads a file of a supported program, compressed with gzip or not. `file` is its name, for the record.
///
/// # Errors
/// When no supported program wrote it, it is invalid, or it has no value that a run can have.
pub fn read(bytes: &[u8], file: &str) -> Result<Imported, ImportError> {
    let unpacked = unpacked(bytes)?;
    let content = Content::new(&unpacked);
    match TOOLS.iter().find(|tool| (tool.recognises)(&content)) {
        Some(tool) => (tool.read)(&content, file),
        None => Err(ImportError::Unsupported(foreign::program(&content))),
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
