//! Export of a run for other tools, one format per file.
//!
//! - [`csv_rows`](mod@csv_rows): results of every workload, one row each, for CSV and Parquet.
//! - [`csv`] – for spreadsheets. [`json`]: the whole record as one document. [`junit`]: goals as test cases, for CI.
//! - [`flent`](mod@flent): series over time, as flent's data files.
//! - [`parquet`](mod@parquet): the tables of all runs, and the rows of results, for queries.
//! - [`openmetrics`] – values for Prometheus and Grafana.
//!
//! A run set (`--repeat`) is one export: each row names its run.

pub mod csv;
pub mod csv_rows;
pub mod flent;
pub mod json;
pub mod junit;
pub mod openmetrics;
pub mod parquet;

pub use csv_rows::{Cell, CsvRow, csv_rows};

use netburn_record::Error as RunError;
use netburn_record::{Run, UnixTime};
use std::io;

/// Start date of runs in simulated time, which have no date: 2000-01-01T00:00:00Z.
pub const DATELESS: UnixTime = UnixTime(946_684_800_000_000_000);

/// Reason for which a run cannot be exported.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The record cannot be read.
    #[error(transparent)]
    Run(#[from] RunError),
    /// The export cannot be written.
    #[error(transparent)]
    Write(#[from] io::Error),
}

/// Calls `take` for each run of a folder, with the run's name. A run set has several runs.
pub(crate) fn each(run: &Run, mut take: impl FnMut(&str, &Run) -> Result<(), Error>) -> Result<(), Error> {
    let repeats = run.run_folders();
    if repeats.is_empty() {
        return take(&folder_name(run.path()), run);
    }
    for path in repeats {
        take(&folder_name(&path), &Run::open(&path)?)?;
    }
    Ok(())
}

/// A folder's own name; the whole path if it has none.
fn folder_name(path: &std::path::Path) -> String {
    let name = path.file_name().unwrap_or(path.as_os_str());
    name.to_string_lossy().into_owned()
}
