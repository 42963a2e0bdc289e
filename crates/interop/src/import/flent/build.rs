//! Series as stations, workloads and rows.

use super::FlentError;
use super::document::{Data, Point};
use super::names::{SeriesKind, host, is_computed, series_kind};
use crate::import::Imported;
use crate::import::common::{Transfer, check_plan, one_line, operation, station_name};
use netburn_record::header::{Environment, Header, Host, Method, Source, WorkloadMethod};
use netburn_record::row::{BASELINE, OperationRow, Row};
use netburn_record::utc::UnixTime;
use netburn_scenario::{Plan, Station, StationWorkload};
use netburn_units::{Duration, Instant};
use netburn_workload::{Config, Operation, Outcome};
use std::collections::{BTreeMap, BTreeSet};

/// Maximum number of stations of one file, and of losses derived from gaps in one series.
const STATIONS: usize = 1000;
const LOSSES: u64 = 100_000;
/// Longest plausible round trip and sampling interval, in seconds.
const MAX_PING: f64 = 600.0;
const MAX_GAP: f64 = 60.0;

/// One series during the import.
struct Series<'a> {
    name: &'a str,
    kind: SeriesKind,
    station: u16,
    workload: u16,
}

pub(super) fn build(data: &Data, file: &str) -> Result<Imported, FlentError> {
    let mut plan = plan(data);
    let mut left_out = Vec::new();
    let series = number_series(data, &mut plan, &mut left_out)?;
    let mut rows = Rows {
        data,
        zero: data.t0.map(|t0| t0 as f64 / 1e9 + data.delay),
        rows: Vec::new(),
        idle: BTreeMap::new(),
        count: Count::default(),
        interpolated: 0,
    };
    for one in &series {
        match one.kind {
            SeriesKind::Download | SeriesKind::Upload => rows.transfer(one),
            SeriesKind::Ping | SeriesKind::Http => rows.pings(one),
        }
    }
    if rows.count.accepted == 0 {
        return Err(FlentError::Empty {
            test: one_line(&data.test),
            count: rows.count,
        });
    }
    left_out.extend(rows.count.left_out());
    if data.zone_missing {
        left_out.push("the start time, which the file has in local time without its time zone".to_owned());
    }
    if rows.interpolated > 0 {
        left_out.push(format!(
            "the raw values of {} series, which the file does not have; interpolated values are used",
            rows.interpolated
        ));
    }
    let header = header(data, file, plan, left_out, methods(&series));
    check_plan(&header.plan).map_err(FlentError::Senseless)?;
    Ok(Imported {
        header,
        rows: rows.rows,
    })
}

/// Adds the stations of all series to the plan, each with a workload for each of its series.
fn number_series<'a>(
    data: &'a Data,
    plan: &mut Plan,
    left_out: &mut Vec<String>,
) -> Result<Vec<Series<'a>>, FlentError> {
    let mut stations: Vec<&str> = Vec::new();
    let mut series = Vec::new();
    let every: BTreeSet<&str> = data.raw.keys().chain(data.results.keys()).map(String::as_str).collect();
    for name in every.iter().copied() {
        let Some(kind) = series_kind(name) else {
            if !is_computed(name) && !name.contains("::") {
                left_out.push(format!("the series `{}`", one_line(name)));
            }
            continue;
        };
        let of = host(name, &data.hosts).unwrap_or(&data.local);
        let station = match stations.iter().position(|known| *known == of) {
            Some(place) => place,
            None if stations.len() == STATIONS => {
                return Err(FlentError::Senseless(format!("more than {STATIONS} hosts")));
            }
            None => {
                stations.push(of);
                stations.len() - 1
            }
        };
        series.push((name, kind, station));
    }
    if series.is_empty() {
        return Err(no_series(data, &every));
    }
    // Hosts in the file's order, then the one that ran flent.
    let place = |of: &str| data.hosts.iter().position(|host| host == of).unwrap_or(usize::MAX);
    let mut order: Vec<usize> = (0..stations.len()).collect();
    order.sort_by_key(|station| (place(stations[*station]), *station));
    let mut taken = BTreeSet::new();
    plan.stations = order
        .iter()
        .map(|at| Station::new(&station_name(stations[*at], &mut taken)))
        .collect();
    let number = |(name, kind, station)| {
        let place = order.iter().position(|at| *at == station).unwrap_or_default();
        Series {
            name,
            kind,
            station: place as u16,
            workload: add_workload(&mut plan.stations[place], workload(kind)),
        }
    };
    Ok(series.into_iter().map(number).collect())
}

/// Adds a workload to a station, and returns its number. A station with the same workload twice has two names for it.
fn add_workload(station: &mut Station, mut workload: StationWorkload) -> u16 {
    let workloads = &mut station.workloads;
    let before = workloads
        .iter()
        .filter(|w| w.config.kind() == workload.config.kind())
        .count();
    if before > 0 {
        workload.name = format!("{}-{}", workload.name, before + 1);
    }
    workloads.push(workload);
    (workloads.len() - 1) as u16
}

fn no_series(data: &Data, every: &BTreeSet<&str>) -> FlentError {
    let names: Vec<String> = every
        .iter()
        .take(5)
        .map(|name| format!("`{}`", one_line(name)))
        .collect();
    FlentError::Nothing {
        test: one_line(&data.test),
        series: if names.is_empty() {
            "no series".to_owned()
        } else {
            names.join(", ")
        },
    }
}

/// The pings over ICMP. Those over UDP are like netburn's.
fn methods(series: &[Series<'_>]) -> Vec<WorkloadMethod> {
    let icmp = series
        .iter()
        .filter(|one| one.kind == SeriesKind::Ping && one.name.contains("ICMP"));
    icmp.map(|one| WorkloadMethod {
        station: one.station,
        workload: one.workload,
        method: Method::Icmp,
    })
    .collect()
}

fn header(data: &Data, file: &str, plan: Plan, left_out: Vec<String>, methods: Vec<WorkloadMethod>) -> Header {
    let source = Source {
        program: "flent".to_owned(),
        version: one_line(&data.version),
        test: one_line(&data.test),
        file: one_line(file),
        title: one_line(&data.title),
        left_out,
        methods,
    };
    Header {
        environment: Environment::Imported,
        seed: plan.seed,
        host: Host {
            name: one_line(&data.local),
            os: one_line(&data.kernel[0]),
            kernel: one_line(&data.kernel[1]),
            ..Host::default()
        },
        version: env!("CARGO_PKG_VERSION").to_owned(),
        started: data.t0.map(|t0| UnixTime(t0.saturating_add((data.delay * 1e9) as i64))),
        source: Some(source),
        plan,
    }
}

/// The plan without its stations.
fn plan(data: &Data) -> Plan {
    let named = if data.title.is_empty() { &data.test } else { &data.title };
    let name = station_name(&named.to_lowercase(), &mut BTreeSet::new());
    let millis = |seconds: f64| Duration::from_millis((seconds * 1e3).round() as u64);
    Plan {
        title: Some(one_line(named)).filter(|title| !title.is_empty()),
        duration: millis(data.length).max(Duration::from_millis(1)),
        baseline: millis(data.delay),
        ..Plan::new(&name)
    }
}

fn workload(kind: SeriesKind) -> StationWorkload {
    let (name, config) = match kind {
        SeriesKind::Download => ("download", Config::download()),
        SeriesKind::Upload => ("upload", Config::upload()),
        SeriesKind::Ping => ("probe", Config::probe()),
        SeriesKind::Http => (
            "http",
            Config {
                goals: Vec::new(),
                ..Config::browsing()
            },
        ),
    };
    StationWorkload::new(name, config)
}

struct Rows<'a> {
    data: &'a Data,
    /// Time 0 of the run in seconds since 1970, if the file has a start time.
    zero: Option<f64>,
    rows: Vec<Row>,
    /// Number of idle probes so far, by station.
    idle: BTreeMap<u16, u64>,
    count: Count,
    interpolated: u64,
}

/// Number of values that were imported, and of those that were not.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Count {
    accepted: u64,
    /// Before the run, idle period included.
    before: u64,
    /// After the end of the load.
    after: u64,
    /// Negative, infinite, or larger than any measurement.
    implausible: u64,
}

impl Count {
    fn left_out(self) -> impl Iterator<Item = String> {
        let kinds = [
            (self.before, "before the start of the run"),
            (self.after, "after the end of the load"),
            (self.implausible, "outside the plausible range"),
        ];
        let some = kinds.into_iter().filter(|(count, _)| *count > 0);
        some.map(|(count, what)| match count {
            1 => format!("1 value {what}"),
            count => format!("{count} values {what}"),
        })
    }
}

impl std::fmt::Display for Count {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let texts: Vec<String> = self.left_out().collect();
        f.write_str(if texts.is_empty() { "no value" } else { "" })?;
        f.write_str(&texts.join(", "))
    }
}

/// One value with its time, in seconds of the run.
struct Value {
    at: f64,
    value: f64,
    seconds: Option<f64>,
    sequence: Option<u64>,
}

impl Rows<'_> {
    /// Values of a series; raw values if they exist.
    fn values(&mut self, name: &str) -> Vec<Value> {
        if let (Some(zero), Some(points)) = (self.zero, self.data.raw.get(name)) {
            let sound = |point: &Point| {
                Some(Value {
                    at: point.t.0? - zero,
                    value: point.val.0?,
                    seconds: point.dur.0,
                    sequence: point.seq.0.filter(|seq| *seq >= 0.0).map(|seq| seq as u64),
                })
            };
            let values: Vec<Value> = points.iter().filter_map(sound).collect();
            if !values.is_empty() {
                return self.within(values);
            }
        }
        let Some(results) = self.data.results.get(name) else {
            return Vec::new();
        };
        self.interpolated += 1;
        let values = self.data.x_values.iter().zip(results).filter_map(|(x, value)| {
            Some(Value {
                at: x - self.data.delay,
                value: (*value)?,
                seconds: Some(self.data.step),
                sequence: None,
            })
        });
        let values = values.collect();
        self.within(values)
    }

    /// Plausible values before or during the load.
    fn within(&mut self, values: Vec<Value>) -> Vec<Value> {
        let (from, to) = (-self.data.delay - MAX_GAP, self.data.length);
        let mut accepted = Vec::with_capacity(values.len());
        for value in values {
            // Only the caller knows whether the value is a round trip, which began earlier.
            let after = value.seconds.is_some_and(|seconds| value.at - seconds >= to);
            if !(value.value >= 0.0 && value.value.is_finite() && value.at.is_finite()) {
                self.count.implausible += 1;
            } else if value.at < from {
                self.count.before += 1;
            } else if after {
                self.count.after += 1;
            } else {
                accepted.push(value);
            }
        }
        accepted
    }

    /// Converts Mbit/s over intervals that end at their instants to bytes in tenths of a second.
    fn transfer(&mut self, of: &Series<'_>) {
        let mut transfer = Transfer::default();
        for value in self.values(of.name) {
            let seconds = value.seconds.unwrap_or(self.data.step);
            if !(seconds > 0.0 && seconds <= MAX_GAP && value.value <= 1e7) {
                self.count.implausible += 1;
                continue;
            }
            self.count.accepted += 1;
            transfer.add(value.at - seconds, value.at, value.value * 1e6 / 8.0 * seconds);
        }
        let down = of.kind == SeriesKind::Download;
        self.rows.extend(transfer.rows(of.station, of.workload, down));
    }

    /// Round trips that ended at their instants, in ms.
    fn pings(&mut self, of: &Series<'_>) {
        let values = self.values(of.name);
        let mut before: Option<(u64, f64)> = None;
        let (mut number, mut losses) = (0, 0);
        for value in values {
            let took = value.value / 1e3;
            if took > MAX_PING {
                self.count.implausible += 1;
                continue;
            }
            // Seconds since 1970 are accurate to less than a microsecond.
            let due = ((value.at - took) * 1e6).round() / 1e6;
            if due >= self.data.length {
                self.count.after += 1;
                continue;
            }
            if due < 0.0 && of.kind == SeriesKind::Http {
                self.count.before += 1;
                continue;
            }
            self.count.accepted += 1;
            let gap = |(last, at): (u64, f64)| Some((value.sequence?.checked_sub(last)?.checked_sub(1)?, at));
            if let Some((missing, at)) = before.and_then(gap)
                && missing <= LOSSES - losses
            {
                losses += missing;
                for lost in 1..=missing {
                    let at = at + (due - at) * lost as f64 / (missing + 1) as f64;
                    self.ping(of, &mut number, at, None);
                }
            }
            if let Some(sequence) = value.sequence
                && before.is_none_or(|(last, _)| sequence > last)
            {
                before = Some((sequence, due));
            }
            self.ping(of, &mut number, due, Some(took));
        }
    }

    /// One ping: before the load it is an idle probe.
    fn ping(&mut self, of: &Series<'_>, number: &mut u64, due: f64, took: Option<f64>) {
        let idle = due < 0.0;
        let number = if idle {
            self.idle.entry(of.station).or_default()
        } else {
            number
        };
        let workload = if idle { BASELINE } else { of.workload };
        let nanos = |seconds: f64| (seconds * 1e9).round() as i64;
        let due_at = Instant::from_nanos(nanos(due));
        let finished = took.map(|took| Instant::from_nanos(due_at.as_nanos() + nanos(took)));
        let outcome = if finished.is_some() {
            Outcome::Finished
        } else {
            Outcome::TimedOut
        };
        let operation = operation(*number, due_at, finished, outcome, 0);
        *number += 1;
        self.put(of.station, workload, operation);
    }

    fn put(&mut self, station: u16, workload: u16, operation: Operation) {
        self.rows.push(Row::Operation(OperationRow {
            station,
            workload,
            operation,
        }));
    }
}
