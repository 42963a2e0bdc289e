//! A station's own results. Goals and verdicts have the rules of the summary of the record.

use netburn_record::summary::verdict_name;
use netburn_record::{EventKind, Row};
use netburn_units::{Duration, Instant};
use netburn_workload::config::{BIN, Window};
use netburn_workload::{Config, Goal, GoalResult, Outcome, Stall, Tally, Workload, judge, windows, worst};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Result of one workload, updated during the run.
pub(crate) struct WorkloadResult {
    place: (u16, u16),
    config: Config,
    windows: Vec<Window>,
    /// Time from the start of a window to its first operation.
    phase: Duration,
    /// End of the warm-up. What was due before it does not count.
    warm: Instant,
    counts: Counts,
}

/// Counts of a workload. Times are in ns.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
struct Counts {
    latencies: Vec<u64>,
    /// Bit rates of complete segments of adaptive streaming, in bit/s.
    segments: Vec<u64>,
    samples: u64,
    failures: u64,
    not_started: u64,
    timeouts: u64,
    bins: BTreeMap<i64, u64>,
    /// All bytes, including those during the warm-up and after the load.
    bytes: u64,
    /// Start and length of each stall.
    stalls: Vec<(i64, u64)>,
}

/// Values of a workload.
pub(crate) struct Values<'a> {
    pub(crate) verdict: &'static str,
    pub(crate) goals: Vec<(GoalResult, Tally)>,
    pub(crate) median: Option<Duration>,
    pub(crate) slowest: Option<Duration>,
    pub(crate) last: Option<Duration>,
    /// Mean rate in bit/s.
    pub(crate) rate: f64,
    pub(crate) segments: &'a [u64],
    pub(crate) samples: u64,
    pub(crate) failures: u64,
    pub(crate) not_started: u64,
    pub(crate) timeouts: u64,
    pub(crate) bytes: u64,
    pub(crate) stalls: Tally,
}

impl WorkloadResult {
    /// Creates an empty result. The load of the station runs from `start` to `end`.
    pub(crate) fn new(place: (u16, u16), machine: &Workload, start: Instant, end: Instant, warm: Instant) -> Self {
        let config = machine.config().clone();
        let windows: Vec<Window> = config.windows(start, end).collect();
        let first = machine.first_due();
        let begin = windows.first().map_or(start, |window| window.from);
        WorkloadResult {
            place,
            phase: first.and_then(|first| first.checked_since(begin)).unwrap_or_default(),
            windows,
            config,
            warm,
            counts: Counts::default(),
        }
    }

    /// Counts a row, if it belongs to the workload.
    pub(crate) fn put(&mut self, row: &Row) {
        let counts = &mut self.counts;
        match row {
            Row::Operation(row) if (row.station, row.workload) == self.place => {
                let operation = &row.operation;
                if operation.outcome == Outcome::Cut || operation.due < self.warm {
                    return;
                }
                counts.samples += 1;
                counts.failures += u64::from(matches!(operation.outcome, Outcome::Failed(_) | Outcome::TimedOut));
                counts.not_started += u64::from(operation.outcome == Outcome::NotStarted);
                counts.timeouts += u64::from(operation.outcome == Outcome::TimedOut);
                counts.latencies.extend(operation.latency().map(Duration::as_nanos));
                if operation.outcome == Outcome::Finished
                    && let Some(dash) = self.config.dash()
                {
                    counts
                        .segments
                        .extend(dash.rate_of(operation.bytes).map(|rate| rate.as_bps()));
                }
            }
            Row::Interval(row) if (row.station, row.workload) == self.place => {
                let bytes = row.bytes_down + row.bytes_up;
                *counts.bins.entry(row.at.as_nanos()).or_default() += bytes;
                counts.bytes += bytes;
            }
            Row::Event(row)
                if (row.station, row.workload) == (Some(self.place.0), Some(self.place.1))
                    && row.kind == EventKind::Stall =>
            {
                counts.stalls.push((row.at.as_nanos(), row.length));
            }
            _ => {}
        }
    }

    /// Returns the values at `now`.
    pub(crate) fn values(&self, now: Instant) -> Values<'_> {
        let counts = &self.counts;
        let is_datagram = self.config.kind().is_datagram();
        // Goals of datagrams need both directions, or windows of packets. They are judged in the report only.
        let judged = if is_datagram { &[] } else { &self.config.goals[..] };
        let parts = self.parts(self.phase, now);
        let goals: Vec<(GoalResult, Tally)> = judged
            .iter()
            .map(|goal| {
                let tally = self.tally(*goal, &parts);
                (judge(*goal, &tally), tally)
            })
            .collect();
        let verdict = if is_datagram && !self.config.goals.is_empty() {
            "report"
        } else {
            verdict_name(worst(goals.iter().map(|(result, _)| result.verdict)))
        };
        let mut sorted = counts.latencies.clone();
        sorted.sort_unstable();
        let median = sorted.len().div_ceil(2).checked_sub(1).map(|rank| sorted[rank]);
        Values {
            verdict,
            goals,
            median: median.map(Duration::from_nanos),
            slowest: sorted.last().copied().map(Duration::from_nanos),
            last: counts.latencies.last().copied().map(Duration::from_nanos),
            rate: self.rate(now),
            segments: &counts.segments,
            samples: counts.samples,
            failures: counts.failures,
            not_started: counts.not_started,
            timeouts: counts.timeouts,
            bytes: counts.bytes,
            stalls: self.stalls(&parts),
        }
    }

    /// Evaluated parts of the windows until `now`, each from `phase` after the start of its window on.
    fn parts(&self, phase: Duration, now: Instant) -> Vec<Window> {
        let parts = self.windows.iter().filter_map(|window| {
            let from = window.from.checked_add(phase)?.max(self.warm);
            let to = window.to.min(now);
            (from < to).then_some(Window { from, to })
        });
        parts.collect()
    }

    /// Mean rate until `now` in bit/s, as in the summary: the bytes of the evaluated time in which the workload runs, divided
    /// by this time. An interval counts by its evaluated part.
    fn rate(&self, now: Instant) -> f64 {
        let (mut moved, mut length) = (0.0, Duration::ZERO);
        for part in self.parts(Duration::ZERO, now) {
            let first = part.from - BIN;
            for (&at, &bytes) in self.counts.bins.range(first.as_nanos()..part.to.as_nanos()) {
                let at = Instant::from_nanos(at);
                let inside = (at + BIN).min(part.to).checked_since(at.max(part.from));
                moved += bytes as f64 * inside.unwrap_or_default().as_nanos() as f64 / BIN.as_nanos() as f64;
            }
            length += part.to.checked_since(part.from).unwrap_or_default();
        }
        if length.is_zero() {
            0.0
        } else {
            moved * 8e9 / length.as_nanos() as f64
        }
    }

    fn stalls(&self, parts: &[Window]) -> Tally {
        let stalls = self.counts.stalls.iter().map(|&(began, length)| Stall {
            began: Instant::from_nanos(began),
            length: Duration::from_nanos(length),
        });
        let stalls: Vec<Stall> = stalls.collect();
        sum(parts.iter().map(|part| Tally::from_stalls(&stalls, part.from, part.to)))
    }

    fn tally(&self, goal: Goal, parts: &[Window]) -> Tally {
        let counts = &self.counts;
        match goal {
            Goal::Latency { limit } => {
                let limit = limit.as_nanos();
                let longest = counts.latencies.iter().max();
                Tally {
                    samples: counts.samples,
                    met: counts.latencies.iter().filter(|latency| **latency <= limit).count() as u64,
                    worst: longest.map(|longest| *longest as f64 / limit as f64),
                    ..Tally::default()
                }
            }
            Goal::Rate { at_least, .. } if self.config.dash().is_some() => {
                let at_least = at_least.as_bps();
                let lowest = counts.segments.iter().min();
                Tally {
                    samples: counts.samples,
                    met: counts.segments.iter().filter(|rate| **rate >= at_least).count() as u64,
                    worst: lowest.map(|lowest| at_least as f64 / *lowest as f64),
                    ..Tally::default()
                }
            }
            Goal::Rate { .. } => sum(parts.iter().map(|part| {
                let bins = counts.bins.iter().map(|(at, bytes)| (Instant::from_nanos(*at), *bytes));
                windows(bins, goal, part.from, part.to)
            })),
            _ => self.stalls(parts),
        }
    }

    /// Returns the counts, for [`restore`](Self::restore).
    pub(crate) fn save(&self) -> serde_json::Value {
        serde_json::to_value(&self.counts).unwrap_or_default()
    }

    /// Continues with saved counts.
    pub(crate) fn restore(&mut self, saved: &serde_json::Value) {
        self.counts = Counts::deserialize(saved).unwrap_or_default();
    }
}

fn sum(tallies: impl Iterator<Item = Tally>) -> Tally {
    tallies.fold(Tally::default(), |mut all, tally| {
        all.add(&tally);
        all
    })
}
