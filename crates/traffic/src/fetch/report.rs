//! What a fetch came to.

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

/// The schema of [`Report::json`].
pub const SCHEMA: &str = "netburn.fetch/1";

/// The result. A page is as many copies of the URL as are fetched at once.
#[derive(Debug, Clone)]
pub struct Report {
    /// The URL that was fetched, after redirects.
    pub url: String,
    /// The address that was spoken to.
    pub address: String,
    /// Who agreed to it.
    pub permission: Permission,
    /// Copies fetched at once.
    pub concurrency: u32,
    /// The jitter asked for.
    pub jitter: Duration,
    /// From the beginning to the end of the last page.
    pub elapsed: Duration,
    /// Pages that count: finished, failed, timed out, not started, unfinished.
    pub pages: u64,
    /// Those that finished.
    pub finished: u64,
    /// Those that didn't, by why.
    pub broken: BTreeMap<&'static str, u64>,
    /// Bytes of content moved, unfinished pages included.
    pub bytes: u64,
    /// Mean size of finished pages in bytes; `None` without any.
    pub page_mean: Option<f64>,
    /// Standard deviation of their sizes in bytes.
    pub page_deviation: Option<f64>,
    /// Latencies in nanoseconds, from when a page was due; pages that never finished have no upper bound.
    pub latency: Distribution,
    /// Mean latency of finished pages in ms.
    pub latency_mean_ms: Option<f64>,
    /// Median idle latency in ms, where there were enough answers.
    pub idle_ms: Option<f64>,
    /// What should be known about the figures.
    pub notes: Vec<String>,
    /// What the driver says of itself.
    pub drive: DriveReport,
}

/// Collects rows.
#[derive(Debug, Default)]
pub struct Tally {
    latencies: Vec<u64>,
    sizes: Vec<u64>,
    broken: BTreeMap<&'static str, u64>,
    idle: Vec<u64>,
    idle_broken: u64,
    notes: Vec<String>,
}

impl Tally {
    /// Takes a row of the load.
    pub fn put(&mut self, row: &Row) {
        let Row::Operation(row) = row else { return };
        let operation = &row.operation;
        if let Some(latency) = operation.latency() {
            self.latencies.push(latency.as_nanos());
            self.sizes.push(operation.bytes);
        } else if let Some(why) = why(operation.outcome) {
            *self.broken.entry(why).or_default() += 1;
        }
    }

    /// Takes a row of the time before the load.
    pub fn put_idle(&mut self, row: &Row) {
        match row {
            Row::Operation(row) => match row.operation.latency() {
                Some(latency) => self.idle.push(latency.as_nanos()),
                None => self.idle_broken += u64::from(why(row.operation.outcome).is_some()),
            },
            Row::Event(event) => self.notes.push(event.text.clone()),
            _ => {}
        }
    }

    /// The result.
    #[must_use]
    pub fn report(mut self, options: &Options, site: &Site, elapsed: Duration, drive: DriveReport) -> Report {
        let finished = self.latencies.len() as u64;
        let unbounded: u64 = self.broken.values().sum();
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
        let idle = Distribution::from_slice(&mut self.idle, self.idle_broken, &[P50]);
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
            broken: self.broken,
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
    /// Mean throughput in Mbit/s.
    #[must_use]
    pub fn throughput_mbps(&self) -> f64 {
        match self.elapsed.is_zero() {
            true => 0.0,
            false => self.bytes as f64 * 8e-6 / self.elapsed.as_secs_f64(),
        }
    }

    /// Finished pages in percent of all; `None` without any.
    #[must_use]
    pub fn percent_ok(&self) -> Option<f64> {
        (self.pages > 0).then(|| self.finished as f64 * 100.0 / self.pages as f64)
    }

    /// A percentile of latency in ms, where the pages support it and it falls among those that finished.
    #[must_use]
    pub fn latency_ms(&self, level: Probability) -> Option<f64> {
        let found = self.latency.percentiles().iter().find(|(l, _)| *l == level);
        found.and_then(|(_, percentile)| percentile.value()).map(millis)
    }

    /// As one JSON object. A percentile that the count doesn't support is `null`.
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
            "consent": match &self.permission {
                Permission::ThisMachine => json!("this machine"),
                Permission::Consents { by } => json!({ "by": by }),
                Permission::Unknown => json!("not given by the server"),
            },
            "elapsed_s": self.elapsed.as_secs_f64(),
            "concurrency": self.concurrency,
            "jitter_ms": self.jitter.as_millis_f64(),
            "pages": self.pages,
            "finished": self.finished,
            "broken": self.broken,
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

    /// As a few lines for people.
    #[must_use]
    pub fn text(&self) -> String {
        let mut out = String::new();
        let ms = |value: Option<f64>| value.map_or("-".to_owned(), |ms| format!("{ms:.2}"));
        let _ = writeln!(out, "{} at {}, {} at once", self.url, self.address, self.concurrency);
        let broken: Vec<String> = self
            .broken
            .iter()
            .map(|(why, count)| format!("{count} {why}"))
            .collect();
        let broken = if broken.is_empty() {
            String::new()
        } else {
            format!(" ({})", broken.join(", "))
        };
        let _ = writeln!(
            out,
            "pages      {} of {} finished{broken} in {:.2} s",
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
        let mut figures = vec![format!("min {}", ms(self.latency.min.map(millis)))];
        for (level, percentile) in self.latency.percentiles() {
            let figure = match percentile {
                Percentile::Value(nanos) => format!("{:.2}", millis(*nanos)),
                Percentile::Unbounded => "never".to_owned(),
                Percentile::Unsupported => "-".to_owned(),
            };
            figures.push(format!("{} {figure}", name(*level)));
        }
        figures.push(format!("max {}", ms(self.latency.max.map(millis))));
        let _ = writeln!(out, "latency    {} ms", figures.join("  "));
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

/// `p99`, `p99.9`.
fn name(level: Probability) -> String {
    format!("p{}", level.to_string().trim_end_matches(" %"))
}
