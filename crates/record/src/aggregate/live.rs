//! State of an active run.

use super::Recent;
use super::counting::Counting;
use crate::row::{AirRow, EventKind, EventRow, IntervalRow, LinkRow, OperationRow, Row};
use netburn_scenario::Plan;
use netburn_units::{Duration, Instant};
use netburn_workload::ProbeTarget;
use netburn_workload::config::BIN;
use std::collections::VecDeque;

/// Maximum length of the text of an event, in characters.
const MAX_EVENT_TEXT: usize = 300;
/// Seconds that are kept.
const SECONDS: u32 = 120;
/// Averaging window of a rate, or one period of a workload with a longer interval.
const WINDOW: Duration = Duration::from_secs(1);
/// Maximum length of the window.
const MAX_WINDOW: Duration = Duration::from_secs(30);
/// Maximum delay of intervals, which arrive in batches. An interval may still arrive for this time
/// after its end.
const BATCH_DELAY: Duration = Duration::from_millis(500);
/// Maximum absolute time of a row. Later rows are ignored: a run lasts at most 30 days.
const MAX_TIME: Duration = Duration::from_secs(40 * 24 * 3600);

/// State of an active run, for the live views on a terminal and in the dashboard. Counts include operations that are due
/// during the warm-up. Rows may arrive in any order.
#[derive(Debug, Clone)]
pub struct LiveRun {
    counting: Counting,
    /// The stations, in the plan's order.
    pub stations: Vec<LiveStation>,
    /// The last events.
    pub events: VecDeque<LiveEvent>,
    /// Time of the newest row; of an operation its end.
    pub newest: Option<Instant>,
}

/// Current values of a station.
#[derive(Debug, Clone)]
pub struct LiveStation {
    /// True if its agent was lost.
    pub lost: bool,
    /// The last round trip before the load.
    pub idle: Option<Duration>,
    /// The last signal in dBm.
    pub signal_dbm: Option<f64>,
    /// The last name of its network.
    pub ssid: Option<String>,
    /// Airtime in nanoseconds, by [`BIN`].
    pub airtime: Recent<u64>,
    /// Its workloads, in the plan's order.
    pub workloads: Vec<LiveWorkload>,
}

/// Current values of a workload.
#[derive(Debug, Clone)]
pub struct LiveWorkload {
    /// Strictest latency goal.
    pub limit: Option<Duration>,
    /// Latency of the last operation that finished.
    pub latency: Option<Duration>,
    /// Operations that finished.
    pub operations: u64,
    /// Operations that missed the strictest latency goal. Without such a goal: those that did not finish.
    pub goal_misses: u64,
    /// Stalls of its player.
    pub stalls: u64,
    /// The last seconds.
    pub seconds: Recent<LiveSecond>,
    window: Duration,
    /// Bytes, by [`BIN`].
    bytes: Recent<u64>,
}

/// A second of a workload.
#[derive(Debug, Clone, Copy, Default)]
pub struct LiveSecond {
    /// Bytes of both directions.
    pub bytes: u64,
    /// Longest latency of the operations that ended in it.
    pub worst: Option<Duration>,
}

/// An event. Those for the record only are not kept.
#[derive(Debug, Clone)]
pub struct LiveEvent {
    /// Its time.
    pub at: Instant,
    /// Its station, in the plan's order.
    pub station: Option<usize>,
    /// Its kind.
    pub kind: EventKind,
    /// Its text, which may be truncated.
    pub text: String,
}

impl LiveRun {
    /// Maximum number of events that are kept.
    pub const MAX_EVENTS: usize = 40;

    /// A run of `plan` without rows.
    #[must_use]
    pub fn new(plan: &Plan) -> Self {
        let stations = plan.stations.iter().map(|station| LiveStation {
            lost: false,
            idle: None,
            signal_dbm: None,
            ssid: None,
            airtime: Recent::new(BIN, bins(WINDOW * 2)),
            workloads: station
                .workloads
                .iter()
                .map(|workload| {
                    let interval = workload.config.interval();
                    LiveWorkload::new(workload.config.latency_limit(), interval.unwrap_or(WINDOW))
                })
                .collect(),
        });
        LiveRun {
            counting: Counting::new(plan),
            stations: stations.collect(),
            events: VecDeque::new(),
            newest: None,
        }
    }

    /// Adds a row. Rows of unknown stations and workloads are ignored.
    pub fn put(&mut self, row: &Row) {
        let at = match row {
            Row::Operation(row) => row.operation.finished.unwrap_or(row.operation.due),
            Row::Interval(row) => row.at,
            Row::Air(row) => row.at,
            Row::Link(row) => row.at,
            Row::Event(row) => row.at,
            Row::Connection(row) => row.at,
            Row::Observed(row) => row.at,
        };
        if at.as_nanos().unsigned_abs() > MAX_TIME.as_nanos() {
            return;
        }
        self.newest = self.newest.max(Some(at));
        match row {
            Row::Operation(row) => self.operation(at, row),
            Row::Interval(row) => self.interval(row),
            Row::Air(row) => self.air(row),
            Row::Link(row) => self.link(row),
            Row::Event(row) => self.event(row),
            Row::Connection(_) | Row::Observed(_) => {}
        }
    }

    fn workload(&mut self, station: u16, workload: u16) -> Option<&mut LiveWorkload> {
        let station = self.stations.get_mut(usize::from(station))?;
        station.workloads.get_mut(usize::from(workload))
    }

    fn operation(&mut self, at: Instant, row: &OperationRow) {
        let second = self
            .workload(row.station, row.workload)
            .and_then(|workload| workload.seconds.bucket(at));
        if let Some(second) = second {
            second.worst = second.worst.max(row.operation.latency());
        }
        let Some(counted) = self.counting.operation(row) else {
            return;
        };
        let station = &mut self.stations[counted.station];
        let Some(workload) = counted.workload else {
            if counted.idle == Some(ProbeTarget::Server) {
                station.idle = counted.latency.or(station.idle);
            }
            return;
        };
        let workload = &mut station.workloads[workload];
        workload.operations += u64::from(counted.latency.is_some());
        workload.goal_misses += u64::from(counted.missed());
        workload.latency = counted.latency.or(workload.latency);
    }

    fn interval(&mut self, row: &IntervalRow) {
        let Some(workload) = self.workload(row.station, row.workload) else {
            return;
        };
        if let Some(bytes) = workload.bytes.bucket(row.at) {
            *bytes = bytes.saturating_add(row.bytes());
        }
        if let Some(second) = workload.seconds.bucket(row.at) {
            second.bytes = second.bytes.saturating_add(row.bytes());
        }
    }

    fn air(&mut self, row: &AirRow) {
        let station = self.stations.get_mut(usize::from(row.station));
        if let Some(airtime) = station.and_then(|station| station.airtime.bucket(row.at)) {
            *airtime = airtime.saturating_add(row.airtime());
        }
    }

    fn link(&mut self, row: &LinkRow) {
        if let Some(station) = self.stations.get_mut(usize::from(row.station)) {
            let signal = row.signal.map(|signal| f64::from(signal) / 100.0);
            station.signal_dbm = signal.or(station.signal_dbm);
            station.ssid = row.ssid.clone().or_else(|| station.ssid.take());
        }
    }

    fn event(&mut self, row: &EventRow) {
        let number = row
            .station
            .map(usize::from)
            .filter(|number| *number < self.stations.len());
        if let Some(station) = number.and_then(|number| self.stations.get_mut(number)) {
            // A station whose server is lost is there itself.
            station.lost |= row.kind == EventKind::Lost;
            let workload = row
                .workload
                .and_then(|number| station.workloads.get_mut(usize::from(number)));
            if let Some(workload) = workload.filter(|_| row.kind == EventKind::Stall) {
                workload.stalls += 1;
            }
        }
        // Events whose text is a document for the record.
        if matches!(row.kind, EventKind::Health | EventKind::Clock | EventKind::Lab) {
            return;
        }
        self.events.push_back(LiveEvent {
            at: row.at,
            station: number,
            kind: row.kind,
            text: row.detail.text().chars().take(MAX_EVENT_TEXT).collect(),
        });
        while self.events.len() > Self::MAX_EVENTS {
            self.events.pop_front();
        }
    }
}

impl LiveWorkload {
    fn new(limit: Option<Duration>, interval: Duration) -> Self {
        let window = interval.clamp(WINDOW, MAX_WINDOW);
        LiveWorkload {
            limit,
            latency: None,
            operations: 0,
            goal_misses: 0,
            stalls: 0,
            seconds: Recent::new(Duration::from_secs(1), SECONDS),
            window,
            // Twice the window is always enough, for any order of the rows.
            bytes: Recent::new(BIN, bins(window * 2)),
        }
    }

    /// Mean rate in Mbit/s over the last second with data, or the last period of a workload with a
    /// longer one.
    #[must_use]
    pub fn mbps(&self, now: Instant) -> f64 {
        let received = self.bytes.end();
        let expected = now.checked_sub(BATCH_DELAY);
        let Some(end) = received.max(expected) else { return 0.0 };
        let begin = end.checked_sub(self.window).unwrap_or(end);
        let bytes = self.bytes.between(begin, end).copied().fold(0, u64::saturating_add);
        bytes as f64 * 8.0 / 1e6 / self.window.as_secs_f64()
    }
}

/// Number of bins in a window, which is at most twice the longest one.
fn bins(window: Duration) -> u32 {
    (window.as_nanos() / BIN.as_nanos()) as u32
}
