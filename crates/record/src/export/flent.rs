//! A run as flent's data file, version 4, for the plots and tables that flent draws.
//!
//! flent knows a file by the test that made it, and no test is like a run of ours. Three come near, each in its own words:
//!
//! - `rtt_fair_var_down`: for every station what it was sent, and a ping. `rtt_fair_var`: what it sent, too.
//! - `tcp_ndown`: what each was sent as one of N streams, and the pings of all as one; page loads as HTTP latency.
//!
//! A station's ping is its probe; without one, the operations of its call, its pages or its stream, in this order; before the
//! load always the idle probe. `NOTE` says which. As in flent, `DELAY` seconds (the baseline) pass before the load and after.
//! flent drops host names with a colon from its plots; names of ours have none.

mod document;
mod series;

use super::{Error, each};
use crate::run::Run;
use document::document;
use flate2::Compression;
use flate2::write::GzEncoder;
use netburn_workload::Kind;
use series::Series;
use std::io;

/// The tests that a run can be told as.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Test {
    /// `rtt_fair_var_down`.
    FairDown,
    /// `rtt_fair_var`.
    Fair,
    /// `tcp_ndown`.
    Downloads,
}

/// One data file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct File {
    /// Its name, as flent names them: `TEST-TIME.TITLE.flent.gz`.
    pub name: String,
    /// Its content, compressed.
    pub bytes: Vec<u8>,
}

impl Test {
    /// flent's name for it.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Test::FairDown => "rtt_fair_var_down",
            Test::Fair => "rtt_fair_var",
            Test::Downloads => "tcp_ndown",
        }
    }
}

/// A file for the run, or for each run of a folder. Without a `test` it is [`Test::FairDown`], or [`Test::Fair`] where a
/// station uploads.
///
/// # Errors
/// When the record can't be read.
pub fn files(run: &Run, test: Option<Test>) -> Result<Vec<File>, Error> {
    let mut files = Vec::new();
    let mut number = 0;
    let several = !run.run_folders().is_empty();
    each(run, |_, run| {
        number += 1;
        let series = Series::gather(run)?;
        let stations = &run.header().plan.stations;
        let uploads = stations
            .iter()
            .any(|station| station.workloads.iter().any(|w| w.config.kind == Kind::Upload));
        let test = test.unwrap_or(if uploads { Test::Fair } else { Test::FairDown });
        let document = document(run, test, &series, several.then_some(number));
        let mut packed = GzEncoder::new(Vec::new(), Compression::default());
        serde_json::to_writer(&mut packed, &document).map_err(io::Error::from)?;
        files.push(File {
            name: document.file_name(),
            bytes: packed.finish()?,
        });
        Ok(())
    })?;
    Ok(files)
}
