//! Whole scenarios: the workloads of all stations, simulated.
//!
//! ```toml
//! kind     = "scenario"
//! scenario = "slow-neighbour"
//! set      = { "ap.home.queue" = "airtime", warmup = "31 s" }     # as for `--set`
//! seeds    = 20                                                   # 1 to 20; default 1
//! shifts   = ["-3 dB", "0 dB", "3 dB"]                            # shifts of all signals, each with every seed
//! against  = { set = { "ap.home.queue" = "fifo" } }               # merged into the rest: the runs to compare with
//! slow     = true                                                 # excluded from a quick validation
//! metric   = "station.laptop.probe.p95_ms"
//! ```
//!
//! Metrics are [formulas](crate::experiment).

use super::{Kind, Metrics, changed_keys};
use crate::experiment::{Formula, Grid, MetricPath, Unit};
use crate::validate::quantity::Dimension;
use crate::validate::toml_value::{Fault, Table, deserialize_with_against};
use netburn_record::Summary;
use serde::Deserialize;
use std::ops::Range;

/// A scenario with seeds and shifts, and the runs to compare with.
#[derive(Debug)]
struct Scenario {
    own: Runs,
    against: Option<Runs>,
}

/// Runs of a scenario.
#[derive(Debug, Deserialize)]
#[serde(try_from = "Fields")]
struct Runs {
    grid: Grid,
    slow: bool,
    /// Simulated seconds of all runs, as approximate cost.
    seconds: u64,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Fields {
    scenario: String,
    #[serde(default)]
    set: toml::Table,
    #[serde(default)]
    seeds: Option<u16>,
    #[serde(default)]
    shifts: Vec<String>,
    #[serde(default)]
    slow: bool,
}

pub(super) fn read(table: Table<'_>, span: Range<usize>) -> Result<Box<dyn Kind>, Fault> {
    let (own, against) = deserialize_with_against(table, span)?;
    Ok(Box::new(Scenario { own, against }))
}

impl Kind for Scenario {
    fn metrics(&self) -> Metrics {
        Vec::new()
    }

    /// Returns the dimension of a formula.
    fn dimension(&self, metric: &str) -> Result<Dimension, String> {
        let formula = Formula::parse(metric).map_err(|why| why.to_string())?;
        if formula.compares() && self.against.is_none() {
            return Err("`against:` needs a case with `against`".to_owned());
        }
        for (path, other) in formula.metrics() {
            let runs = if other { self.against.as_ref() } else { None };
            known(path, &runs.unwrap_or(&self.own).grid)?;
        }
        Ok(match formula.unit() {
            Unit::Ms => Dimension::Time,
            Unit::Mbps => Dimension::Rate,
            Unit::Share => Dimension::Share,
            Unit::Count | Unit::Points | Unit::Rpm | Unit::Verdict => Dimension::Count,
        })
    }

    fn run(&self, wanted: &[&str]) -> Vec<f64> {
        // The reader has checked everything except the layout.
        let run = |runs: &Runs| runs.grid.run(1).unwrap_or_default();
        let runs: Vec<Summary> = run(&self.own);
        let others = self.against.as_ref().map(run).unwrap_or_default();
        let value = |metric: &&str| match Formula::parse(metric) {
            Err(_) => f64::NAN,
            // Times are in microseconds here.
            Ok(formula) if formula.unit() == Unit::Ms => formula.evaluate(&runs, &others) * 1e3,
            Ok(formula) => formula.evaluate(&runs, &others),
        };
        wanted.iter().map(value).collect()
    }

    /// A simulated second costs about 10 ms, as do 1000 packets on the air.
    fn effort(&self) -> u64 {
        let runs = [Some(&self.own), self.against.as_ref()];
        runs.into_iter()
            .flatten()
            .map(|runs| runs.seconds * 1_000_000_000)
            .sum()
    }

    fn is_slow(&self) -> bool {
        self.own.slow
    }
}

impl TryFrom<Fields> for Runs {
    type Error = String;

    fn try_from(fields: Fields) -> Result<Self, String> {
        let seeds = fields.seeds.unwrap_or(1);
        if !(1..=20).contains(&seeds) {
            return Err(format!("invalid `seeds`: found {seeds}, expected 1 to 20"));
        }
        let shifts = fields.shifts.iter().map(|text| hundredths(text));
        let grid = Grid {
            scenario: fields.scenario,
            set: changed_keys(&fields.set),
            seeds: (1, u64::from(seeds)),
            shifts: shifts.collect::<Result<_, _>>()?,
        };
        let runs = grid.runs().map_err(|why| why.to_string())?;
        let seconds = runs.iter().map(|run| run.plan.settled().as_secs_f64()).sum::<f64>();
        Ok(Runs {
            grid,
            slow: fields.slow,
            seconds: seconds as u64,
        })
    }
}

/// Parses decibels as hundredths.
fn hundredths(text: &str) -> Result<i32, String> {
    let number = text
        .trim()
        .strip_suffix("dB")
        .map(|number| number.trim().parse::<f64>());
    match number {
        Some(Ok(decibels)) if decibels.abs() <= 30.0 => Ok(libm::round(decibels * 100.0) as i32),
        _ => Err(format!(
            "invalid shift `{text}`; expected decibels such as \"-3 dB\", up to 30"
        )),
    }
}

/// Checks that the station and the workload of a metric exist.
fn known(path: &MetricPath, grid: &Grid) -> Result<(), String> {
    let runs = grid.runs().map_err(|why| why.to_string())?;
    let (Some(name), workload) = path.about() else {
        return Ok(());
    };
    let plan = &runs[0].plan;
    let Some(station) = plan.station(name) else {
        let names: Vec<&str> = plan.stations.iter().map(|station| station.name.as_str()).collect();
        return Err(format!(
            "unknown station `{name}`; expected one of {}",
            names.join(", ")
        ));
    };
    match workload {
        Some(workload) if !station.workloads.iter().any(|known| known.name == workload) => {
            let names: Vec<&str> = station.workloads.iter().map(|known| known.name.as_str()).collect();
            Err(format!(
                "`{name}` has no workload `{workload}`; expected one of {}",
                names.join(", ")
            ))
        }
        _ => Ok(()),
    }
}
