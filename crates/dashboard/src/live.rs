//! State of a run in progress: rows in, snapshots out.

mod snapshot;

pub use snapshot::Snapshot;

use netburn_record::row::BASELINE;
use netburn_record::{AirRow, EventKind, EventRow, Header, IntervalRow, LinkRow, OperationRow, Row};
use netburn_units::{Duration, Instant};
use netburn_workload::{Goal, Outcome};
use serde::Serialize;
use std::collections::{BTreeMap, VecDeque};

/// Length of the history in a snapshot, in seconds.
pub const HISTORY_SECONDS: i64 = 60;
/// Maximum number of events in a snapshot.
pub const MAX_EVENTS: usize = 40;
/// Maximum length of the text of an event, in characters.
const MAX_EVENT_TEXT: usize = 300;
const SECOND: i64 = 1_000_000_000;
const TENTH: i64 = SECOND / 10;
/// Maximum absolute time of a row, in nanoseconds. Later rows are ignored: a run lasts at most 30 days.
const MAX_TIME: i64 = 40 * 24 * 3600 * SECOND;

/// Run in progress. Rows may arrive in any order. Rows of stations that are not in the plan are ignored.
#[derive(Debug, Clone)]
pub struct Live {
    scenario: String,
    title: Option<String>,
    question: Option<String>,
    environment: &'static str,
    seed: u64,
    duration: Duration,
    stations: Vec<Station>,
    events: VecDeque<Event>,
    rows: u64,
    newest: Option<i64>,
}

#[derive(Debug, Clone)]
struct Station {
    name: String,
    lost: bool,
    idle: Option<Duration>,
    signal_dbm: Option<f64>,
    ssid: Option<String>,
    /// Airtime in nanoseconds, by tenth of a second.
    airtime: BTreeMap<i64, u64>,
    workloads: Vec<Workload>,
}

#[derive(Debug, Clone)]
struct Workload {
    name: String,
    kind: &'static str,
    limit: Option<Duration>,
    latency: Option<Duration>,
    operations: u64,
    goal_misses: u64,
    stalls: u64,
    /// Bytes, by tenth of a second.
    tenths: BTreeMap<i64, u64>,
    seconds: BTreeMap<i64, Second>,
}

#[derive(Debug, Clone, Copy, Default)]
struct Second {
    bytes: u64,
    worst: Option<Duration>,
}

#[derive(Debug, Clone, Serialize)]
struct Event {
    at_s: f64,
    station: Option<String>,
    kind: &'static str,
    text: String,
}

impl Live {
    /// Run without rows.
    #[must_use]
    pub fn new(header: &Header) -> Live {
        let plan = &header.plan;
        let stations = plan.stations.iter().map(|station| Station {
            name: station.name.clone(),
            lost: false,
            idle: None,
            signal_dbm: None,
            ssid: None,
            airtime: BTreeMap::new(),
            workloads: station
                .workloads
                .iter()
                .map(|workload| Workload {
                    name: workload.name.clone(),
                    kind: workload.config.kind.as_str(),
                    limit: workload.config.goals.iter().find_map(|goal| match goal {
                        Goal::Latency { limit } => Some(*limit),
                        Goal::Rate { .. } | Goal::NoStall => None,
                    }),
                    latency: None,
                    operations: 0,
                    goal_misses: 0,
                    stalls: 0,
                    tenths: BTreeMap::new(),
                    seconds: BTreeMap::new(),
                })
                .collect(),
        });
        Live {
            scenario: plan.name.clone(),
            title: plan.title.clone(),
            question: plan.question.clone(),
            environment: header.environment.name(),
            seed: header.seed.0,
            duration: plan.duration,
            stations: stations.collect(),
            events: VecDeque::new(),
            rows: 0,
            newest: None,
        }
    }

    /// Number of rows.
    #[must_use]
    pub fn rows(&self) -> u64 {
        self.rows
    }

    /// Adds a row.
    pub fn put(&mut self, row: &Row) {
        self.rows += 1;
        match row {
            Row::Operation(row) => self.operation(row),
            Row::Interval(row) => self.interval(row),
            Row::Air(row) => self.air(row),
            Row::Link(row) => self.link(row),
            Row::Event(row) => self.event(row),
            Row::Connection(row) => {
                self.time(row.at);
            }
        }
    }

    /// Updates the time of the newest row. Returns `None` if `at` is out of range.
    fn time(&mut self, at: Instant) -> Option<i64> {
        let at = at.as_nanos();
        if !(-MAX_TIME..=MAX_TIME).contains(&at) {
            return None;
        }
        self.newest = self.newest.max(Some(at));
        Some(at)
    }

    fn operation(&mut self, row: &OperationRow) {
        let operation = &row.operation;
        let latency = operation.latency();
        let Some(at) = self.time(operation.finished.unwrap_or(operation.due)) else {
            return;
        };
        let Some(station) = self.stations.get_mut(usize::from(row.station)) else {
            return;
        };
        if row.workload == BASELINE {
            station.idle = latency.or(station.idle);
            return;
        }
        let Some(one) = station.workloads.get_mut(usize::from(row.workload)) else {
            return;
        };
        if operation.outcome == Outcome::Cut {
            return;
        }
        one.operations += u64::from(latency.is_some());
        one.goal_misses += u64::from(match (latency, one.limit) {
            (Some(latency), Some(limit)) => latency > limit,
            (latency, _) => latency.is_none(),
        });
        one.latency = latency.or(one.latency);
        if let Some(second) = one.second(at) {
            second.worst = second.worst.max(latency);
        }
    }

    fn interval(&mut self, row: &IntervalRow) {
        let Some(at) = self.time(row.at) else { return };
        let station = self.stations.get_mut(usize::from(row.station));
        let Some(one) = station.and_then(|station| station.workloads.get_mut(usize::from(row.workload))) else {
            return;
        };
        let bytes = row.bytes_down.saturating_add(row.bytes_up);
        let tenth = one.tenths.entry(at.div_euclid(TENTH)).or_default();
        *tenth = tenth.saturating_add(bytes);
        // A rate covers one second. Batches overlap, so three seconds are kept.
        while one.tenths.len() > 30 {
            one.tenths.pop_first();
        }
        if let Some(second) = one.second(at) {
            second.bytes = second.bytes.saturating_add(bytes);
        }
    }

    fn air(&mut self, row: &AirRow) {
        let Some(at) = self.time(row.at) else { return };
        let Some(station) = self.stations.get_mut(usize::from(row.station)) else {
            return;
        };
        let airtime = row.airtime_down.as_nanos().saturating_add(row.airtime_up.as_nanos());
        let tenth = station.airtime.entry(at.div_euclid(TENTH)).or_default();
        *tenth = tenth.saturating_add(airtime);
        while station.airtime.len() > 30 {
            station.airtime.pop_first();
        }
    }

    fn link(&mut self, row: &LinkRow) {
        if self.time(row.at).is_none() {
            return;
        }
        if let Some(station) = self.stations.get_mut(usize::from(row.station)) {
            station.signal_dbm = row
                .signal
                .map(|signal| f64::from(signal) / 100.0)
                .or(station.signal_dbm);
            station.ssid = row.ssid.clone().or_else(|| station.ssid.take());
        }
    }

    fn event(&mut self, row: &EventRow) {
        let Some(at) = self.time(row.at) else { return };
        let station = row
            .station
            .and_then(|number| self.stations.get_mut(usize::from(number)));
        let mut name = None;
        if let Some(station) = station {
            // The loss of a server is an event without a station.
            station.lost |= row.kind == EventKind::Lost;
            let one = row
                .workload
                .and_then(|number| station.workloads.get_mut(usize::from(number)));
            if let Some(one) = one.filter(|_| row.kind == EventKind::Stall) {
                one.stalls += 1;
            }
            name = Some(station.name.clone());
        }
        // Events whose text is a document for the record.
        if matches!(row.kind, EventKind::Health | EventKind::Clock | EventKind::Lab) {
            return;
        }
        self.events.push_back(Event {
            at_s: at as f64 / 1e9,
            station: name,
            kind: row.kind.name(),
            text: row.detail.text().chars().take(MAX_EVENT_TEXT).collect(),
        });
        while self.events.len() > MAX_EVENTS {
            self.events.pop_front();
        }
    }
}

impl Workload {
    /// Entry of the history for the second of `at`; `None` if that second is older than the history.
    fn second(&mut self, at: i64) -> Option<&mut Second> {
        let number = at.div_euclid(SECOND);
        let last = self.seconds.last_key_value().map_or(number, |(last, _)| *last);
        if number < last - 2 * HISTORY_SECONDS {
            return None;
        }
        if number > last {
            self.seconds = self.seconds.split_off(&(number - 2 * HISTORY_SECONDS));
        }
        Some(self.seconds.entry(number).or_default())
    }
}

#[cfg(test)]
mod tests;
