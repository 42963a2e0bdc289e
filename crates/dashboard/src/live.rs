//! What a run under way does now: rows in, a picture out.

use netburn_record::row::BASELINE;
use netburn_record::{AirRow, EventKind, EventRow, Header, IntervalRow, LinkRow, OperationRow, Row};
use netburn_units::{Duration, Instant};
use netburn_workload::{Goal, Outcome};
use serde::Serialize;
use std::collections::{BTreeMap, VecDeque};

/// How many seconds are drawn.
pub const DRAWN: i64 = 60;
/// How many events are shown.
pub const EVENTS: usize = 40;
/// The most uses that have a course over time; beyond, there are figures only.
const MOST_DRAWN: usize = 256;
/// The longest text of an event that is shown, in characters.
const LONGEST: usize = 300;
/// Intervals come in batches: until this long after its end, a tenth of a second may still be on its way.
const ON_ITS_WAY: i64 = 5;
const SECOND: i64 = 1_000_000_000;
const TENTH: i64 = SECOND / 10;
/// The times that are taken: a row beyond is no part of a run (which lasts 30 days at most).
const FURTHEST: i64 = 40 * 24 * 3600 * SECOND;

/// A run under way. Rows may come in any order; those of stations that the plan doesn't have are nobody's.
#[derive(Debug, Clone)]
pub struct Live {
    scenario: String,
    title: Option<String>,
    question: Option<String>,
    ground: &'static str,
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
    /// Nanoseconds that it held the air, by tenth of a second.
    air: BTreeMap<i64, u64>,
    uses: Vec<Use>,
}

#[derive(Debug, Clone)]
struct Use {
    name: String,
    kind: &'static str,
    limit: Option<Duration>,
    latency: Option<Duration>,
    operations: u64,
    misses: u64,
    stalls: u64,
    /// Bytes by tenth of a second.
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

/// What is shown. Times in s and ms, rates in Mbit/s (10⁶ bit/s).
#[derive(Debug, Clone, Serialize)]
pub struct Picture<'a> {
    scenario: &'a str,
    title: Option<&'a str>,
    question: Option<&'a str>,
    ground: &'static str,
    seed: u64,
    duration_s: f64,
    /// The time of the newest row: how far the run is.
    at_s: Option<f64>,
    phase: &'static str,
    rows: u64,
    mbps: f64,
    stations: Vec<StationPicture<'a>>,
    events: &'a VecDeque<Event>,
}

#[derive(Debug, Clone, Serialize)]
struct StationPicture<'a> {
    name: &'a str,
    lost: bool,
    idle_ms: Option<f64>,
    signal_dbm: Option<f64>,
    ssid: Option<&'a str>,
    /// Of what all stations together had of the air in the last second.
    air_share: Option<f64>,
    mbps: f64,
    uses: Vec<UsePicture<'a>>,
}

#[derive(Debug, Clone, Serialize)]
struct UsePicture<'a> {
    name: &'a str,
    kind: &'static str,
    mbps: f64,
    latency_ms: Option<f64>,
    limit_ms: Option<f64>,
    operations: u64,
    misses: u64,
    stalls: u64,
    /// By second, the last whole one last; at most [`DRAWN`].
    course_mbps: Vec<f64>,
    /// The longest latency of the operations that ended in each second.
    course_ms: Vec<Option<f64>>,
}

impl Live {
    /// A run of which nothing is known but what was known before its first row.
    #[must_use]
    pub fn new(header: &Header) -> Live {
        let plan = &header.plan;
        let stations = plan.stations.iter().map(|station| Station {
            name: station.name.clone(),
            lost: false,
            idle: None,
            signal_dbm: None,
            ssid: None,
            air: BTreeMap::new(),
            uses: station
                .workloads
                .iter()
                .map(|workload| Use {
                    name: workload.name.clone(),
                    kind: workload.config.kind.as_str(),
                    limit: workload.config.goals.iter().find_map(|goal| match goal {
                        Goal::Latency { limit } => Some(*limit),
                        Goal::Rate { .. } | Goal::NoStall => None,
                    }),
                    latency: None,
                    operations: 0,
                    misses: 0,
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
            ground: header.ground.name(),
            seed: header.seed.0,
            duration: plan.duration,
            stations: stations.collect(),
            events: VecDeque::new(),
            rows: 0,
            newest: None,
        }
    }

    /// How many rows came.
    #[must_use]
    pub fn rows(&self) -> u64 {
        self.rows
    }

    /// Takes a row.
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

    /// What there is to be seen.
    #[must_use]
    pub fn picture(&self) -> Picture<'_> {
        let newest = self.newest.unwrap_or(i64::MIN / 2);
        let now_tenth = newest.div_euclid(TENTH);
        let air = |station: &Station| -> u64 {
            let last = station.air.range(now_tenth - 10..).map(|(_, held)| *held);
            last.fold(0, u64::saturating_add)
        };
        let all_air: u64 = self.stations.iter().map(air).fold(0, u64::saturating_add);
        let mut left = MOST_DRAWN;
        let stations: Vec<_> = self
            .stations
            .iter()
            .map(|station| {
                let uses: Vec<_> = station
                    .uses
                    .iter()
                    .map(|one| {
                        let drawn = left > 0;
                        left = left.saturating_sub(1);
                        one.picture(newest, drawn)
                    })
                    .collect();
                StationPicture {
                    name: &station.name,
                    lost: station.lost,
                    idle_ms: station.idle.map(Duration::as_millis_f64),
                    signal_dbm: station.signal_dbm,
                    ssid: station.ssid.as_deref(),
                    air_share: (all_air > 0).then(|| air(station) as f64 / all_air as f64),
                    mbps: uses.iter().map(|one| one.mbps).sum(),
                    uses,
                }
            })
            .collect();
        Picture {
            scenario: &self.scenario,
            title: self.title.as_deref(),
            question: self.question.as_deref(),
            ground: self.ground,
            seed: self.seed,
            duration_s: self.duration.as_secs_f64(),
            at_s: self.newest.map(|at| at as f64 / 1e9),
            phase: self.phase(),
            rows: self.rows,
            mbps: stations.iter().map(|station| station.mbps).sum(),
            stations,
            events: &self.events,
        }
    }

    fn phase(&self) -> &'static str {
        let end = i64::try_from(self.duration.as_nanos()).unwrap_or(i64::MAX);
        match self.newest {
            None => "waiting for the first rows",
            Some(at) if at < 0 => "measuring idle latency",
            Some(at) if at < end => "running",
            Some(_) => "letting the last operations finish",
        }
    }

    /// Notes that it is this late, at least; `None` when that can't be.
    fn time(&mut self, at: Instant) -> Option<i64> {
        let at = at.as_nanos();
        if !(-FURTHEST..=FURTHEST).contains(&at) {
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
        let Some(one) = station.uses.get_mut(usize::from(row.workload)) else {
            return;
        };
        if operation.outcome == Outcome::Cut {
            return;
        }
        one.operations += u64::from(latency.is_some());
        one.misses += u64::from(match (latency, one.limit) {
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
        let Some(one) = station.and_then(|station| station.uses.get_mut(usize::from(row.workload))) else {
            return;
        };
        let bytes = row.bytes_down.saturating_add(row.bytes_up);
        let tenth = one.tenths.entry(at.div_euclid(TENTH)).or_default();
        *tenth = tenth.saturating_add(bytes);
        // A second is drawn, and batches overlap: twice that is enough.
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
        let held = row.airtime_down.as_nanos().saturating_add(row.airtime_up.as_nanos());
        let tenth = station.air.entry(at.div_euclid(TENTH)).or_default();
        *tenth = tenth.saturating_add(held);
        while station.air.len() > 30 {
            station.air.pop_first();
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
        let mut whose = None;
        if let Some(station) = station {
            station.lost |= row.kind == EventKind::Lost;
            let one = row
                .workload
                .and_then(|number| station.uses.get_mut(usize::from(number)));
            if let Some(one) = one.filter(|_| row.kind == EventKind::Stall) {
                one.stalls += 1;
            }
            whose = Some(station.name.clone());
        }
        // These two are documents for the record.
        if matches!(row.kind, EventKind::Health | EventKind::Clock) {
            return;
        }
        self.events.push_back(Event {
            at_s: at as f64 / 1e9,
            station: whose,
            kind: row.kind.name(),
            text: row.text.chars().take(LONGEST).collect(),
        });
        while self.events.len() > EVENTS {
            self.events.pop_front();
        }
    }
}

impl Use {
    /// The second that an instant is in; `None` when it is no longer drawn.
    fn second(&mut self, at: i64) -> Option<&mut Second> {
        let number = at.div_euclid(SECOND);
        let last = self.seconds.last_key_value().map_or(number, |(last, _)| *last);
        if number < last - 2 * DRAWN {
            return None;
        }
        if number > last {
            self.seconds = self.seconds.split_off(&(number - 2 * DRAWN));
        }
        Some(self.seconds.entry(number).or_default())
    }

    /// Mean rate in Mbit/s over the last second that has been heard of.
    fn rate(&self, newest: i64) -> f64 {
        let heard = self.tenths.last_key_value().map_or(i64::MIN, |(tenth, _)| tenth + 1);
        let end = heard.max(newest.div_euclid(TENTH) - ON_ITS_WAY);
        let bytes = self.tenths.range(end.saturating_sub(10)..end).map(|(_, bytes)| *bytes);
        mbps(bytes.fold(0, u64::saturating_add))
    }

    fn picture(&self, newest: i64, drawn: bool) -> UsePicture<'_> {
        let last = newest.div_euclid(SECOND);
        // Before the load there is nothing to draw, and the second under way would look like a fall.
        let seconds = (last - DRAWN).max(0)..last;
        let course = || {
            seconds
                .clone()
                .filter(|_| drawn)
                .map(|number| self.seconds.get(&number))
        };
        UsePicture {
            name: &self.name,
            kind: self.kind,
            mbps: self.rate(newest),
            latency_ms: self.latency.map(Duration::as_millis_f64),
            limit_ms: self.limit.map(Duration::as_millis_f64),
            operations: self.operations,
            misses: self.misses,
            stalls: self.stalls,
            course_mbps: course()
                .map(|second| second.map_or(0.0, |second| mbps(second.bytes)))
                .collect(),
            course_ms: course()
                .map(|second| second.and_then(|second| second.worst).map(Duration::as_millis_f64))
                .collect(),
        }
    }
}

/// The rate at which so many bytes move in a second, to the thousandth.
fn mbps(bytes: u64) -> f64 {
    (bytes as f64 * 8.0 / 1e3).round() / 1e3
}

#[cfg(test)]
mod tests;
