//! Two runs of one scenario side by side: before and after a change.
//!
//! The values are those of one run each. No statistics decide between them.

use crate::html;
use crate::style::Tone;
use crate::table::{Cell, Table, numbers, words};
use crate::tables;
use netburn_analysis::compare::Comparison;
use netburn_record::metrics::{self, Measured, Unit};
use netburn_record::summary::{GoalSummary, StationSummary, WorkloadSummary};
use netburn_record::{GoalKind, Summary};
use netburn_stats::metric_change::Judgement;
use netburn_workload::{Config, Goal, Verdict};
use std::cmp::Reverse;

/// A quantity of a station in both runs.
#[derive(Debug, Clone, PartialEq)]
pub struct Row {
    /// The station.
    pub station: String,
    /// The quantity.
    pub quantity: String,
    /// Its value before and after.
    pub values: [Value; 2],
}

/// A value of a row.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Value {
    /// Verdict of a station, and whether it is provisional.
    Verdict(Verdict, bool),
    /// Text with its unit, and the verdict that it leads to; `Verdict::None` without a goal.
    Text(String, Verdict),
}

/// Metrics that both runs have, if they have such a row. Stations with the worst verdict before the change come first.
#[must_use]
pub fn rows(before: &Summary, after: &Summary) -> Vec<Row> {
    let mut stations: Vec<[&StationSummary; 2]> = before
        .stations
        .iter()
        .filter_map(|station| {
            let same = after.stations.iter().find(|other| other.name == station.name)?;
            Some([station, same])
        })
        .collect();
    stations.sort_by_key(|[before, _]| Reverse(before.verdict));
    stations.into_iter().flat_map(station_rows).collect()
}

fn station_rows(runs: [&StationSummary; 2]) -> Vec<Row> {
    let mut rows = Vec::new();
    let mut add = |quantity, values| {
        rows.push(Row {
            station: runs[0].name.clone(),
            quantity,
            values,
        });
    };
    for (name, pair) in pairs(&runs.map(metrics::of_station)) {
        let verdicts = runs.map(|station| Value::Verdict(station.verdict, station.provisional));
        add(
            name,
            match pair[0].quantity.unit {
                Unit::Verdict => verdicts,
                _ => pair.map(value),
            },
        );
    }
    for workload in &runs[0].workloads {
        let Some(same) = runs[1].workloads.iter().find(|other| other.name == workload.name) else {
            continue;
        };
        let both = [workload, same];
        for (name, pair) in pairs(&both.map(metrics::of_workload)) {
            let goal = |place: usize| Some((both[place], both[place].goals.get(pair[place].goal?)?));
            match (goal(0), goal(1)) {
                (Some(before), Some(after)) => {
                    add(format!("{}: {name}", workload.name), [before, after].map(met));
                }
                _ => add(name, pair.map(value)),
            }
        }
    }
    rows
}

/// Metrics of both runs that have a row in at least one of them, with its name. Those of goals come first.
fn pairs<'a>(runs: &'a [Vec<Measured>; 2]) -> Vec<(String, [&'a Measured; 2])> {
    let [before, after] = runs;
    let pair = |measured: &'a Measured| {
        let is_same = |other: &&Measured| {
            other.quantity == measured.quantity && (measured.goal.is_none() || other.row == measured.row)
        };
        let same = after.iter().find(is_same)?;
        Some((measured.row.clone().or_else(|| same.row.clone())?, [measured, same]))
    };
    let mut pairs: Vec<_> = before.iter().filter_map(pair).collect();
    pairs.sort_by_key(|(_, [measured, _])| measured.goal.is_none());
    pairs
}

/// Goal of the built-in workload `voip`, in ms: a longer round trip disturbs calls.
#[must_use]
pub fn call_goal_ms() -> f64 {
    let limits = Config::voip().goals.into_iter().filter_map(|goal| match goal {
        Goal::Latency { limit } => Some(limit.as_millis() as f64),
        _ => None,
    });
    limits.fold(f64::INFINITY, f64::min)
}

/// Number of samples that met a goal: `2 of 9`; `None` without samples.
#[must_use]
pub fn samples_met(goal: &GoalSummary) -> Option<String> {
    let met = goal.met? * goal.samples as f64;
    Some(format!("{met:.0} of {}", goal.samples))
}

/// Number of stalls of a player: `2 stalls`; `None` for another goal than `no stall`.
#[must_use]
pub fn stalls(workload: &WorkloadSummary, goal: &GoalSummary) -> Option<String> {
    match (&workload.player, goal.kind) {
        (Some(player), GoalKind::NoStall) => Some(match player.stalls {
            1 => "1 stall".to_owned(),
            stalls => format!("{stalls} stalls"),
        }),
        _ => None,
    }
}

fn met((workload, goal): (&WorkloadSummary, &GoalSummary)) -> Value {
    let text = stalls(workload, goal).or_else(|| samples_met(goal));
    Value::Text(text.unwrap_or_else(|| "–".to_owned()), goal.verdict)
}

fn value(of: &Measured) -> Value {
    let text = match (of.value, of.quantity.unit) {
        _ if of.unended > 0 => "never ended".to_owned(),
        (None, _) => "–".to_owned(),
        (Some(value), Unit::Mbps) => format!("{} Mbit/s", tables::value(value, Unit::Mbps)),
        (Some(value), unit) => tables::value(value, unit),
    };
    Value::Text(text, Verdict::None)
}

/// The rows as a table.
#[must_use]
pub fn table(rows: &[Row]) -> Table {
    let rows = rows.iter().map(|row| {
        let [before, after] = row.values.each_ref().map(cell);
        vec![row.station.as_str().into(), row.quantity.as_str().into(), before, after]
    });
    Table {
        caption: "One run before the change and one after it",
        columns: vec![
            words("Station").once(),
            words("Quantity"),
            numbers("Before"),
            numbers("After"),
        ],
        keys: 2,
        rows: rows.collect(),
    }
}

fn cell(value: &Value) -> Cell {
    match value {
        Value::Verdict(of, provisional) => Cell::verdict(*of, *provisional),
        Value::Text(text, Verdict::None) => Cell::new(text, Tone::Plain),
        Value::Text(text, of) => Cell::new(text, Cell::verdict(*of, false).tone),
    }
}

/// A simulated change.
#[derive(Debug)]
pub struct Change<'a> {
    /// Description.
    pub label: &'a str,
    /// Keys and values for `--set`.
    pub set: &'a [(String, String)],
    /// Worst verdict of the simulated runs.
    pub verdict: Verdict,
    /// Comparison with simulated runs without the change.
    pub comparison: &'a Comparison,
    /// The change that was chosen of all.
    pub is_chosen: bool,
}

/// Simulated changes as a table. `mark` follows the one that was chosen. Only a page has room for the settings.
#[must_use]
pub fn changes(of: &[Change<'_>], mark: &str) -> Table {
    let rows = of.iter().map(|change| {
        let count = |judgement| Cell::from(change.comparison.count(judgement).to_string());
        let mark = if change.is_chosen {
            format!(" ({mark})")
        } else {
            String::new()
        };
        let set = change.set.iter().map(|(key, value)| format!("`{key}={value}`"));
        let set = html::with_code(&set.collect::<Vec<_>>().join(" "));
        vec![
            Cell::verdict(change.verdict, false),
            count(Judgement::Better),
            count(Judgement::Worse),
            format!("{}{mark}", change.label).into(),
            Cell {
                markup: Some(format!("<span style=\"overflow-wrap: anywhere\">{set}</span>")),
                ..Cell::default()
            },
        ]
    });
    Table {
        caption: "Simulated changes",
        columns: vec![
            words("Verdict"),
            numbers("Better"),
            numbers("Worse"),
            words("Change"),
            words("Setting"),
        ],
        keys: 1,
        rows: rows.collect(),
    }
}

/// The table of [`rows`] for a page.
#[must_use]
pub fn markup(rows: &[Row]) -> String {
    let provisional = |value: &Value| matches!(value, Value::Verdict(_, true));
    let any = rows.iter().any(|row| row.values.iter().any(provisional));
    let note = if any {
        "<p class=\"note\">* provisional: a verdict from few samples.</p>\n"
    } else {
        ""
    };
    format!("{}\n{note}", html::table(&table(rows)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    /// A laptop whose pages met their goal `met` times of 9, and a tablet that downloads.
    fn summary(verdict: &str, met: u64, slowest: f64, round_trip: f64) -> Summary {
        let latency = |p50: Option<f64>, max: f64| {
            json!({ "count": 9, "min": 0.1, "p50": p50, "p75": null, "p90": null, "p95": p50.map(|ms| 2.0 * ms), "p99": null,
                    "max": max, "unbounded": 0 })
        };
        let workload = |name: &str, kind: &str, mbps: f64, latency: serde_json::Value, goals: serde_json::Value| {
            json!({ "name": name, "kind": kind, "verdict": "none", "provisional": false, "operations": 9, "goal_misses": 0,
                    "failures": 0, "unfinished": 0, "throughput_mbps": mbps, "latency_ms": latency, "goals": goals })
        };
        let goal = json!([{ "goal": "page load ≤ 500 ms", "kind": "latency", "met": met as f64 / 9.0, "excess": 2.0,
                            "verdict": verdict, "samples": 9 }]);
        let station = |name: &str, verdict: &str, workloads: serde_json::Value| {
            json!({ "name": name, "verdict": verdict, "provisional": true, "throughput_mbps": 1.0, "airtime_share": null,
                    "idle_latency_ms": null, "workloads": workloads })
        };
        serde_json::from_value(json!({
            "schema": "netburn.summary/1", "run": "r", "scenario": "s", "environment": "simulate", "seed": 1, "duration_s": 27.0,
            "verdict": verdict, "provisional": true,
            "self_check": { "ok": true, "timer_lateness_us": { "p99": 0.0 }, "reasons": [] },
            "totals": { "throughput_mbps": 3.5, "airtime_jain": null },
            "stations": [
                station("tablet", "none", json!([workload("download", "download", 19.84, latency(None, 0.0), json!([]))])),
                station("laptop", verdict, json!([
                    workload("browsing", "pages", 3.5, latency(None, slowest), goal),
                    workload("probe", "probe", 0.0, latency(Some(round_trip), 500.0), json!([])),
                ])),
            ],
            "repeats": [], "intervals": {} }))
        .unwrap()
    }

    #[test]
    fn the_table_begins_with_the_station_that_fails() {
        let rows = rows(&summary("fail", 2, 4_670.0, 312.0), &summary("pass", 9, 270.0, 12.0));
        assert_eq!(
            table(&rows).lines(90, false),
            [
                "STATION  QUANTITY                           BEFORE        AFTER",
                "laptop   verdict                             fail*        pass*",
                "         browsing: page load ≤ 500 ms       2 of 9       9 of 9",
                "         browsing: slowest                  4.67 s       270 ms",
                "         round trip, median                 312 ms      12.0 ms",
                "         round trip, p95                    624 ms      24.0 ms",
                "tablet   download                      19.8 Mbit/s  19.8 Mbit/s",
            ]
        );
    }

    #[test]
    fn a_verdict_and_its_goal_have_a_colour_and_other_values_none() {
        let rows = rows(&summary("fail", 2, 4_670.0, 312.0), &summary("pass", 9, 270.0, 12.0));
        let lines = table(&rows).lines(90, true);
        for (line, coloured) in lines[1..].iter().zip([true, true, false, false, false, false]) {
            assert_eq!(
                line.contains("\x1b[1;31m") && line.contains("\x1b[32m"),
                coloured,
                "{line:?}"
            );
        }
        let page = markup(&rows);
        assert_eq!(page.matches("badge fail").count(), 1, "{page}");
        assert_eq!(page.matches("badge pass").count(), 1, "{page}");
    }

    #[test]
    fn operations_that_never_end_and_unsupported_percentiles_are_shown() {
        let mut before = summary("fail", 2, 4_670.0, 312.0);
        before.stations[1].workloads[0].latency_ms.unbounded = 1;
        before.stations[1].workloads[1].latency_ms.p95 = None;
        let rows = rows(&before, &before);
        let of = |quantity: &str| &rows.iter().find(|row| row.quantity == quantity).unwrap().values[0];
        assert_eq!(
            *of("browsing: slowest"),
            Value::Text("never ended".to_owned(), Verdict::None)
        );
        assert_eq!(*of("round trip, p95"), Value::Text("–".to_owned(), Verdict::None));
    }

    #[test]
    fn goals_are_paired_by_their_text() {
        let before = summary("fail", 2, 4_670.0, 312.0);
        let mut after = summary("pass", 9, 270.0, 12.0);
        let goals = &mut after.stations[1].workloads[0].goals;
        let mut other = goals[0].clone();
        other.goal = "page load ≤ 9 s".to_owned();
        goals.insert(0, other);
        goals[0].met = Some(0.0);
        let rows = rows(&before, &after);
        let goals: Vec<&Row> = rows.iter().filter(|row| row.quantity.contains('≤')).collect();
        assert_eq!(goals.len(), 1, "{goals:?}");
        assert_eq!(goals[0].values[1], Value::Text("9 of 9".to_owned(), Verdict::Pass));
    }

    #[test]
    fn a_station_of_one_run_only_is_left_out() {
        let before = summary("fail", 2, 4_670.0, 312.0);
        let mut after = before.clone();
        after.stations.remove(0);
        let rows = rows(&before, &after);
        assert!(rows.iter().all(|row| row.station == "laptop"), "{rows:?}");
    }

    #[test]
    fn names_are_neither_control_characters_nor_markup() {
        let mut before = summary("fail", 2, 4_670.0, 312.0);
        before.stations[1].name = "<b>\u{1b}[2J".to_owned();
        let rows = rows(&before, &before);
        assert!(
            table(&rows)
                .lines(90, false)
                .iter()
                .all(|line| !line.contains('\u{1b}'))
        );
        let page = markup(&rows);
        assert!(page.contains("&lt;b&gt;") && !page.contains('\u{1b}'), "{page}");
    }
}
