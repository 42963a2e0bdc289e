//! What there is to be seen of a run under way.

use super::{DRAWN, Event, Live, SECOND, Station, TENTH, Use};
use netburn_units::Duration;
use serde::Serialize;
use std::collections::VecDeque;

/// The most uses that have a course over time; beyond, there are figures only.
const MOST_DRAWN: usize = 256;
/// Intervals come in batches: until this long after its end, a tenth of a second may still be on its way.
const ON_ITS_WAY: i64 = 5;

/// What is shown. Times in s and ms, rates in Mbit/s (10⁶ bit/s).
#[derive(Debug, Clone, Serialize)]
pub struct Picture<'a> {
    scenario: &'a str,
    title: Option<&'a str>,
    question: Option<&'a str>,
    environment: &'static str,
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
    goal_misses: u64,
    stalls: u64,
    /// By second, the last whole one last; at most [`DRAWN`].
    course_mbps: Vec<f64>,
    /// The longest latency of the operations that ended in each second.
    course_ms: Vec<Option<f64>>,
}

impl Live {
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
            environment: self.environment,
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
}

impl Use {
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
            goal_misses: self.goal_misses,
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
