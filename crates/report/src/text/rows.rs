//! The table of stations.

use crate::sanitise::sanitise;
use crate::style::Tone;
use crate::table::{Cell, Column, numbers, render, right, words};
use netburn_analysis::format::{mbps, met_percent, ms, percent};
use netburn_record::Summary;
use netburn_record::summary::{GoalSummary, LatencyMs, StationSummary, WorkloadSummary};
use netburn_stats::{P50, P95, P99, percentile::supported};
use netburn_units::Probability;
use netburn_workload::Verdict;

const COLUMNS: [Column; 12] = [
    words("station"),
    words("verdict"),
    words("workload"),
    numbers("met"),
    words("goal"),
    right("Mbit/s"),
    numbers("airtime"),
    right("IDLE ms").apart(),
    right("p50 ms"),
    right("p95 ms"),
    right("p99 ms"),
    right("max ms"),
];

/// One row per goal, or per workload without a goal. Repeated names are omitted.
pub(super) fn table(summary: &Summary, width: usize, colour: bool) -> Vec<String> {
    let mut rows = Vec::new();
    for station in &summary.stations {
        let first = rows.len();
        for workload in &station.workloads {
            let goals: Vec<Option<&GoalSummary>> = if workload.goals.is_empty() {
                vec![None]
            } else {
                workload.goals.iter().map(Some).collect()
            };
            for (i, goal) in goals.into_iter().enumerate() {
                rows.push(row(
                    (rows.len() == first).then_some(station),
                    (i == 0).then_some(workload),
                    goal,
                ));
            }
        }
        if rows.len() == first {
            rows.push(row(Some(station), None, None));
        }
    }
    render(&COLUMNS, &rows, 3, width, colour)
}

fn row(station: Option<&StationSummary>, workload: Option<&WorkloadSummary>, goal: Option<&GoalSummary>) -> Vec<Cell> {
    let mut cells = vec![
        station.map_or_else(Cell::default, |s| sanitise(&s.name).into()),
        station.map_or_else(Cell::default, |s| Cell::verdict(s.verdict, s.provisional)),
        workload.map_or_else(Cell::default, |w| sanitise(&w.name).into()),
    ];
    cells.extend(match goal {
        Some(goal) => [met(goal), sanitise(&goal.goal).into()],
        None => [Cell::unknown(), Cell::new("none", Tone::Quiet)],
    });
    cells.push(workload.map_or_else(Cell::default, |w| mbps(w.throughput_mbps).into()));
    // The column is omitted if no row has airtime.
    cells.push(
        station
            .and_then(|s| s.airtime_share)
            .map_or_else(Cell::default, |share| percent(share).into()),
    );
    cells.push(match station {
        Some(station) => station.idle_latency_ms.map_or_else(Cell::unknown, |v| ms(v).into()),
        None => Cell::default(),
    });
    match workload.map(|w| &w.latency_ms) {
        Some(l) => cells.extend([
            at(l.p50, P50, l),
            at(l.p95, P95, l),
            at(l.p99, P99, l),
            match (l.unbounded, l.max) {
                (0, Some(max)) => ms(max).into(),
                (0, None) => Cell::unknown(),
                (n, _) => Cell::new(format!("never ({n})"), Tone::Bad),
            },
        ]),
        None => cells.extend(std::iter::repeat_n(Cell::default(), 4)),
    }
    cells
}

fn met(goal: &GoalSummary) -> Cell {
    let tone = Cell::verdict(goal.verdict, false).tone;
    let tone = if goal.verdict == Verdict::Pass {
        Tone::Plain
    } else {
        tone
    };
    match goal.met {
        Some(share) => Cell::new(met_percent(share), tone),
        None => Cell::unknown(),
    }
}

/// A percentile: a value; `–` with too few samples; `never` if it falls among operations that never
/// ended.
fn at(value: Option<f64>, level: Probability, of: &LatencyMs) -> Cell {
    match value {
        Some(value) => ms(value).into(),
        None if of.unbounded > 0 && supported(level, of.count) => {
            Cell::new(format!("never ({})", of.unbounded), Tone::Bad)
        }
        None => Cell::unknown(),
    }
}
