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
mod foreign;
mod names;
mod unpack;

use super::Imported;
use document::Data;

pub use build::Count;
pub use foreign::Program;
pub(crate) use unpack::unpacked;

/// The newest version of the format that is read.
pub const VERSION: u64 = 4;

/// Reason for which a file cannot be imported.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum FlentError {
    /// Unsupported compression with bzip2.
    #[error("unsupported compression bzip2; decompress the file first (bunzip2)")]
    Bzip2,
    /// Damaged or truncated gzip data.
    #[error("invalid gzip data after {after} decompressed bytes: {why}; the file may be truncated")]
    Packed {
        /// Number of decompressed bytes.
        after: u64,
        /// Error of the decoder.
        why: String,
    },
    /// The file exceeds the size limit.
    #[error("the file exceeds {0} MB")]
    TooLarge(u64),
    /// Valid JSON until the end of the file, but incomplete.
    #[error("incomplete JSON: {0}; the file is truncated")]
    Truncated(String),
    /// Invalid JSON.
    #[error("invalid JSON: {0}")]
    Json(String),
    /// A file of another program.
    #[error(
        "unsupported format: found {0}, expected a data file of flent (`.flent` or `.flent.gz`) or the output of `iperf3 --json`"
    )]
    OtherProgram(Program),
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
    let text = unpack::unpacked(bytes)?;
    if let Some(program) = foreign::by_content(&text) {
        return Err(FlentError::OtherProgram(program));
    }
    let data = Data::parse(&text).map_err(|error| match (&error, foreign::by_keys(&text)) {
        (FlentError::Foreign(_), Some(program)) => FlentError::OtherProgram(program),
        _ => error,
    })?;
    build::build(&data, file)
}
