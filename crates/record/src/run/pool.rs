//! The document of several runs of one plan, judged together.

use super::Run;
use crate::document::Document;
use crate::error::Error;
use crate::header::{Header, RunStatus};
use crate::quality_issue::QualityIssue;
use crate::self_check::Checked;
use crate::summary::Summary;
use crate::summary::evidence::RunEvidence;
use crate::summary::verdicts::{inconclusive_reasons, run_self_check, summarise};
use netburn_stats::bootstrap;
use netburn_units::{Probability, Seed};
use serde_json::Value;
use std::collections::BTreeMap;
use std::path::Path;

/// Minimum number of runs for intervals.
const RUNS_FOR_INTERVALS: usize = 3;

/// Confidence level of the intervals.
const LEVEL: Probability = Probability::from_ppb(950_000_000).unwrap();

/// Resamples per interval.
const DRAWS: u32 = 1000;

/// The runs of an unfinished run set, opened by `open`; at least one.
pub(crate) fn begun_runs(path: &Path, open: &dyn Fn(&Path) -> Result<Run, Error>) -> Result<Vec<Run>, Error> {
    let folder = |number: usize| path.join(number.to_string());
    let mut runs = Vec::new();
    for number in 1.. {
        let next = folder(number);
        if !next.is_dir() {
            break;
        }
        match open(&next) {
            Ok(run) => runs.push(run),
            // The last run may have been killed before it had a header: nothing was recorded.
            Err(Error::NotARun(_) | Error::Damaged { .. }) if !folder(number + 1).exists() => break,
            Err(error) => return Err(error),
        }
    }
    if runs.is_empty() {
        return Err(Error::NotARun(path.to_owned()));
    }
    Ok(runs)
}

/// The document of a folder of runs.
pub(crate) fn pooled(folder: &Path, runs: &[Run]) -> Result<Document, Error> {
    let Some(first) = runs.first() else {
        return Err(Error::Pool("no runs".to_owned()));
    };
    let header = first.header();
    let mut evidence = RunEvidence::default();
    let mut self_check = Checked::default();
    let mut why = Vec::new();
    for (run, number) in runs.iter().zip(1..) {
        same_scenario(header, run.header())?;
        let mut one = run.evidence()?;
        let label = |issue: &QualityIssue| issue.of_run(number);
        why.extend(inconclusive_reasons(run.header(), run.status(), &one).iter().map(label));
        add_self_check(&mut self_check, run_self_check(run.header(), run.status(), &one), label);
        for station in &mut one.stations {
            station.lost = station.lost.iter().map(label).collect();
        }
        match number {
            1 => evidence = one,
            _ => evidence.add(one),
        }
    }
    let planned = header.plan.repeat as usize;
    if runs.len() < planned {
        why.push(QualityIssue::RunsMissing {
            made: runs.len(),
            planned,
        });
    }
    let status = match runs.iter().find(|run| *run.status() != RunStatus::Complete) {
        Some(run) => run.status().clone(),
        None if runs.len() < planned => RunStatus::Interrupted,
        None => RunStatus::Complete,
    };
    let (health, clocks) = (evidence.health.clone(), evidence.clocks.clone());
    let mut summary = summarise(header, &folder.to_string_lossy(), evidence, self_check, why);
    summary.repeats = runs.iter().map(|run| run.summary().clone()).collect();
    summary.intervals = intervals(&summary.repeats, header.seed);
    Ok(Document {
        health,
        clocks,
        runs: runs.iter().map(|run| name_within(folder, run.path())).collect(),
        ..Document::new(header, &status, summary)
    })
}

/// Runs can be pooled if they differ only in their seed.
fn same_scenario(one: &Header, other: &Header) -> Result<(), Error> {
    let seedless = |header: &Header| netburn_scenario::Plan {
        seed: Seed(0),
        ..header.plan.clone()
    };
    if one.environment == other.environment && seedless(one) == seedless(other) {
        Ok(())
    } else {
        Err(Error::Pool(format!(
            "`{}` on {} and `{}` on {} are different scenarios",
            one.plan.name, one.environment, other.plan.name, other.environment
        )))
    }
}

fn add_self_check(all: &mut Checked, one: Checked, label: impl Fn(&QualityIssue) -> QualityIssue) {
    let (lateness, worst) = (one.self_check.timer_lateness_us, &mut all.self_check.timer_lateness_us);
    if lateness.p99 >= worst.p99 {
        *worst = lateness;
    }
    let longest = all
        .self_check
        .standstill_us_max
        .into_iter()
        .chain(one.self_check.standstill_us_max);
    all.self_check.standstill_us_max = longest.max_by(f64::total_cmp);
    all.self_check.reasons.extend(one.self_check.reasons.iter().map(&label));
    all.self_check.ok &= one.self_check.ok;
    for (station, reasons) in one.quality_issues {
        all.quality_issues
            .entry(station)
            .or_default()
            .extend(reasons.iter().map(&label));
    }
}

fn name_within(folder: &Path, run: &Path) -> String {
    run.strip_prefix(folder).unwrap_or(run).to_string_lossy().into_owned()
}

/// Intervals of the mean over the runs, for every value that all runs have.
fn intervals(runs: &[Summary], seed: Seed) -> BTreeMap<String, [f64; 2]> {
    if runs.len() < RUNS_FOR_INTERVALS {
        return BTreeMap::new();
    }
    let metrics: Vec<BTreeMap<String, f64>> = runs.iter().map(metrics).collect();
    let in_all = |path: &str| {
        metrics
            .iter()
            .map(|run| run.get(path).copied())
            .collect::<Option<Vec<f64>>>()
    };
    metrics[0]
        .keys()
        .filter_map(|path| {
            let interval = bootstrap::interval(&in_all(path)?, |values| bootstrap::mean(values), LEVEL, DRAWS, seed)?;
            Some((path.clone(), [interval.low, interval.high]))
        })
        .collect()
}

/// The values of a summary by path: stations and workloads by name, goals by number.
fn metrics(summary: &Summary) -> BTreeMap<String, f64> {
    let mut metrics = BTreeMap::new();
    let whole = serde_json::to_value(summary).expect("a summary has only text for keys");
    for part in ["totals", "stations"] {
        walk(part.to_owned(), &whole[part], &mut metrics);
    }
    metrics
}

/// Collects the numbers below `value`.
fn walk(path: String, value: &Value, into: &mut BTreeMap<String, f64>) {
    match value {
        Value::Number(number) => {
            into.extend(number.as_f64().map(|number| (path, number)));
        }
        Value::Object(fields) => {
            // The values from which grades are computed have intervals.
            for (name, value) in fields.iter().filter(|(name, _)| *name != "grades") {
                walk(format!("{path}.{name}"), value, into);
            }
        }
        // Reasons contain numbers that are not measured by the run.
        Value::Array(items) if !path.ends_with(".reasons") => {
            for (index, item) in items.iter().enumerate() {
                let name = item["name"].as_str().map_or_else(|| index.to_string(), str::to_owned);
                walk(format!("{path}.{name}"), item, into);
            }
        }
        Value::Array(_) | Value::Null | Value::Bool(_) | Value::String(_) => {}
    }
}
