//! The JSON document with flent's keys.

mod call;
mod rrul;

use super::Test;
use super::series::{Ping, Series};
use crate::export::DATELESS;
use netburn_record::Run;
use netburn_units::Duration;
use netburn_workload::Direction;
use rrul::Naming;
use serde::Serialize;
use serde_json::json;
use std::collections::BTreeMap;

/// The version of the format.
const VERSION: u32 = 4;

/// A data file.
#[derive(Debug, Serialize)]
pub(super) struct Document {
    version: u32,
    metadata: serde_json::Value,
    x_values: Vec<f64>,
    results: BTreeMap<String, Vec<Option<f64>>>,
    raw_values: BTreeMap<String, Vec<Point>>,
    #[serde(skip)]
    name: String,
}

/// A measurement.
#[derive(Debug, Clone, Copy, Default, Serialize)]
struct Point {
    /// In seconds since 1970.
    t: f64,
    /// `None` for a lost packet.
    #[serde(skip_serializing_if = "Option::is_none")]
    val: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    dur: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    seq: Option<u64>,
    /// One-way delay of a packet of a call in ms, as `val`.
    #[serde(skip_serializing_if = "Option::is_none")]
    owd_up: Option<f64>,
    /// True for a lost packet of a call.
    #[serde(skip_serializing_if = "Option::is_none")]
    lost: Option<bool>,
}

impl Document {
    pub(super) fn file_name(&self) -> String {
        self.name.clone()
    }
}

/// One run as the document of a flent test. `number` is the run's number if it is one of several.
pub(super) fn document(run: &Run, test: Test, of: &Series, number: Option<u32>) -> Document {
    let plan = &run.header().plan;
    let started = run.header().started.unwrap_or(DATELESS);
    let time = started.rfc3339_micros();
    let mut title = plan.title.clone().unwrap_or_else(|| plan.name.clone());
    if let Some(number) = number {
        title = format!("{title} ({number})");
    }
    let total = of.length + of.delay * 2;
    let steps = total.as_nanos() / of.step.as_nanos();
    let mut page = Page {
        of,
        zero: started.0,
        x_values: (0..=steps).map(|step| seconds(of.step * step)).collect(),
        results: BTreeMap::new(),
        raw_values: BTreeMap::new(),
        units: serde_json::Map::new(),
    };
    let names: Vec<&str> = plan.stations.iter().map(|station| station.name.as_str()).collect();
    let parameters = match test {
        Test::FairDown | Test::Fair => page.fair(test == Test::Fair, &names),
        Test::Downloads => page.transfers(Direction::Down, &names),
        Test::Uploads => page.transfers(Direction::Up, &names),
        Test::Rrul => page.rrul(&plan.stations, Naming::Mark),
        Test::RrulBe => page.rrul(&plan.stations, Naming::Order),
        Test::Voip => {
            page.call(&mut json!({}));
            json!({})
        }
    };
    let name = format!("{}-{}.{}.flent.gz", test.name(), time.replace(':', ""), fit(&title));
    let local = match run.header().host.name.as_str() {
        "" => "netburn",
        name => name,
    };
    let metadata = json!({
        "NAME": test.name(),
        "TITLE": title,
        "TIME": time,
        "T0": time,
        "HOST": "server",
        "HOSTS": names,
        "LOCAL_HOST": local,
        "LENGTH": seconds(of.length),
        "TOTAL_LENGTH": seconds(total),
        "DELAY": seconds(of.delay),
        "STEP_SIZE": seconds(of.step),
        "TEST_PARAMETERS": parameters,
        "SERIES_META": page.units,
        "NOTE": note(run, test, of),
        "DATA_FILENAME": name,
        "NETBURN": {
            "version": run.header().version,
            "scenario": plan.name,
            "environment": run.header().environment.name(),
            "seed": run.header().seed.0,
        },
    });
    Document {
        version: VERSION,
        metadata,
        x_values: page.x_values,
        results: page.results,
        raw_values: page.raw_values,
        name,
    }
}

/// Information that the names of the series do not contain.
fn note(run: &Run, test: Test, of: &Series) -> String {
    let header = run.header();
    let mut note = format!("netburn {}, environment {}", header.version, header.environment);
    if matches!(test, Test::Rrul | Test::RrulBe) {
        note.push_str("; pings before the load: idle probes with DSCP 0");
    }
    if let Some(call) = of
        .call
        .as_ref()
        .filter(|_| !matches!(test, Test::Fair | Test::FairDown))
    {
        note.push_str(&format!("; VoIP: packets up of {} of {}", call.workload, call.station));
    }
    let by_station = !matches!(test, Test::Rrul | Test::RrulBe | Test::Voip);
    for (station, series) in header.plan.stations.iter().zip(&of.stations).filter(|_| by_station) {
        let what = match &series.of {
            Some(workload) => format!("latency of its {workload}"),
            None => "none".to_owned(),
        };
        note.push_str(&format!("; ping of {}: {what}", station.name));
    }
    if header.started.is_none() {
        note.push_str("; simulated time, without a date");
    }
    note
}

struct Page<'a> {
    of: &'a Series,
    /// The beginning of the file, in ns since 1970.
    zero: i64,
    x_values: Vec<f64>,
    results: BTreeMap<String, Vec<Option<f64>>>,
    raw_values: BTreeMap<String, Vec<Point>>,
    units: serde_json::Map<String, serde_json::Value>,
}

impl Page<'_> {
    /// Adds a download of every station, a ping of each station with a probe or a call, and with
    /// `uploads` an upload.
    fn fair(&mut self, uploads: bool, names: &[&str]) -> serde_json::Value {
        for (name, station) in names.iter().zip(&self.of.stations) {
            self.rates(format!("TCP download BE {name}"), &station.down);
            if uploads {
                self.rates(format!("TCP upload BE {name}"), &station.up);
            }
            if station.of.is_some() {
                self.pings(format!("Ping (ms) ICMP {name}"), &station.pings);
            }
        }
        json!({})
    }

    /// Adds a stream for each station that received content, or sent it, with their sum, mean and fairness.
    fn transfers(&mut self, direction: Direction, names: &[&str]) -> serde_json::Value {
        let (prefix, parameter) = match direction {
            Direction::Down => ("TCP download", "download_streams"),
            Direction::Up => ("TCP upload", "upload_streams"),
        };
        let all = names.iter().zip(&self.of.stations);
        let mut streams = Vec::new();
        for (_, station) in all.clone() {
            let bins = match direction {
                Direction::Down => &station.down,
                Direction::Up => &station.up,
            };
            if bins.iter().flatten().any(|bytes| *bytes > 0) {
                let name = format!("{prefix}::{}", streams.len() + 1);
                self.rates(name.clone(), bins);
                streams.push(name);
            }
        }
        self.computed(&format!("{prefix} sum"), "Mbits/s", &streams, sum);
        self.computed(&format!("{prefix} avg"), "Mbits/s", &streams, mean);
        self.computed(&format!("{prefix} fairness"), "Idx", &streams, fairness);
        let pinged: Vec<_> = all.filter(|(_, station)| !station.pings.is_empty()).collect();
        let numberless = |ping: &Ping| Ping {
            sequence: None,
            ..*ping
        };
        let mut together: Vec<Ping> = pinged
            .iter()
            .flat_map(|(_, s)| s.pings.iter().map(numberless))
            .collect();
        together.sort_unstable();
        self.pings("Ping (ms) ICMP".to_owned(), &together);
        for (name, station) in &pinged {
            self.pings(format!("Ping (ms) ICMP {name} (extra)"), &station.pings);
        }
        let hosts: Vec<&str> = pinged.iter().map(|(name, _)| **name).collect();
        let mut parameters = json!({ parameter: streams.len().to_string(), "ping_hosts": hosts.join(",") });
        if !self.of.pages.is_empty() {
            parameters["include_http"] = json!("1");
            self.pings("HTTP latency".to_owned(), &self.of.pages);
        }
        self.call(&mut parameters);
        parameters
    }

    /// Throughput per step, in Mbit/s.
    fn rates(&mut self, name: String, bins: &[Option<u64>]) {
        let step = seconds(self.of.step);
        let first = (self.of.delay.as_nanos() / self.of.step.as_nanos()) as usize;
        let mut results = vec![None; self.x_values.len()];
        let mut raw = Vec::new();
        for (bytes, place) in bins.iter().zip(0_u64..) {
            let Some(bytes) = bytes else { continue };
            let rate = rounded(*bytes as f64 * 8.0 / step / 1e6);
            if let Some(at) = results.get_mut(first + place as usize) {
                *at = Some(rate);
            }
            let end = self.of.step * (place + 1);
            raw.push(Point {
                t: self.unix(end.as_nanos() as i64),
                val: Some(rate),
                dur: Some(step),
                ..Point::default()
            });
        }
        self.put(name, "Mbits/s", results, raw);
    }

    /// Round trips, and their means in steps.
    fn pings(&mut self, name: String, pings: &[Ping]) {
        let mut sums = vec![(0.0, 0_u32); self.x_values.len()];
        let mut raw = Vec::with_capacity(pings.len());
        let delay = self.of.delay.as_nanos() as i64;
        for ping in pings {
            let ms = ping.nanos as f64 / 1e6;
            let place = usize::try_from(ping.at.saturating_add(delay) / self.of.step.as_nanos() as i64);
            if let Some((sum, count)) = place.ok().and_then(|place| sums.get_mut(place)) {
                *sum += ms;
                *count += 1;
            }
            raw.push(Point {
                t: self.unix(ping.at),
                val: Some(ms),
                seq: ping.sequence,
                ..Point::default()
            });
        }
        let mean = |(sum, count): (f64, u32)| (count > 0).then(|| rounded(sum / f64::from(count)));
        self.put(name, "ms", sums.into_iter().map(mean).collect(), raw);
    }

    /// Adds a series that is computed for each step from other ones, which have a value there.
    fn computed(&mut self, name: &str, units: &str, of: &[String], compute: fn(&[f64]) -> f64) {
        let series: Vec<_> = of.iter().filter_map(|name| self.results.get(name)).collect();
        let step = |place: usize| {
            let values: Vec<f64> = series.iter().filter_map(|values| values[place]).collect();
            (!values.is_empty()).then(|| rounded(compute(&values)))
        };
        let results = (0..self.x_values.len()).map(step).collect();
        self.put(name.to_owned(), units, results, Vec::new());
    }

    fn put(&mut self, name: String, units: &str, results: Vec<Option<f64>>, raw: Vec<Point>) {
        self.units.insert(name.clone(), json!({ "UNITS": units }));
        self.results.insert(name.clone(), results);
        self.raw_values.insert(name, raw);
    }

    /// An instant of the run, in seconds since 1970.
    fn unix(&self, at: i64) -> f64 {
        let nanos = i128::from(self.zero) + i128::from(self.of.delay.as_nanos()) + i128::from(at);
        (nanos as f64 / 1e3).round() / 1e6
    }
}

fn sum(values: &[f64]) -> f64 {
    values.iter().sum()
}

fn mean(values: &[f64]) -> f64 {
    sum(values) / values.len() as f64
}

/// Jain's index (Jain, Chiu and Hawe, 1984); 1 if all values are 0.
fn fairness(values: &[f64]) -> f64 {
    let squares: f64 = values.iter().map(|value| value * value).sum();
    let total = sum(values);
    if squares > 0.0 {
        total * total / (values.len() as f64 * squares)
    } else {
        1.0
    }
}

fn seconds(span: Duration) -> f64 {
    (span.as_secs_f64() * 1e6).round() / 1e6
}

/// Rounds to 1 bit/s, or 1 ns.
fn rounded(value: f64) -> f64 {
    (value * 1e6).round() / 1e6
}

/// A title in the form that flent uses in file names.
fn fit(title: &str) -> String {
    let fit = |c: char| if c.is_ascii_alphanumeric() || c == '-' { c } else { '_' };
    title.chars().take(80).map(fit).collect()
}
