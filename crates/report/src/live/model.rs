//! The live view without the terminal: rows in, lines out.

use crate::sanitise::{sanitise, truncate};
use crate::style::{Tone, paint};
use crate::table::{Cell, Column, left, render, right};
use netburn_analysis::format;
use netburn_record::Row;
use netburn_record::aggregate::{LiveRun, LiveStation, LiveWorkload};
use netburn_scenario::Plan;
use netburn_units::{Duration, Instant};

/// Phase of a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Phase {
    /// Server and agents are started and join.
    Joining,
    /// Clocks are compared.
    Clocks,
    /// Idle latency is measured.
    Baseline,
    /// The load runs.
    Load,
    /// Running operations finish.
    Drain,
    /// The record is written.
    Writing,
}

impl Phase {
    /// The phase in words.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Phase::Joining => "starting the server and the stations",
            Phase::Clocks => "synchronising clocks",
            Phase::Baseline => "measuring idle latency",
            Phase::Load => "running",
            Phase::Drain => "waiting for the last operations",
            Phase::Writing => "writing the record",
        }
    }
}

/// State of the live view: one line per workload, in the plan's order. Update it with
/// [`Model::put`] and [`Model::phase`], read it with [`Model::table`] or [`Model::plain`], in any
/// order.
#[derive(Debug, Clone)]
pub struct Model {
    scenario: String,
    ends: Instant,
    phase: Phase,
    run: LiveRun,
    workloads: Vec<WorkloadRow>,
}

/// One workload of one station.
#[derive(Debug, Clone)]
struct WorkloadRow {
    station: u16,
    workload: u16,
    label: [String; 2],
    starts: Instant,
    stops: Instant,
}

impl Model {
    /// A view of a run of `plan`.
    #[must_use]
    pub fn new(plan: &Plan) -> Self {
        let mut workloads = Vec::new();
        for (s, station) in plan.stations.iter().enumerate() {
            for (w, workload) in station.workloads.iter().enumerate() {
                let stop = station.stop.unwrap_or(plan.duration).min(plan.duration);
                let mut active = workload
                    .config
                    .windows(Instant::ZERO + station.start, Instant::ZERO + stop);
                let last = active.last_window();
                workloads.push(WorkloadRow {
                    station: u16::try_from(s).unwrap_or(u16::MAX),
                    workload: u16::try_from(w).unwrap_or(u16::MAX),
                    label: [sanitise(&station.name), sanitise(&workload.name)],
                    starts: active.next().map_or(Instant::ZERO + station.start, |first| first.from),
                    stops: last.map_or(Instant::ZERO + stop, |last| last.to),
                });
            }
        }
        Model {
            scenario: sanitise(&plan.name),
            ends: Instant::ZERO + plan.duration,
            phase: Phase::Joining,
            run: LiveRun::new(plan),
            workloads,
        }
    }

    /// The run is in `phase` now.
    pub fn phase(&mut self, phase: Phase) {
        self.phase = phase;
    }

    /// Adds a row. Rows of unknown stations are ignored.
    pub fn put(&mut self, row: &Row) {
        self.run.put(row);
    }

    /// The view at `now` as a table of at most `columns` by `rows`.
    #[must_use]
    pub fn table(&self, now: Instant, columns: usize, rows: usize, colour: bool) -> Vec<String> {
        const COLUMNS: [Column; 7] = [
            left("STATION"),
            left("WORKLOAD"),
            right("Mbit/s"),
            right("LATENCY"),
            right("DONE"),
            right("MISSED"),
            right("LEFT"),
        ];
        let room = rows.saturating_sub(3).max(1);
        let shown = if self.workloads.len() > room {
            room - 1
        } else {
            self.workloads.len()
        };
        let mut previous = None;
        let cells: Vec<Vec<Cell>> = self.workloads[..shown]
            .iter()
            .map(|u| {
                let again = previous.replace(u.station) == Some(u.station);
                u.cells(self.counts_of(u), now, self.phase, again)
            })
            .collect();
        let mut lines = vec![paint(&truncate(&self.headline(now), columns), Tone::Heading, colour)];
        // A table that is too wide for the terminal loses its last columns. It is not split.
        lines.extend(render(&COLUMNS, &cells, 2, columns, colour).into_iter().take(shown + 1));
        if shown < self.workloads.len() {
            lines.push(truncate(
                &format!("… and {} more", self.workloads.len() - shown),
                columns,
            ));
        }
        lines
    }

    /// The view at `now` as plain lines: one for the run, one per started workload (at most 20 of
    /// them).
    #[must_use]
    pub fn plain(&self, now: Instant) -> Vec<String> {
        const MAX_LINES: usize = 20;
        let mut lines = vec![self.headline(now)];
        if self.phase < Phase::Baseline {
            return lines;
        }
        for u in self.workloads.iter().take(MAX_LINES) {
            let (station, counts) = self.counts_of(u);
            let latency = match self.phase {
                Phase::Baseline => station.idle.map(|d| format!(", idle latency {}", millis(d))),
                _ => counts.latency.map(|d| format!(", latency {}", millis(d))),
            };
            let lost = if station.lost { ", lost" } else { "" };
            lines.push(format!(
                "  {} {}: {} Mbit/s{}, {} done, {} missed{lost}",
                u.label[0],
                u.label[1],
                mbps(counts.mbps(now)),
                latency.unwrap_or_default(),
                counts.operations,
                counts.goal_misses,
            ));
        }
        if self.workloads.len() > MAX_LINES {
            lines.push(format!("  … and {} more", self.workloads.len() - MAX_LINES));
        }
        lines
    }

    /// Current status in words.
    #[must_use]
    pub fn status(&self, now: Instant) -> &'static str {
        match self.phase {
            Phase::Load if now < Instant::ZERO => "waiting for the start",
            phase => phase.name(),
        }
    }

    /// One line with the status and the remaining time.
    #[must_use]
    pub fn headline(&self, now: Instant) -> String {
        let left = match self.phase {
            Phase::Load if now >= Instant::ZERO => format!(", {} left", seconds(self.ends, now)),
            _ => String::new(),
        };
        format!("{}: {}{left}", self.scenario, self.status(now))
    }

    fn counts_of(&self, row: &WorkloadRow) -> (&LiveStation, &LiveWorkload) {
        let station = &self.run.stations[usize::from(row.station)];
        (station, &station.workloads[usize::from(row.workload)])
    }
}

impl WorkloadRow {
    fn cells(
        &self,
        (counted_station, counts): (&LiveStation, &LiveWorkload),
        now: Instant,
        phase: Phase,
        again: bool,
    ) -> Vec<Cell> {
        let station = if again { String::new() } else { self.label[0].clone() };
        if counted_station.lost {
            let mut cells = vec![Cell::from(station), Cell::from(self.label[1].clone())];
            cells.extend([Cell::new("lost", Tone::Bad), Cell::default(), Cell::default()]);
            cells.extend([Cell::default(), Cell::default()]);
            return cells;
        }
        let latency = if phase <= Phase::Baseline {
            counted_station.idle
        } else {
            counts.latency
        };
        let over = latency
            .zip(counts.limit)
            .is_some_and(|(latency, limit)| latency > limit);
        let left = match (phase, now < self.starts) {
            (Phase::Load, true) => format!("in {}", seconds(self.starts, now)),
            (Phase::Load, false) => seconds(self.stops, now),
            _ => String::new(),
        };
        vec![
            Cell::from(station),
            Cell::from(self.label[1].clone()),
            Cell::from(mbps(counts.mbps(now))),
            Cell::new(
                latency.map_or_else(|| "–".to_owned(), millis),
                if over { Tone::Bad } else { Tone::Plain },
            ),
            Cell::from(counts.operations.to_string()),
            Cell::new(
                counts.goal_misses.to_string(),
                if counts.goal_misses > 0 {
                    Tone::Unreliable
                } else {
                    Tone::Plain
                },
            ),
            Cell::from(left),
        ]
    }
}

fn mbps(rate: f64) -> String {
    format!("{rate:.1}")
}

fn millis(latency: Duration) -> String {
    format!("{} ms", format::ms(latency.as_millis_f64()))
}

/// Whole seconds from `now` to `end`, rounded up; zero if it has passed.
fn seconds(end: Instant, now: Instant) -> String {
    let left = end.checked_since(now).unwrap_or(Duration::ZERO);
    let secs = left.as_nanos().div_ceil(1_000_000_000);
    match secs {
        0..60 => format!("{secs} s"),
        60..3600 => format!("{}:{:02} min", secs / 60, secs % 60),
        _ => format!("{}:{:02} h", secs / 3600, secs / 60 % 60),
    }
}

#[cfg(test)]
#[path = "model_tests.rs"]
mod tests;
