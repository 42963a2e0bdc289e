//! A summary's values as OpenMetrics text (the OpenMetrics specification, 1.0), for Prometheus and
//! Grafana.
//!
//! Every series has the labels `scenario` and `environment`; series of a station have `station`,
//! those of a workload `workload`. Samples have no timestamp, as node_exporter's textfile collector
//! and a push gateway require. Unknown values are omitted. `docs/grafana/netburn.json` is a
//! dashboard for them.

pub mod live;

use super::Error;
use netburn_record::Run;
use netburn_record::metrics::{Gauge, Measured, Unit, of_run, of_station, of_workload};
use netburn_record::summary::{LatencyMs, StationSummary, Summary, WorkloadSummary, verdict_name};
use netburn_record::utc::UnixTime;
use netburn_workload::Verdict;
use std::fmt::Write as _;
use std::io::Write;

/// Writes the text.
///
/// # Errors
/// When `to` can't be written.
pub fn write(run: &Run, to: &mut dyn Write) -> Result<(), Error> {
    let header = run.header();
    to.write_all(text(run.summary(), &header.version, header.started).as_bytes())?;
    Ok(to.flush()?)
}

/// A summary as the text. `version` is that of the netburn that measured.
#[must_use]
pub fn text(summary: &Summary, version: &str, started: Option<UnixTime>) -> String {
    let mut page = Page {
        text: String::new(),
        common: vec![
            ("scenario", summary.scenario.clone()),
            ("environment", summary.environment.name().to_owned()),
        ],
    };
    let whole = Labels::default();
    let seed = summary.seed.to_string();
    page.family("netburn_run", "info", "The run of these metrics.", |page| {
        let of = whole
            .and("run", &summary.run)
            .and("seed", &seed)
            .and("version", version);
        page.sample("_info", &of, Some(1.0));
    });
    page.gauge(
        "netburn_run_duration_seconds",
        "Planned duration of the load.",
        |page| {
            page.sample("", &whole, Some(summary.duration_s));
        },
    );
    page.gauge(
        "netburn_run_started_timestamp_seconds",
        "Start time of the run, since 1970.",
        |page| {
            page.sample("", &whole, started.map(|at| at.0 as f64 / 1e9));
        },
    );
    page.gauge("netburn_self_check_ok", "Whether the self-check passed.", |page| {
        page.sample("", &whole, Some(f64::from(u8::from(summary.self_check.ok))));
    });
    page.states(
        "netburn_run_verdict",
        "The run's verdict.",
        [(whole.clone(), summary.verdict)],
    );
    page.gauges(&[(whole, of_run(summary))]);
    stations(&mut page, &summary.stations);
    workloads(&mut page, &summary.stations);
    page.text.push_str("# EOF\n");
    page.text
}

fn stations(page: &mut Page, stations: &[StationSummary]) {
    let of = |station: &StationSummary| Labels::default().and("station", &station.name);
    page.states(
        "netburn_station_verdict",
        "A station's verdict.",
        stations.iter().map(|station| (of(station), station.verdict)),
    );
    let measured = stations.iter().map(|station| (of(station), of_station(station)));
    page.gauges(&measured.collect::<Vec<_>>());
}

fn workloads(page: &mut Page, stations: &[StationSummary]) {
    let all: Vec<(Labels, &WorkloadSummary)> = stations
        .iter()
        .flat_map(|station| {
            station.workloads.iter().map(|workload| {
                let of = Labels::default()
                    .and("station", &station.name)
                    .and("workload", &workload.name);
                (of, workload)
            })
        })
        .collect();
    page.states(
        "netburn_workload_verdict",
        "A workload's verdict, as measured.",
        all.iter().map(|(of, workload)| (of.clone(), workload.verdict)),
    );
    page.family(
        "netburn_operation_latency_seconds",
        "summary",
        "From the due time of an operation to its end.",
        |page| {
            for (of, workload) in &all {
                page.quantiles(of, &workload.latency_ms);
            }
        },
    );
    page.family("netburn_operations", "counter", "Operations by outcome.", |page| {
        for (of, workload) in &all {
            let finished = workload.latency_ms.count - workload.latency_ms.unbounded.min(workload.latency_ms.count);
            for (outcome, count) in [
                ("finished", finished),
                ("failed", workload.failures),
                ("not_started", workload.not_started),
                ("unfinished", workload.unfinished),
            ] {
                page.sample("_total", &of.and("outcome", outcome), Some(count as f64));
            }
        }
    });
    let mut measured: Vec<(Labels, Vec<Measured>)> = Vec::new();
    for (of, workload) in &all {
        let (goals, others): (Vec<Measured>, Vec<Measured>) = of_workload(workload)
            .into_iter()
            .partition(|measured| measured.goal.is_some());
        measured.push((of.clone(), others));
        for goal in goals {
            let number = goal.goal.unwrap_or_default();
            let text = workload.goals.get(number).map_or("", |goal| goal.goal.as_str());
            measured.push((of.and("goal", text), vec![goal]));
        }
    }
    page.gauges(&measured);
}

/// A value in seconds and bits per second.
fn in_base_unit(value: f64, unit: Unit) -> f64 {
    match unit {
        Unit::Ms => value / 1e3,
        Unit::Mbps => (value * 1e6).round(),
        Unit::Share | Unit::Count | Unit::Points | Unit::Rpm | Unit::Verdict => value,
    }
}

/// Labels beyond those that every series has.
#[derive(Debug, Clone, Default)]
struct Labels(Vec<(&'static str, String)>);

impl Labels {
    fn and(&self, name: &'static str, value: &str) -> Labels {
        let mut labels = self.clone();
        labels.0.push((name, value.to_owned()));
        labels
    }
}

/// A value of a family, with its labels.
type Sample = (Labels, Option<f64>);

struct Page {
    text: String,
    common: Vec<(&'static str, String)>,
}

/// The family that samples are of, while they are written.
struct Family<'a> {
    page: &'a mut Page,
    name: &'static str,
}

impl Page {
    /// Writes a family of samples. A family without samples is left out. A name ends with its unit.
    fn family(&mut self, name: &'static str, kind: &str, help: &str, samples: impl FnOnce(&mut Family<'_>)) {
        let before = self.text.len();
        let _ = writeln!(self.text, "# TYPE {name} {kind}");
        let units = ["seconds", "ratio", "bits_per_second"];
        if let Some(unit) = units.iter().find(|unit| name.ends_with(&format!("_{unit}"))) {
            let _ = writeln!(self.text, "# UNIT {name} {unit}");
        }
        let _ = writeln!(self.text, "# HELP {name} {}", escaped(help));
        let bare = self.text.len();
        samples(&mut Family { page: self, name });
        if self.text.len() == bare {
            self.text.truncate(before);
        }
    }

    fn gauge(&mut self, name: &'static str, help: &str, samples: impl FnOnce(&mut Family<'_>)) {
        self.family(name, "gauge", help, samples);
    }

    /// The families of metrics in the order of the catalogue, each with the series of all labels.
    fn gauges(&mut self, all: &[(Labels, Vec<Measured>)]) {
        let measured = all
            .iter()
            .flat_map(|(of, measured)| measured.iter().map(move |one| (of, one)));
        let mut families: Vec<(Gauge, Vec<Sample>)> = Vec::new();
        for (of, measured) in measured {
            let Some(gauge) = measured.quantity.gauge else { continue };
            let of = gauge
                .direction
                .map_or_else(|| of.clone(), |direction| of.and("direction", direction));
            let value = measured.value.filter(|value| value.is_finite());
            let sample = (of, value.map(|value| in_base_unit(value, measured.quantity.unit)));
            match families.iter_mut().find(|(known, _)| known.name == gauge.name) {
                Some((_, samples)) => samples.push(sample),
                None => families.push((gauge, vec![sample])),
            }
        }
        for (Gauge { name, help, .. }, samples) in families {
            self.gauge(name, help, |family| {
                for (of, value) in samples {
                    family.sample("", &of, value);
                }
            });
        }
    }

    /// One series for each possible verdict; the actual one is 1.
    fn states(&mut self, name: &'static str, help: &str, verdicts: impl IntoIterator<Item = (Labels, Verdict)>) {
        self.family(name, "stateset", help, |family| {
            for (of, verdict) in verdicts {
                for state in Verdict::ALL {
                    let holds = f64::from(u8::from(state == verdict));
                    family.sample("", &of.and(name, verdict_name(state)), Some(holds));
                }
            }
        });
    }
}

impl Family<'_> {
    fn sample(&mut self, suffix: &str, of: &Labels, value: Option<f64>) {
        let Some(value) = value.filter(|value| value.is_finite()) else {
            return;
        };
        let labels = self.page.common.iter().chain(&of.0);
        let labels: Vec<String> = labels
            .map(|(name, value)| format!("{name}=\"{}\"", escaped(value)))
            .collect();
        let _ = writeln!(self.page.text, "{}{suffix}{{{}}} {value}", self.name, labels.join(","));
    }

    fn quantiles(&mut self, of: &Labels, latency: &LatencyMs) {
        for (quantile, value) in [
            ("0.5", latency.p50),
            ("0.75", latency.p75),
            ("0.9", latency.p90),
            ("0.95", latency.p95),
            ("0.99", latency.p99),
        ] {
            self.sample("", &of.and("quantile", quantile), value.map(|ms| ms / 1e3));
        }
        self.sample("_count", of, Some(latency.count as f64));
    }
}

/// A label's value or a help text, with the escapes of the format.
fn escaped(text: &str) -> String {
    text.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hostile_text_stays_one_label() {
        assert_eq!(escaped("a\"} 1\n\\"), r#"a\"} 1\n\\"#);
    }
}
