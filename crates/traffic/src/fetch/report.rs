//! Result of a fetch.

use super::{Options, Permission, Site};
use crate::drive::DriveReport;
use netburn_record::Row;
use netburn_stats::percentile::{P50, STANDARD};
use netburn_stats::{Distribution, Percentile};
use netburn_units::{Duration, Probability};
use netburn_workload::{Failure, Outcome};
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;
use std::fmt::Write;

/// Schema of [`Report::json`].
pub const SCHEMA: &str = "netburn.fetch/1";

/// Result of a fetch. A page consists of all copies of the URL that are fetched in parallel.
#[derive(Debug, Clone)]
pub struct Report {
    /// Fetched URL, after redirects.
    pub url: String,
    /// Address of the server.
    pub address: String,
    /// Permission for the load test.
    pub permission: Permission,
    /// Copies fetched in parallel.
    pub concurrency: u32,
    /// Configured jitter.
    pub jitter: Duration,
    /// Time from the start to the end of the last page.
    pub elapsed: Duration,
    /// Pages that count: finished, failed, timed out, not started, unfinished.
    pub pages: u64,
    /// Finished pages.
    pub finished: u64,
    /// Other pages, by reason.
    pub failures: BTreeMap<&'static str, u64>,
    /// Bytes of content moved, including unfinished pages.
    pub bytes: u64,
    /// Mean size of finished pages in bytes; `None` without any.
    pub page_mean: Option<f64>,
    /// Standard deviation of their sizes in bytes.
    pub page_deviation: Option<f64>,
    /// Latencies in nanoseconds from the due time. Pages that never finished have no upper bound.
    pub latency: Distribution,
    /// Mean latency of finished pages in ms.
    pub latency_mean_ms: Option<f64>,
    /// Median idle latency in ms, with enough samples.
    pub idle_ms: Option<f64>,
    /// Notes on the results.
    pub notes: Vec<String>,
    /// Statistics of the driver.
    pub drive: DriveReport,
}

/// Collects rows.
#[derive(Debug, Default)]
pub struct Tally {
    latencies: Vec<u64>,
    sizes: Vec<u64>,
    failures: BTreeMap<&'static str, u64>,
    idle: Vec<u64>,
    idle_failures: u64,
    notes: Vec<String>,
}

impl Tally {
    /// Adds a row of the load.
    pub fn put(&mut self, row: &Row) {
        let Row::Operation(row) = row else { return };
        let operation = &row.operation;
        if let Some(latency) = operation.latency() {
            self.latencies.push(latency.as_nanos());
            self.sizes.push(operation.bytes);
        } else if let Some(why) = why(operation.outcome) {
            *self.failures.entry(why).or_default() += 1;
        }
    }

    /// Adds a row of the baseline.
    pub fn put_idle(&mut self, row: &Row) {
        match row {
            Row::Operation(row) => match row.operation.latency() {
                Some(latency) => self.idle.push(latency.as_nanos()),
                None => self.idle_failures += u64::from(why(row.operation.outcome).is_some()),
            },
            Row::Event(event) => self.notes.push(event.detail.text().into_owned()),
            _ => {}
        }
    }

    /// Computes the result.
    #[must_use]
    pub fn report(mut self, options: &Options, site: &Site, elapsed: Duration, drive: DriveReport) -> Report {
        let finished = self.latencies.len() as u64;
        let unbounded: u64 = self.failures.values().sum();
        let mean = |values: &[u64]| match values.len() {
            0 => None,
            count => Some(values.iter().map(|v| *v as f64).sum::<f64>() / count as f64),
        };
        let page_mean = mean(&self.sizes);
        let page_deviation = page_mean.map(|mean| {
            let squares = self.sizes.iter().map(|size| (*size as f64 - mean).powi(2));
            (squares.sum::<f64>() / finished as f64).sqrt()
        });
        let latency_mean_ms = mean(&self.latencies).map(|nanos| nanos / 1e6);
        let levels = [STANDARD.as_slice(), &options.percentiles].concat();
        let idle = Distribution::from_slice(&mut self.idle, self.idle_failures, &[P50]);
        Report {
            url: site.url.to_string(),
            address: site.target.address.to_string(),
            permission: site.permission.clone(),
            concurrency: options.concurrency,
            jitter: options.jitter,
            elapsed,
            pages: finished + unbounded,
            finished,
            bytes: drive.bytes_down + drive.bytes_up,
            page_mean,
            page_deviation,
            latency: Distribution::from_slice(&mut self.latencies, unbounded, &levels),
            latency_mean_ms,
            idle_ms: idle.percentile(P50).value().map(|nanos| nanos as f64 / 1e6),
            failures: self.failures,
            notes: self.notes,
            drive,
        }
    }
}

fn why(outcome: Outcome) -> Option<&'static str> {
    match outcome {
        Outcome::Failed(Failure::Dial) => Some("could not connect"),
        Outcome::Failed(Failure::Connection) => Some("connection broke"),
        Outcome::Failed(Failure::Answer) => Some("wrong answer"),
        Outcome::Failed(Failure::Stopped) => Some("stopped"),
        Outcome::TimedOut => Some("timed out"),
        Outcome::NotStarted => Some("not_started"),
        Outcome::Unfinished => Some("unfinished"),
        Outcome::Finished | Outcome::Cut => None,
    }
}

impl Report {
    /// Returns the mean throughput in Mbit/s.
    #[must_use]
    pub fn throughput_mbps(&self) -> f64 {
        if self.elapsed.is_zero() {
            0.0
        } else {
            self.bytes as f64 * 8e-6 / self.elapsed.as_secs_f64()
        }
    }

    /// Returns the percentage of finished pages; `None` without any.
    #[must_use]
    pub fn percent_ok(&self) -> Option<f64> {
        (self.pages > 0).then(|| self.finished as f64 * 100.0 / self.pages as f64)
    }

    /// Returns a percentile of latency in ms; `None` if the sample count does not support it or it is unbounded.
    #[must_use]
    pub fn latency_ms(&self, level: Probability) -> Option<f64> {
        let found = self.latency.percentiles().iter().find(|(l, _)| *l == level);
        found.and_then(|(_, percentile)| percentile.value()).map(millis)
    }

    /// Returns the report as one JSON object. Unsupported percentiles are `null`.
    #[must_use]
    pub fn json(&self) -> Value {
        let mut latency = Map::new();
        latency.insert("count".into(), json!(self.latency.count));
        latency.insert("unbounded".into(), json!(self.latency.unbounded));
        latency.insert("min".into(), json!(self.latency.min.map(millis)));
        latency.insert("mean".into(), json!(self.latency_mean_ms));
        for (level, percentile) in self.latency.percentiles() {
            latency.insert(name(*level), json!(percentile.value().map(millis)));
        }
        latency.insert("max".into(), json!(self.latency.max.map(millis)));
        json!({
            "schema": SCHEMA,
            "url": self.url,
            "address": self.address,
            "consent": self.permission.json(),
            "elapsed_s": self.elapsed.as_secs_f64(),
            "concurrency": self.concurrency,
            "jitter_ms": self.jitter.as_millis_f64(),
            "pages": self.pages,
            "finished": self.finished,
            "failures": self.failures,
            "bytes": self.bytes,
            "page_bytes": { "mean": self.page_mean, "deviation": self.page_deviation },
            "throughput_mbps": self.throughput_mbps(),
            "latency_ms": latency,
            "idle_latency_ms": self.idle_ms,
            "lateness_us": { "p50": self.drive.lateness_us_p50, "p99": self.drive.lateness_us_p99,
                "max": self.drive.lateness_us_max },
            "cpu": self.drive.cpu,
            "notes": self.notes,
        })
    }

    /// Returns the report as a few lines of text.
    #[must_use]
    pub fn text(&self) -> String {
        let mut out = String::new();
        let ms = |value: Option<f64>| value.map_or("-".to_owned(), |ms| format!("{ms:.2}"));
        let _ = writeln!(out, "{} at {}, {} at once", self.url, self.address, self.concurrency);
        let failures: Vec<String> = self
            .failures
            .iter()
            .map(|(why, count)| format!("{count} {why}"))
            .collect();
        let failures = if failures.is_empty() {
            String::new()
        } else {
            format!(" ({})", failures.join(", "))
        };
        let _ = writeln!(
            out,
            "pages      {} of {} finished{failures} in {:.2} s",
            self.finished,
            self.pages,
            self.elapsed.as_secs_f64()
        );
        let _ = writeln!(
            out,
            "moved      {:.3} MB, {:.2} Mbit/s",
            self.bytes as f64 / 1e6,
            self.throughput_mbps()
        );
        let mut values = vec![format!("min {}", ms(self.latency.min.map(millis)))];
        for (level, percentile) in self.latency.percentiles() {
            let value = match percentile {
                Percentile::Value(nanos) => format!("{:.2}", millis(*nanos)),
                Percentile::Unbounded => "never".to_owned(),
                Percentile::Unsupported => "-".to_owned(),
            };
            values.push(format!("{} {value}", name(*level)));
        }
        values.push(format!("max {}", ms(self.latency.max.map(millis))));
        let _ = writeln!(out, "latency    {} ms", values.join("  "));
        let _ = writeln!(out, "idle       {} ms", ms(self.idle_ms));
        for note in &self.notes {
            let _ = writeln!(out, "note       {note}");
        }
        out
    }
}

fn millis(nanos: u64) -> f64 {
    nanos as f64 / 1e6
}

/// Returns the name of a percentile: `p99`, `p99.9`.
fn name(level: Probability) -> String {
    format!("p{}", level.to_string().trim_end_matches(" %"))
}
