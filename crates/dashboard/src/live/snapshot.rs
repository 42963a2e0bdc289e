//! Snapshots of a run in progress.

use super::Live;
use netburn_record::aggregate::{LiveSecond, LiveStation, LiveWorkload};
use netburn_scenario::StationWorkload;
use netburn_units::{Duration, Instant};
use serde::Serialize;

/// Length of the history in a snapshot, in seconds.
pub const HISTORY_SECONDS: i64 = 60;
const SECOND: i64 = 1_000_000_000;
/// Maximum number of workloads with a history in a snapshot; further workloads have current values only.
const MAX_HISTORIES: usize = 256;

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
    events: Vec<EventSnapshot<'a>>,
}

#[derive(Debug, Clone, Serialize)]
struct EventSnapshot<'a> {
    at_s: f64,
    station: Option<&'a str>,
    kind: &'static str,
    text: &'a str,
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
        let (plan, newest) = (&self.header.plan, self.run.newest);
        let now = newest.unwrap_or(Instant::from_nanos(i64::MIN / 2));
        let airtime = |station: &LiveStation| -> u64 {
            let last_second = now.checked_sub(Duration::from_secs(1)).unwrap_or(now);
            let last = station.airtime.range(station.airtime.number(last_second), i64::MAX);
            last.copied().fold(0, u64::saturating_add)
        };
        let total_airtime: u64 = self.run.stations.iter().map(airtime).fold(0, u64::saturating_add);
        let mut left = MAX_HISTORIES;
        let stations: Vec<_> = plan
            .stations
            .iter()
            .zip(&self.run.stations)
            .map(|(planned, station)| {
                let workloads: Vec<_> = planned
                    .workloads
                    .iter()
                    .zip(&station.workloads)
                    .map(|(planned, workload)| {
                        let with_history = left > 0;
                        left = left.saturating_sub(1);
                        WorkloadSnapshot::new(planned, workload, now, with_history)
                    })
                    .collect();
                StationSnapshot {
                    name: &planned.name,
                    lost: station.lost,
                    idle_ms: station.idle.map(Duration::as_millis_f64),
                    signal_dbm: station.signal_dbm,
                    ssid: station.ssid.as_deref(),
                    airtime_share: (total_airtime > 0).then(|| airtime(station) as f64 / total_airtime as f64),
                    mbps: workloads.iter().map(|one| one.mbps).sum(),
                    workloads,
                }
            })
            .collect();
        let events = self.run.events.iter().map(|event| EventSnapshot {
            at_s: event.at.as_nanos() as f64 / 1e9,
            station: event.station.map(|number| plan.stations[number].name.as_str()),
            kind: event.kind.name(),
            text: &event.text,
        });
        Snapshot {
            scenario: &plan.name,
            title: plan.title.as_deref(),
            question: plan.question.as_deref(),
            environment: self.header.environment.name(),
            seed: self.header.seed.0,
            duration_s: plan.duration.as_secs_f64(),
            at_s: newest.map(|at| at.as_nanos() as f64 / 1e9),
            phase: self.phase(),
            rows: self.rows,
            mbps: stations.iter().map(|station| station.mbps).sum(),
            stations,
            events: events.collect(),
        }
    }

    fn phase(&self) -> &'static str {
        let end = i64::try_from(self.header.plan.duration.as_nanos()).unwrap_or(i64::MAX);
        match self.run.newest.map(Instant::as_nanos) {
            None => "waiting for the first rows",
            Some(at) if at < 0 => "measuring idle latency",
            Some(at) if at < end => "running",
            Some(_) => "finishing the last operations",
        }
    }
}

impl<'a> WorkloadSnapshot<'a> {
    fn new(planned: &'a StationWorkload, of: &LiveWorkload, now: Instant, with_history: bool) -> Self {
        let last = now.as_nanos().div_euclid(SECOND);
        // The history begins with the load. It excludes the current second, which is incomplete.
        let seconds = (last - HISTORY_SECONDS).max(0)..last;
        let history = || {
            seconds
                .clone()
                .filter(|_| with_history)
                .map(|number| of.seconds.get(number))
        };
        let mbps = |second: &LiveSecond| rounded(second.bytes as f64 * 8.0 / 1e6);
        let worst = |second: &LiveSecond| second.worst.map(Duration::as_millis_f64);
        WorkloadSnapshot {
            name: &planned.name,
            kind: planned.config.kind().name,
            mbps: rounded(of.mbps(now)),
            latency_ms: of.latency.map(Duration::as_millis_f64),
            limit_ms: of.limit.map(Duration::as_millis_f64),
            operations: of.operations,
            goal_misses: of.goal_misses,
            stalls: of.stalls,
            history_mbps: history().map(|second| second.map_or(0.0, mbps)).collect(),
            history_ms: history().map(|second| second.and_then(worst)).collect(),
        }
    }
}

/// A rate in Mbit/s with three decimals.
fn rounded(mbps: f64) -> f64 {
    (mbps * 1e3).round() / 1e3
}
