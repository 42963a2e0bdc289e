//! flent's data files (versions 1 to 4, `.flent.gz` or unpacked) as runs.
//!
//! Series are told by their names, whatever test they are of: `TCP download…` and `TCP upload…` become the workloads of that
//! name, `Ping (ms)…` a `probe`, `HTTP latency…` the pages of a workload `http`. A series whose name ends with one of the
//! file's hosts is that station's; the others are the machine's that ran flent. Its words are kept: what flent calls upload
//! stays upload, as seen from the machine that ran it.
//!
//! The run's time 0 is where flent starts its load. Pings before it are idle latency, those after the load's end are left out,
//! gaps in their numbers are losses. Raw values are read; where a file has none, the interpolated ones are, and that is said.

mod build;
mod document;
mod names;
mod unpack;

use super::Imported;
use document::Data;

/// The newest version of the format that is read.
pub const VERSION: u64 = 4;

/// Why a file can't be made a run.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum FlentError {
    /// It is packed with bzip2.
    #[error("unsupported compression bzip2; decompress the file first (bunzip2)")]
    Bzip2,
    /// Its gzip is damaged or cut short.
    #[error("invalid gzip data after {after} decompressed bytes: {why}; the file may be truncated")]
    Packed {
        /// How much could be unpacked.
        after: u64,
        /// What is wrong.
        why: String,
    },
    /// It is larger than what is read.
    #[error("the file exceeds {0} MB")]
    TooLarge(u64),
    /// It is no JSON.
    #[error("invalid JSON: {0}; the file may be truncated")]
    Json(String),
    /// It is JSON, but not flent's.
    #[error("not a flent data file: {0}")]
    Foreign(String),
    /// A newer flent wrote it.
    #[error("unsupported flent format version: found {0}, expected at most {VERSION}")]
    Newer(u64),
    /// A value makes no sense.
    #[error("invalid value: {0}")]
    Senseless(String),
    /// None of its series is understood.
    #[error(
        "flent's test `{test}` has no supported series: found {series}, expected TCP download, TCP upload, Ping or HTTP latency"
    )]
    Nothing {
        /// flent's name for the test.
        test: String,
        /// What series it has.
        series: String,
    },
}

/// Reads a data file. `file` is its name, for the record.
///
/// # Errors
/// What is wrong with it.
pub fn read(bytes: &[u8], file: &str) -> Result<Imported, FlentError> {
    let text = unpack::unpacked(bytes)?;
    let data = Data::parse(&text)?;
    build::build(&data, file)
}
