//! Tables that a report has on a terminal and on a page: runs, confidence intervals, and parts of the path. Columns and
//! values of metrics, for tables of several kinds.

use crate::table::{Cell, Table, numbers, right, words};
use netburn_analysis::format::{mbps, percent, short, span};
use netburn_record::Summary;
use netburn_record::metrics::{self, Measured, Quantity, Unit};
use netburn_record::summary::{DelaySummary, SplitSummary, WorkloadSummary};

/// Columns of a table for some metrics, in the order of `units`. Metrics of different kinds of workload can have one column.
pub(crate) fn columns(
    table: metrics::Table,
    of: impl Iterator<Item = &'static Quantity>,
    units: &[Unit],
) -> Vec<(&'static str, Unit)> {
    let mut all: Vec<(&'static str, Unit)> = Vec::new();
    for quantity in of {
        let column = quantity.heading(table).map(|heading| (heading, quantity.unit));
        all.extend(column.filter(|column| !all.contains(column)));
    }
    let place = |unit: Unit| units.iter().position(|known| *known == unit).unwrap_or(units.len());
    all.sort_by_key(|(_, unit)| place(*unit));
    all
}

/// The known values below a heading of a table, or `–`. A workload with several goals has several.
pub(crate) fn values(table: metrics::Table, heading: &str, of: &[Measured]) -> Cell {
    let below = of
        .iter()
        .filter(|measured| measured.quantity.heading(table) == Some(heading));
    let known = below.filter_map(|measured| {
        let known = measured.value.filter(|value| value.is_finite())?;
        Some(value(known, measured.quantity.unit))
    });
    match known.collect::<Vec<_>>() {
        known if known.is_empty() => Cell::unknown(),
        known => known.join(", ").into(),
    }
}

/// A value with its unit; a rate without, because headings have it.
pub(crate) fn value(value: f64, unit: Unit) -> String {
    match unit {
        Unit::Ms => span(value),
        Unit::Mbps => mbps(value),
        Unit::Share => percent(value),
        Unit::Count | Unit::Points | Unit::Rpm | Unit::Verdict => short(value),
    }
}

/// The pooled runs with their folders.
pub(crate) fn runs(summary: &Summary) -> Table {
    let rows = summary.repeats.iter().enumerate().map(|(place, run)| {
        vec![
            (place + 1).to_string().into(),
            Cell::verdict(run.verdict, run.provisional),
            mbps(run.totals.throughput_mbps).into(),
            run.seed.to_string().into(),
            run.run.as_str().into(),
        ]
    });
    Table {
        caption: "Runs",
        columns: vec![
            numbers("run"),
            words("verdict"),
            right("Mbit/s"),
            numbers("seed"),
            words("folder"),
        ],
        keys: 1,
        rows: rows.collect(),
    }
}

/// At most `limit` intervals of the means over the runs, of the metrics for which `is_shown`.
pub(crate) fn intervals(summary: &Summary, limit: usize, is_shown: fn(&Quantity) -> bool) -> Table {
    let mut rows = Vec::new();
    let mut add = |station: &str, path: &str, workload: Option<&WorkloadSummary>, measured: &Measured| {
        let Quantity { path: of, unit, .. } = measured.quantity;
        let path = match measured.goal {
            Some(goal) => format!("{path}goals.{goal}.{of}"),
            None => format!("{path}{of}"),
        };
        let found = summary.intervals.get(&path).filter(|_| is_shown(measured.quantity));
        if let Some(ends) = found.filter(|_| rows.len() < limit) {
            let percent = *unit == Unit::Share && heading(measured.quantity).ends_with('%');
            let value = |value: f64| short(if percent { value * 100.0 } else { value });
            let name = name(workload, measured);
            rows.push(vec![
                station.into(),
                name.into(),
                value(ends[0]).into(),
                value(ends[1]).into(),
            ]);
        }
    };
    for station in &summary.stations {
        let path = format!("stations.{}.", station.name);
        for measured in metrics::of_station(station) {
            add(&station.name, &path, None, &measured);
        }
        for workload in &station.workloads {
            let path = format!("{path}workloads.{}.", workload.name);
            for measured in metrics::of_workload(workload) {
                add(&station.name, &path, Some(workload), &measured);
            }
        }
    }
    for measured in metrics::of_run(summary) {
        add("(all)", "", None, &measured);
    }
    Table {
        caption: "95 % confidence intervals of the means over the runs",
        columns: vec![
            words("station").once(),
            words("metric, 95 % interval"),
            numbers("low"),
            numbers("high"),
        ],
        keys: 2,
        rows,
    }
}

/// Short name of a metric with its unit.
fn heading(quantity: &Quantity) -> String {
    let known = quantity.comparison.as_ref();
    known.map_or_else(|| quantity.name.replace('_', " "), |known| known.heading.to_owned())
}

/// Name of a metric of a station: `browsing p95 ms`. One of several goals has its text.
fn name(workload: Option<&WorkloadSummary>, measured: &Measured) -> String {
    let heading = heading(measured.quantity);
    let Some(workload) = workload else { return heading };
    match measured.goal.and_then(|goal| workload.goals.get(goal)) {
        Some(goal) if workload.goals.len() > 1 => format!("{} {}, {heading}", workload.name, goal.goal),
        _ => format!("{} {heading}", workload.name),
    }
}

/// Meaning of the parts of the path.
pub(crate) const SPLIT_NOTE: &str = "Wi-Fi: round trip to the access point. Line: from there to the first hop beyond the router. Server: beyond that hop. Idle: median before the load. Added: increase over the idle value.";

/// Delays of the parts of each station's path to the server; no rows if none is known.
pub(crate) fn split(summary: &Summary) -> Table {
    let rows = summary.stations.iter().flat_map(|station| {
        let parts = station.split.iter().flat_map(parts_of);
        parts.map(|(part, delay)| {
            let times = [
                delay.idle_ms,
                delay.p50_ms,
                delay.p95_ms,
                delay.added_p50_ms(),
                delay.added_p95_ms(),
            ];
            let times = times.map(|time| Cell::from(time.map_or_else(|| "–".to_owned(), difference)));
            [station.name.as_str().into(), part.into()]
                .into_iter()
                .chain(times)
                .collect()
        })
    });
    Table {
        caption: "Delay of Wi-Fi, line and server",
        columns: vec![
            words("station").once(),
            words("delay of"),
            numbers("idle"),
            numbers("median"),
            numbers("p95"),
            numbers("added"),
            numbers("added p95"),
        ],
        keys: 2,
        rows: rows.collect(),
    }
}

/// The known parts in the order of the path from the station to the server.
fn parts_of(split: &SplitSummary) -> impl Iterator<Item = (&'static str, DelaySummary)> + use<> {
    let parts = [
        ("Wi-Fi", Some(split.wifi)),
        ("line", split.line),
        ("server", split.server),
        ("line and server", split.line_and_server),
    ];
    parts.into_iter().filter_map(|(name, delay)| Some((name, delay?)))
}

/// A time in ms with its unit. Differences can be slightly below zero, because two probes are not sent at one instant.
fn difference(ms: f64) -> String {
    match ms {
        ..0.0 => format!("-{}", span(-ms)),
        _ => span(ms),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn summary() -> Summary {
        let delay =
            |idle: f64, p50: f64, p95: f64| json!({ "count": 600, "idle_ms": idle, "p50_ms": p50, "p95_ms": p95 });
        let split = json!({ "wifi": delay(0.5, 1.5, 3.5), "line": delay(10.0, 150.0, 190.0),
                            "server": delay(10.0, 9.5, 12.0) });
        let station = |name: &str, split: serde_json::Value| {
            json!({ "name": name, "verdict": "none", "throughput_mbps": 0.0, "airtime_share": null, "idle_latency_ms": null,
                    "split": split, "workloads": [] })
        };
        let document = json!({ "schema": "netburn.summary/1", "run": "x", "scenario": "house", "environment": "simulate",
            "seed": 1, "duration_s": 60.0, "verdict": "none", "provisional": false,
            "self_check": { "ok": true, "timer_lateness_us": { "p99": 0.0 }, "reasons": [] },
            "totals": { "throughput_mbps": 0.0, "airtime_jain": null },
            "stations": [station("phone\u{1b}", split), station("tv", json!(null))], "repeats": [], "intervals": {} });
        serde_json::from_value(document).unwrap()
    }

    /// Added: 1.5 − 0.5, 3.5 − 0.5, 150 − 10, 190 − 10, 9.5 − 10 and 12 − 10 ms.
    #[test]
    fn each_part_has_a_row() {
        let text = split(&summary()).lines(120, false).join("\n");
        let expected = [
            "STATION  DELAY OF     IDLE   MEDIAN      P95    ADDED  ADDED P95",
            "phone\u{fffd}   Wi-Fi      500 µs  1.50 ms  3.50 ms  1.00 ms    3.00 ms",
            "         line      10.0 ms   150 ms   190 ms   140 ms     180 ms",
            "         server    10.0 ms  9.50 ms  12.0 ms  -500 µs    2.00 ms",
        ];
        let found: Vec<&str> = text.lines().map(str::trim_end).collect();
        assert_eq!(found, expected, "{text}");
    }

    #[test]
    fn without_a_split_there_is_no_table() {
        let mut summary = summary();
        summary.stations.remove(0);
        assert!(split(&summary).rows.is_empty());
    }
}
