//! State of a run in progress: rows in, snapshots out.

mod snapshot;

pub use snapshot::Snapshot;

use netburn_record::aggregate::{LiveCounts, Recent};
use netburn_record::{AirRow, EventKind, EventRow, Header, IntervalRow, LinkRow, OperationRow, Row};
use netburn_units::{Duration, Instant};
use netburn_workload::config::BIN;
use serde::Serialize;
use std::collections::VecDeque;

/// Length of the history in a snapshot, in seconds.
pub const HISTORY_SECONDS: i64 = 60;
/// Maximum number of events in a snapshot.
pub const MAX_EVENTS: usize = 40;
/// Maximum length of the text of an event, in characters.
const MAX_EVENT_TEXT: usize = 300;
const SECOND: i64 = 1_000_000_000;
const TENTH: i64 = SECOND / 10;
/// Tenths of a second that are kept. A rate covers one second; batches of rows overlap.
const TENTHS: u32 = 30;
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
    counts: LiveCounts,
    stations: Vec<Station>,
    events: VecDeque<Event>,
    rows: u64,
    newest: Option<Instant>,
}

#[derive(Debug, Clone)]
struct Station {
    name: String,
    signal_dbm: Option<f64>,
    ssid: Option<String>,
    /// Airtime in nanoseconds, by tenth of a second.
    airtime: Recent<u64>,
    workloads: Vec<Workload>,
}

#[derive(Debug, Clone)]
struct Workload {
    name: String,
    kind: &'static str,
    /// Bytes, by tenth of a second.
    tenths: Recent<u64>,
    seconds: Recent<Second>,
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
            signal_dbm: None,
            ssid: None,
            airtime: Recent::new(BIN, TENTHS),
            workloads: station
                .workloads
                .iter()
                .map(|workload| Workload {
                    name: workload.name.clone(),
                    kind: workload.config.kind().name,
                    tenths: Recent::new(BIN, TENTHS),
                    seconds: Recent::new(Duration::from_secs(1), 2 * HISTORY_SECONDS as u32),
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
            counts: LiveCounts::new(plan),
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
        let at = time(row);
        if !(-MAX_TIME..=MAX_TIME).contains(&at.as_nanos()) {
            return;
        }
        self.newest = self.newest.max(Some(at));
        self.counts.put(row);
        match row {
            Row::Operation(row) => self.operation(at, row),
            Row::Interval(row) => self.interval(row),
            Row::Air(row) => self.air(row),
            Row::Link(row) => self.link(row),
            Row::Event(row) => self.event(row),
            Row::Connection(_) => {}
        }
    }

    fn operation(&mut self, at: Instant, row: &OperationRow) {
        let second = self
            .workload(row.station, row.workload)
            .and_then(|one| one.seconds.bucket(at));
        if let Some(second) = second {
            second.worst = second.worst.max(row.operation.latency());
        }
    }

    fn workload(&mut self, station: u16, workload: u16) -> Option<&mut Workload> {
        let station = self.stations.get_mut(usize::from(station))?;
        station.workloads.get_mut(usize::from(workload))
    }

    fn interval(&mut self, row: &IntervalRow) {
        let Some(one) = self.workload(row.station, row.workload) else {
            return;
        };
        if let Some(tenth) = one.tenths.bucket(row.at) {
            *tenth = tenth.saturating_add(row.bytes());
        }
        if let Some(second) = one.seconds.bucket(row.at) {
            second.bytes = second.bytes.saturating_add(row.bytes());
        }
    }

    fn air(&mut self, row: &AirRow) {
        let Some(station) = self.stations.get_mut(usize::from(row.station)) else {
            return;
        };
        if let Some(tenth) = station.airtime.bucket(row.at) {
            *tenth = tenth.saturating_add(row.airtime());
        }
    }

    fn link(&mut self, row: &LinkRow) {
        if let Some(station) = self.stations.get_mut(usize::from(row.station)) {
            station.signal_dbm = row
                .signal
                .map(|signal| f64::from(signal) / 100.0)
                .or(station.signal_dbm);
            station.ssid = row.ssid.clone().or_else(|| station.ssid.take());
        }
    }

    fn event(&mut self, row: &EventRow) {
        // Events whose text is a document for the record.
        if matches!(row.kind, EventKind::Health | EventKind::Clock | EventKind::Lab) {
            return;
        }
        let station = row.station.and_then(|number| self.stations.get(usize::from(number)));
        self.events.push_back(Event {
            at_s: row.at.as_nanos() as f64 / 1e9,
            station: station.map(|station| station.name.clone()),
            kind: row.kind.name(),
            text: row.detail.text().chars().take(MAX_EVENT_TEXT).collect(),
        });
        while self.events.len() > MAX_EVENTS {
            self.events.pop_front();
        }
    }
}

/// Time of a row; of an operation its end.
fn time(row: &Row) -> Instant {
    match row {
        Row::Operation(row) => row.operation.finished.unwrap_or(row.operation.due),
        Row::Interval(row) => row.at,
        Row::Air(row) => row.at,
        Row::Link(row) => row.at,
        Row::Event(row) => row.at,
        Row::Connection(row) => row.at,
    }
}

#[cfg(test)]
mod tests;
