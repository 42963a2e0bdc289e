//! The pages of a watch: one for each hour, and the map of a week.

use super::folder::{Hour, hours, name};
use crate::exit::{CliError, ExitStatus};
use crate::page;
use crate::terminal::print_stdout;
use netburn_analysis::View;
use netburn_platform::local_time::utc_offset;
use netburn_record::run_list::State;
use netburn_record::{Run, Summary, UnixTime};
use netburn_report::week;
use netburn_units::Duration;
use netburn_watch::Part;
use netburn_watch::week::{DAYS, HourResult, PartResult, days};
use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};

/// Name of the map.
const FILE: &str = "week.html";

/// A complete record.
#[derive(Debug)]
pub(super) struct Finished {
    /// Name of its folder.
    pub(super) name: String,
    /// Its results.
    pub(super) result: HourResult,
    /// Names of its causes.
    pub(super) causes: Vec<&'static str>,
    /// One line per cause.
    pub(super) titles: Vec<String>,
    /// True if it has a load.
    pub(super) has_load: bool,
}

/// Writes the page of an hour. An error is printed.
pub(super) fn write_hour(path: &Path, view: &View) {
    page::keep(path, view);
}

/// `netburn watch DIR --page`.
pub(super) fn write_week(folder: &Path) -> Result<ExitStatus, CliError> {
    let failed = |error: io::Error| CliError::Usage(format!("{}: {error}", folder.display()));
    std::fs::read_dir(folder).map_err(failed)?;
    let path = Week::default().write(folder).map_err(failed)?;
    print_stdout(&format!("{}\n", path.display()))?;
    Ok(ExitStatus::Success)
}

/// The results of a record.
pub(super) fn finished(path: &Path, hour: UnixTime, view: &View, has_load: bool) -> Finished {
    let causes = &view.explanation.causes;
    Finished {
        name: name(path),
        result: result(&name(path), hour, &view.summary),
        causes: causes.iter().map(|cause| cause.kind.name()).collect(),
        titles: causes.iter().map(|cause| cause.title.clone()).collect(),
        has_load,
    }
}

fn result(name: &str, hour: UnixTime, summary: &Summary) -> HourResult {
    let mut parts = [None; 3];
    for workload in summary.stations.iter().flat_map(|station| &station.workloads) {
        let Some(part) = Part::by_name(&workload.name) else {
            continue;
        };
        let (lost, delays) = (workload.failures, &workload.latency_ms);
        // With too few probes for a percentile, the longest round trip stands for it.
        let has_most = lost.saturating_mul(20) <= workload.operations;
        let p95 = delays.p95.or(delays.max.filter(|_| has_most));
        parts[part.index()] = Some(PartResult {
            answered: workload
                .operations
                .saturating_sub(lost + workload.unfinished + workload.not_started),
            lost,
            p95: p95.map(|ms| Duration::from_nanos((ms * 1e6) as u64)),
        });
    }
    HourResult {
        hour,
        offset_s: utc_offset(hour.0.div_euclid(1_000_000_000)),
        folder: name.to_owned(),
        parts,
    }
}

/// Results of the hours of the map. Each record is read once.
#[derive(Debug, Default)]
pub(super) struct Week {
    known: BTreeMap<String, HourResult>,
}

impl Week {
    /// Adds a record that this watch completed.
    pub(super) fn add(&mut self, result: HourResult) {
        self.known.insert(result.folder.clone(), result);
    }

    /// Writes the map of a folder again. Returns its path.
    pub(super) fn write(&mut self, folder: &Path) -> io::Result<PathBuf> {
        let now = UnixTime::now();
        let first = now.0.saturating_sub((DAYS + 1) * 86_400 * 1_000_000_000);
        let there: Vec<Hour> = hours(folder)
            .into_iter()
            .filter(|hour| hour.at.0 >= first && matches!(hour.entry.state, State::Finished(_)))
            .collect();
        self.known.retain(|name, _| there.iter().any(|hour| hour.name == *name));
        for hour in &there {
            if !self.known.contains_key(&hour.name)
                && let Ok(run) = Run::open(&hour.path)
            {
                self.add(result(&hour.name, hour.at, run.summary()));
            }
        }
        let results: Vec<HourResult> = self.known.values().cloned().collect();
        let offset = utc_offset(now.0.div_euclid(1_000_000_000));
        let text = week::page(&days(&results, now, offset), now, offset);
        let path = folder.join(FILE);
        page::whole(&path, text.as_bytes())?;
        Ok(path)
    }
}
