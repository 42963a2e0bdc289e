//! Results of responsiveness tests, as text and as JSON.

use super::options::Options;
use super::site::Site;
use crate::fetch::Permission;
use netburn_stats::rpm::{Band, Rpm};
use netburn_workload::Direction;
use netburn_workload::responsiveness::{Config, Counts, End, Goodput, Interval, Scores, TestResult};
use serde_json::{Value, json};
use std::fmt::Write;

/// Schema of [`Report::json`].
pub const SCHEMA: &str = "netburn.rpm/1";
/// Share of one processor from which it limits a test.
const BUSY: f64 = 0.9;
/// Share of lost or of late probes from which a note is printed. The draft's score drops the slowest 5 %.
const MANY: f64 = 0.05;

/// Result of all tests.
#[derive(Debug, Clone)]
pub struct Report {
    /// URL of the configuration.
    pub url: String,
    /// Address of the server.
    pub address: String,
    /// Permission for the load test.
    pub permission: Permission,
    /// Parameters.
    pub config: Config,
    /// Seed.
    pub seed: u64,
    /// Results, in the order of the tests.
    pub tests: Vec<TestReport>,
}

/// Result of one test.
#[derive(Debug, Clone)]
pub struct TestReport {
    /// Directions that were loaded at the same time.
    pub directions: Vec<Direction>,
    /// Result of the state machine.
    pub result: TestResult,
    /// TLS version of the connections.
    pub tls: Option<rustls::ProtocolVersion>,
    /// Cause of the failure of a connection, which has ended the test.
    pub failure: Option<String>,
    /// Share of one processor that the client used.
    pub cpu: f64,
}

impl Report {
    pub(super) fn new(options: &Options, site: &Site, tests: Vec<TestReport>) -> Report {
        Report {
            url: site.url.to_string(),
            address: site.target.address.to_string(),
            permission: site.permission.clone(),
            config: options.config.clone(),
            seed: options.seed.0,
            tests,
        }
    }

    /// Returns whether all tests have a score.
    #[must_use]
    pub fn is_measured(&self) -> bool {
        let scored = |test: &TestReport| test.failure.is_none() && test.result.scores.draft.is_some();
        !self.tests.is_empty() && self.tests.iter().all(scored)
    }

    /// Returns the report as one JSON object. A score without enough probes is `null`.
    #[must_use]
    pub fn json(&self) -> Value {
        let config = &self.config;
        json!({
            "schema": SCHEMA,
            "url": self.url,
            "address": self.address,
            "consent": self.permission.json(),
            "parameters": {
                "mad": config.intervals.get(),
                "id_s": config.interval.as_secs_f64(),
                "sdt": config.tolerance.as_f64(),
                "tmp": config.kept.as_f64(),
                "mnp": config.connections,
                "mps": config.probes_per_second,
                "ptc": config.probe_share.as_f64(),
                "time_s": config.time.as_secs_f64(),
                "idle_s": config.idle.as_secs_f64(),
            },
            "seed": self.seed,
            "tests": self.tests.iter().map(TestReport::json).collect::<Vec<_>>(),
        })
    }

    /// Returns the report as text.
    #[must_use]
    pub fn text(&self) -> String {
        let mut out = String::new();
        let tls = self.tests.iter().find_map(|test| test.tls);
        let tls = tls.map_or(String::new(), |version| format!(", HTTP/2 over {}", tls_name(version)));
        let _ = writeln!(out, "{} at {}{tls}", self.url, self.address);
        for test in &self.tests {
            test.write(&mut out, &self.config);
        }
        out
    }
}

impl TestReport {
    /// Returns the name of the load: `download`, `upload`, or both.
    #[must_use]
    pub fn load(&self) -> String {
        load(&self.directions)
    }

    fn json(&self) -> Value {
        let result = &self.result;
        json!({
            "load": self.directions.iter().map(|direction| name(*direction)).collect::<Vec<_>>(),
            "end": end(result.end),
            "failure": self.failure,
            "stage": result.stage.name(),
            "confidence": result.confidence().name(),
            "goodput_confidence": result.goodput_confidence.name(),
            "rpm_confidence": result.score_confidence.name(),
            "rpm": scores(&result.scores),
            "idle_rpm": result.idle.as_ref().map(scores),
            "goodput": result.goodput.iter().map(|goodput| json!({
                "direction": name(goodput.direction),
                "mbps": goodput.rate.map(|rate| rate.as_mbps_f64()),
                "connections": goodput.connections,
                "stable": goodput.stable,
            })).collect::<Vec<_>>(),
            "probes": {
                "foreign": counts(result.foreign),
                "self": counts(result.own),
                "idle": counts(result.idle_counts),
                "start_delay_ms_max": result.start_delay_max.as_millis_f64(),
            },
            "load_s": result.loaded.as_secs_f64(),
            "bytes": result.bytes,
            "tls": self.tls.map(tls_name),
            "cpu": self.cpu,
            "notes": self.notes(),
        })
    }

    fn write(&self, out: &mut String, config: &Config) {
        let result = &self.result;
        let draft = result.scores.draft;
        let value = draft.map_or("no score".to_owned(), |rpm| {
            format!("{} RPM ({})", whole(rpm.score), Band::from_rpm(rpm.score).name())
        });
        let _ = writeln!(
            out,
            "\n{}: {value}, {} confidence",
            self.load(),
            result.confidence().name()
        );
        let mut line = |label: &str, text: String| {
            let _ = writeln!(out, "  {label:<17}{text}");
        };
        if let Some(rpm) = draft {
            line("foreign", format!("{} RPM, {}", whole(rpm.foreign), time(rpm.foreign)));
            line("loaded", format!("{} RPM, {}", whole(rpm.loaded), time(rpm.loaded)));
        }
        let scores = &result.scores;
        line(
            "from",
            format!(
                "medians {}, p90 {}, p95 {} RPM",
                score(scores.median),
                score(scores.p90),
                score(scores.p95)
            ),
        );
        line(
            "goresponsiveness",
            format!(
                "{} RPM of the best {}, {} RPM of p90",
                score(scores.goresponsiveness),
                config.kept,
                score(scores.goresponsiveness_p90)
            ),
        );
        if let Some(idle) = &result.idle {
            line("idle", format!("{} RPM", score(idle.draft)));
        }
        for goodput in &result.goodput {
            line("goodput", goodput_text(goodput));
        }
        line("foreign probes", probes(result.foreign));
        line("self probes", probes(result.own));
        line(
            "end",
            format!("{}, in the {} stage", end(result.end), result.stage.name()),
        );
        for note in self.notes() {
            line("note", note);
        }
    }

    /// Returns notes on the reliability of the result.
    #[must_use]
    pub fn notes(&self) -> Vec<String> {
        let result = &self.result;
        let mut notes = Vec::new();
        notes.extend(self.failure.clone());
        let (lost, due) = (
            result.foreign.lost() + result.own.lost(),
            result.foreign.due + result.own.due,
        );
        if lost as f64 > MANY * due as f64 {
            notes.push(format!(
                "{lost} of {due} probes have no response; they count with the time-out of 5 s, and in percentiles with an unlimited time"
            ));
        }
        let late = result.foreign.late + result.own.late;
        if late as f64 > MANY * due as f64 {
            notes.push(format!(
                "{late} of {due} probes started late: this machine was busy, and the result can depend on this machine"
            ));
        }
        if self.cpu > BUSY {
            notes.push(format!(
                "the client used {:.0} % of a processor: the result can depend on this machine",
                100.0 * self.cpu
            ));
        }
        notes
    }
}

/// Returns the heading of [`interval_line`]s.
#[must_use]
pub fn heading() -> String {
    format!(
        "{:<19} {:>6} {:>15} {:>12} {:>10} {:>8}",
        "load", "s", "stage", "connections", "Mbit/s", "RPM"
    )
}

/// Returns one line with fixed columns for an interval; `-` without a score.
#[must_use]
pub fn interval_line(directions: &[Direction], interval: &Interval) -> String {
    let mbps = interval.goodput.iter().filter_map(|goodput| goodput.rate);
    let mbps: f64 = mbps.map(|rate| rate.as_mbps_f64()).sum();
    let connections: u32 = interval.goodput.iter().map(|goodput| goodput.connections).sum();
    format!(
        "{:<19} {:>6.1} {:>15} {connections:>12} {mbps:>10.2} {:>8}",
        load(directions),
        interval.since_start.as_secs_f64(),
        interval.stage.name(),
        interval.score.map_or("-".to_owned(), whole),
    )
}

fn load(directions: &[Direction]) -> String {
    let names: Vec<&str> = directions.iter().map(|direction| name(*direction)).collect();
    names.join(" and ")
}

const fn name(direction: Direction) -> &'static str {
    match direction {
        Direction::Down => "download",
        Direction::Up => "upload",
    }
}

const fn end(end: End) -> &'static str {
    match end {
        End::Stable => "stable",
        End::TimeLimit => "time limit",
        End::DataLimit => "data limit",
        End::ConnectionFailed(_) => "a connection failed",
        End::Cancelled => "cancelled",
    }
}

fn scores(scores: &Scores) -> Value {
    let rpm =
        |rpm: Option<Rpm>| rpm.map(|rpm| json!({ "rpm": rpm.score, "foreign": rpm.foreign, "loaded": rpm.loaded }));
    json!({
        "draft": rpm(scores.draft),
        "class": scores.draft.map(|rpm| Band::from_rpm(rpm.score).name()),
        "median": rpm(scores.median),
        "p90": rpm(scores.p90),
        "p95": rpm(scores.p95),
        "goresponsiveness": rpm(scores.goresponsiveness),
        "goresponsiveness_p90": rpm(scores.goresponsiveness_p90),
        "foreign_probes": scores.foreign_count,
        "self_probes": scores.own_count,
    })
}

fn counts(counts: Counts) -> Value {
    json!({
        "due": counts.due,
        "answered": counts.answered,
        "failed": counts.failed,
        "timed_out": counts.timed_out,
        "not_sent": counts.not_sent,
        "late": counts.late,
    })
}

fn goodput_text(goodput: &Goodput) -> String {
    let rate = goodput
        .rate
        .map_or("-".to_owned(), |rate| format!("{:.2}", rate.as_mbps_f64()));
    let stable = if goodput.stable { "stable" } else { "not stable" };
    let direction = name(goodput.direction);
    format!(
        "{rate} Mbit/s {direction} on {} connections, {stable}",
        goodput.connections
    )
}

fn probes(counts: Counts) -> String {
    format!(
        "{} of {} answered, {} failed, {} timed out, {} not sent, {} late",
        counts.answered, counts.due, counts.failed, counts.timed_out, counts.not_sent, counts.late
    )
}

const fn tls_name(version: rustls::ProtocolVersion) -> &'static str {
    match version {
        rustls::ProtocolVersion::TLSv1_2 => "TLS 1.2",
        rustls::ProtocolVersion::TLSv1_3 => "TLS 1.3",
        _ => "TLS",
    }
}

fn score(rpm: Option<Rpm>) -> String {
    rpm.map_or("-".to_owned(), |rpm| whole(rpm.score))
}

fn whole(rpm: f64) -> String {
    format!("{rpm:.0}")
}

/// Returns the time of one round trip.
fn time(rpm: f64) -> String {
    format!("{:.1} ms per round trip", 60e3 / rpm)
}

#[cfg(test)]
mod tests {
    use super::*;
    use netburn_units::{Instant, Seed};
    use netburn_workload::Workload;

    /// 5 of 100 are 5 %, 6 are more.
    #[test]
    fn many_lost_and_many_late_probes_are_noted() {
        let config = Config::new(vec![Direction::Down]);
        let mut test = Workload::responsiveness_test(config, Instant::ZERO, Seed(1)).unwrap();
        let result = test.test_mut().unwrap().result();
        let notes = |failed: u64, late: u64| {
            let foreign = Counts {
                due: 100,
                answered: 100 - failed,
                failed,
                late,
                ..Counts::default()
            };
            let report = TestReport {
                directions: vec![Direction::Down],
                result: TestResult {
                    foreign,
                    ..result.clone()
                },
                tls: None,
                failure: None,
                cpu: 0.5,
            };
            report.notes()
        };
        assert!(notes(5, 5).is_empty());
        assert_eq!(
            notes(6, 0),
            [
                "6 of 100 probes have no response; they count with the time-out of 5 s, and in percentiles with an unlimited time"
            ]
        );
        assert_eq!(
            notes(0, 6),
            ["6 of 100 probes started late: this machine was busy, and the result can depend on this machine"]
        );
    }
}
