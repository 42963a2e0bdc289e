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

use crate::experiment::{Formula, Grid, MetricPath, Unit};
use crate::validate::quantity::Dimension;
use crate::validate::toml_value::{deserialize, merge};
use netburn_record::Summary;
use serde::Deserialize;
use std::ops::Range;
use toml::de::{DeTable, DeValue};

/// A scenario with seeds, shifts and the runs to compare with.
#[derive(Debug, Clone)]
pub struct ScenarioInput {
    grid: Grid,
    against: Option<Grid>,
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

type Fault = (String, Range<usize>);

impl ScenarioInput {
    pub(super) fn read(mut table: DeTable<'_>, span: Range<usize>) -> Result<Self, Fault> {
        let against = table.remove("against");
        let mut other = table.clone();
        let fields: Fields = deserialize(table, span.clone())?;
        let slow = fields.slow;
        let (grid, mut seconds) = grid(fields).map_err(|why| (why, span.clone()))?;
        let against = match against {
            None => None,
            Some(changes) => {
                let at = changes.span();
                let DeValue::Table(changes) = changes.into_inner() else {
                    return Err(("invalid `against`; expected a table of changed keys".to_owned(), at));
                };
                merge(&mut other, &changes);
                let (grid, more) = grid_of(other, at)?;
                seconds += more;
                Some(grid)
            }
        };
        Ok(ScenarioInput {
            grid,
            against,
            slow,
            seconds,
        })
    }

    /// Returns the dimension of a formula.
    pub(super) fn dimension(&self, metric: &str) -> Result<Dimension, String> {
        let formula = Formula::parse(metric).map_err(|why| why.to_string())?;
        if formula.compares() && self.against.is_none() {
            return Err("`against:` needs a case with `against`".to_owned());
        }
        for (path, other) in formula.metrics() {
            let grid = if other { self.against.as_ref() } else { None }.unwrap_or(&self.grid);
            known(path, grid)?;
        }
        Ok(match formula.unit() {
            Unit::Ms => Dimension::Time,
            Unit::Mbps => Dimension::Rate,
            Unit::Share => Dimension::Share,
            Unit::Count | Unit::Points | Unit::Rpm | Unit::Verdict => Dimension::Count,
        })
    }

    pub(super) fn is_slow(&self) -> bool {
        self.slow
    }

    /// A simulated second costs about 10 ms, as do 1000 packets on the air.
    pub(super) fn effort(&self) -> u64 {
        self.seconds * 1_000_000_000
    }

    pub(super) fn run(&self, wanted: &[&str]) -> Vec<f64> {
        // The reader has checked everything except the layout.
        let run = |grid: &Grid| grid.run(1).unwrap_or_default();
        let runs: Vec<Summary> = run(&self.grid);
        let others = self.against.as_ref().map(run).unwrap_or_default();
        let value = |metric: &&str| match Formula::parse(metric) {
            Err(_) => f64::NAN,
            // Times are in microseconds here.
            Ok(formula) if formula.unit() == Unit::Ms => formula.evaluate(&runs, &others) * 1e3,
            Ok(formula) => formula.evaluate(&runs, &others),
        };
        wanted.iter().map(value).collect()
    }
}

fn grid_of(table: DeTable<'_>, span: Range<usize>) -> Result<(Grid, u64), Fault> {
    let fields: Fields = deserialize(table, span.clone())?;
    grid(fields).map_err(|why| (why, span))
}

/// Returns the resolved grid, and the simulated seconds of all its runs.
fn grid(fields: Fields) -> Result<(Grid, u64), String> {
    let seeds = fields.seeds.unwrap_or(1);
    if !(1..=20).contains(&seeds) {
        return Err(format!("invalid `seeds`: found {seeds}, expected 1 to 20"));
    }
    let shifts = fields
        .shifts
        .iter()
        .map(|text| hundredths(text))
        .collect::<Result<_, _>>()?;
    let text = |value: &toml::Value| match value {
        toml::Value::String(text) => text.clone(),
        other => other.to_string(),
    };
    let grid = Grid {
        scenario: fields.scenario,
        set: fields
            .set
            .iter()
            .map(|(key, value)| (key.clone(), text(value)))
            .collect(),
        seeds: (1, u64::from(seeds)),
        shifts,
    };
    let runs = grid.runs().map_err(|why| why.to_string())?;
    let seconds = runs.iter().map(|run| run.plan.settled().as_secs_f64()).sum::<f64>();
    Ok((grid, seconds as u64))
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
