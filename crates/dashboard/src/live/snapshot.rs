//! Snapshots of a run in progress.

use super::{Event, HISTORY_SECONDS, Live, SECOND, Station, TENTH, Workload};
use netburn_record::aggregate::LiveWorkload;
use netburn_units::{Duration, Instant};
use serde::Serialize;
use std::collections::VecDeque;

/// Maximum number of workloads with a history in a snapshot; further workloads have current values only.
const MAX_HISTORIES: usize = 256;
/// Delay until the interval rows of a tenth of a second have arrived in a batch, in tenths of a second.
const BATCH_DELAY: i64 = 5;

/// Snapshot of a run. Times are in s and ms, rates in Mbit/s (10⁶ bit/s).
#[derive(Debug, Clone, Serialize)]
pub struct Snapshot<'a> {
    scenario: &'a str,
    title: Option<&'a str>,
    question: Option<&'a str>,
    environment: &'static str,
    seed: u64,
    duration_s: f64,
    /// Time of the newest row.
    at_s: Option<f64>,
    phase: &'static str,
    rows: u64,
    mbps: f64,
    stations: Vec<StationSnapshot<'a>>,
    events: &'a VecDeque<Event>,
}

#[derive(Debug, Clone, Serialize)]
struct StationSnapshot<'a> {
    name: &'a str,
    lost: bool,
    idle_ms: Option<f64>,
    signal_dbm: Option<f64>,
    ssid: Option<&'a str>,
    /// Share of the airtime of all stations in the last second, 0 to 1.
    airtime_share: Option<f64>,
    mbps: f64,
    workloads: Vec<WorkloadSnapshot<'a>>,
}

#[derive(Debug, Clone, Serialize)]
struct WorkloadSnapshot<'a> {
    name: &'a str,
    kind: &'static str,
    mbps: f64,
    latency_ms: Option<f64>,
    limit_ms: Option<f64>,
    operations: u64,
    goal_misses: u64,
    stalls: u64,
    /// Throughput by second, up to the last complete second; at most [`HISTORY_SECONDS`] values.
    history_mbps: Vec<f64>,
    /// Longest latency of the operations that ended in each second.
    history_ms: Vec<Option<f64>>,
}

impl Live {
    /// Current state of the run.
    #[must_use]
    pub fn snapshot(&self) -> Snapshot<'_> {
        let newest = self.newest.map_or(i64::MIN / 2, Instant::as_nanos);
        let now_tenth = newest.div_euclid(TENTH);
        let airtime = |station: &Station| -> u64 {
            let last = station.airtime.range(now_tenth - 10, i64::MAX).copied();
            last.fold(0, u64::saturating_add)
        };
        let total_airtime: u64 = self.stations.iter().map(airtime).fold(0, u64::saturating_add);
        let mut left = MAX_HISTORIES;
        let stations: Vec<_> = self
            .stations
            .iter()
            .zip(&self.counts.stations)
            .map(|(station, counts)| {
                let workloads: Vec<_> = station
                    .workloads
                    .iter()
                    .zip(&counts.workloads)
                    .map(|(one, counts)| {
                        let with_history = left > 0;
                        left = left.saturating_sub(1);
                        one.snapshot(counts, newest, with_history)
                    })
                    .collect();
                StationSnapshot {
                    name: &station.name,
                    lost: counts.lost,
                    idle_ms: counts.idle.map(Duration::as_millis_f64),
                    signal_dbm: station.signal_dbm,
                    ssid: station.ssid.as_deref(),
                    airtime_share: (total_airtime > 0).then(|| airtime(station) as f64 / total_airtime as f64),
                    mbps: workloads.iter().map(|one| one.mbps).sum(),
                    workloads,
                }
            })
            .collect();
        Snapshot {
            scenario: &self.scenario,
            title: self.title.as_deref(),
            question: self.question.as_deref(),
            environment: self.environment,
            seed: self.seed,
            duration_s: self.duration.as_secs_f64(),
            at_s: self.newest.map(|at| at.as_nanos() as f64 / 1e9),
            phase: self.phase(),
            rows: self.rows,
            mbps: stations.iter().map(|station| station.mbps).sum(),
            stations,
            events: &self.events,
        }
    }

    fn phase(&self) -> &'static str {
        let end = i64::try_from(self.duration.as_nanos()).unwrap_or(i64::MAX);
        match self.newest.map(Instant::as_nanos) {
            None => "waiting for the first rows",
            Some(at) if at < 0 => "measuring idle latency",
            Some(at) if at < end => "running",
            Some(_) => "finishing the last operations",
        }
    }
}

impl Workload {
    /// Mean rate in Mbit/s over the last second with complete data.
    fn rate(&self, newest: i64) -> f64 {
        let received = self.tenths.newest().map_or(i64::MIN, |tenth| tenth + 1);
        let end = received.max(newest.div_euclid(TENTH) - BATCH_DELAY);
        let bytes = self.tenths.range(end.saturating_sub(10), end).copied();
        mbps(bytes.fold(0, u64::saturating_add))
    }

    fn snapshot(&self, counts: &LiveWorkload, newest: i64, with_history: bool) -> WorkloadSnapshot<'_> {
        let last = newest.div_euclid(SECOND);
        // The history begins with the load. It excludes the current second, which is incomplete.
        let seconds = (last - HISTORY_SECONDS).max(0)..last;
        let history = || {
            seconds
                .clone()
                .filter(|_| with_history)
                .map(|number| self.seconds.get(number))
        };
        WorkloadSnapshot {
            name: &self.name,
            kind: self.kind,
            mbps: self.rate(newest),
            latency_ms: counts.latency.map(Duration::as_millis_f64),
            limit_ms: counts.limit.map(Duration::as_millis_f64),
            operations: counts.operations,
            goal_misses: counts.goal_misses,
            stalls: counts.stalls,
            history_mbps: history()
                .map(|second| second.map_or(0.0, |second| mbps(second.bytes)))
                .collect(),
            history_ms: history()
                .map(|second| second.and_then(|second| second.worst).map(Duration::as_millis_f64))
                .collect(),
        }
    }
}

/// Rate of `bytes` in one second, in Mbit/s, rounded to three decimals.
fn mbps(bytes: u64) -> f64 {
    (bytes as f64 * 8.0 / 1e3).round() / 1e3
}
