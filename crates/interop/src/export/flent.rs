//! Export as flent data files, version 4, for flent's plots and tables.
//!
//! flent identifies a file by the test that wrote it. Seven of its tests resemble a run:
//!
//! - `rtt_fair_var_down`: downloads and a ping for every station. `rtt_fair_var`: uploads, too.
//! - `tcp_ndown`: downloads as N streams, all pings as one series, page loads as HTTP latency. `tcp_nup`: the same with
//!   uploads.
//! - `rrul`: downloads, uploads and probes by their marks, for the scenario `rrul`. `rrul_be`: the same by their order.
//! - `voip`: the packets up of the first call (`voice`). The tests with N streams and those of `rrul` contain it, too.
//!
//! The ping of a station is its probe or, without a probe, the operations of its calls. A station
//! with neither has no ping. Before the load it is always the idle probe. `NOTE` names the choice. As
//! in flent, `DELAY` seconds (the baseline) pass before and after the load. flent omits host names
//! with a colon from its plots; netburn's names have none.

mod document;
mod series;

use super::{Error, each};
use document::document;
use flate2::Compression;
use flate2::write::GzEncoder;
use netburn_record::Run;
use netburn_workload::Direction;
use series::Series;
use std::io;

/// flent tests as which a run can be exported.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Test {
    /// `rtt_fair_var_down`.
    FairDown,
    /// `rtt_fair_var`.
    Fair,
    /// `tcp_ndown`.
    Downloads,
    /// `tcp_nup`.
    Uploads,
    /// `rrul`.
    Rrul,
    /// `rrul_be`.
    RrulBe,
    /// `voip`.
    Voip,
}

/// One data file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct File {
    /// File name in flent's form: `TEST-TIME.TITLE.flent.gz`.
    pub name: String,
    /// Content, compressed.
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
            Test::Uploads => "tcp_nup",
            Test::Rrul => "rrul",
            Test::RrulBe => "rrul_be",
            Test::Voip => "voip",
        }
    }
}

/// A file for the run, or for each run of a folder. Without a `test` it is [`Test::FairDown`], or [`Test::Fair`] if a
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
            .any(|station| station.workloads.iter().any(|w| w.config.direction() == Direction::Up));
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
