//! Import of flent's data files (versions 1 to 4, `.flent.gz` or decompressed).
//!
//! The name of a series determines its meaning, for every test. `TCP download…` and `TCP upload…`
//! become the workloads of that name, `Ping (ms)…` a `probe`, `HTTP latency…` the pages of a
//! workload `http`. A series whose name ends with one of the file's hosts belongs to that station;
//! the others belong to the machine that ran flent. flent's words are retained: an upload is an
//! upload as seen from that machine.
//!
//! The run's time 0 is the start of flent's load. Earlier pings are idle latency, pings after the
//! load's end are omitted, and gaps in sequence numbers are losses. Raw values are preferred to
//! interpolated ones; the header lists series without them.
//!
//! Formats 1 and 2 have the start in local time. The raw values have UTC, so the earliest one gives
//! the time zone. The header counts all values that are not in the run.

mod build;
mod document;
mod names;

use super::tool::Tool;
use super::unpack::{UnpackError, sane, unpacked};
use super::{ImportError, Imported};
use document::Data;

pub use build::Count;

/// The newest version of the format that is read.
pub const VERSION: u64 = 4;

pub(super) const TOOL: Tool = Tool {
    files: "a data file of flent (`.flent`, `.flent.gz`)",
    recognises: |content| {
        ["metadata", "x_values", "raw_values"]
            .iter()
            .any(|key| content.has_keys(&[*key]))
    },
    read: |content, file| read(content.bytes(), file).map_err(ImportError::from),
};

/// Reason for which a file cannot be imported.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum FlentError {
    /// The file can't be decompressed.
    #[error(transparent)]
    Unpack(#[from] UnpackError),
    /// Valid JSON until the end of the file, but incomplete.
    #[error("incomplete JSON: {0}; the file is truncated")]
    Truncated(String),
    /// Invalid JSON.
    #[error("invalid JSON: {0}")]
    Json(String),
    /// JSON of another format.
    #[error("not a flent data file: {0}")]
    Foreign(String),
    /// A newer flent wrote it.
    #[error("unsupported flent format version: found {0}, expected at most {VERSION}")]
    Newer(u64),
    /// A value is invalid.
    #[error("invalid value: {0}")]
    Senseless(String),
    /// None of its series is supported.
    #[error(
        "flent's test `{test}` has no supported series: found {series}, expected TCP download, TCP upload, Ping or HTTP latency"
    )]
    Nothing {
        /// flent's name for the test.
        test: String,
        /// Names of its series.
        series: String,
    },
    /// All series are supported, but none has a value in the run.
    #[error("flent's test `{test}` has no value during the run: found {count}")]
    Empty {
        /// flent's name for the test.
        test: String,
        /// The values that were not imported.
        count: Count,
    },
}

/// Reads a data file. `file` is its name, for the record.
///
/// # Errors
/// When the file is invalid or has no supported series.
pub fn read(bytes: &[u8], file: &str) -> Result<Imported, FlentError> {
    let text = unpacked(bytes)?;
    let data = Data::parse(&sane(&text))?;
    build::build(&data, file)
}
