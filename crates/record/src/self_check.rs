//! Self-check: compares the health reports of agents, servers and the lab with limits.

pub(crate) mod claims;
mod lab;

pub use lab::{
    DEFAULT_STANDSTILL_LIMIT, LAB_LATENESS_US, MAX_STANDSTILL_LIMIT, STANDSTILL_SHARE, STEAL, WITHOUT_GOAL,
    lab_reasons, standstill_limit,
};

use crate::header::Environment;
use crate::health::{Clock, Health, Lateness, Role, SelfCheck};
use crate::lab_health::LabHealth;
use crate::quality_issue::{LimitExceeded, QualityIssue, Quantity};
use netburn_units::Duration;
use std::collections::BTreeMap;

/// Limit of the 99th percentile of lateness, in µs. Latency counts from the due time, so lateness
/// adds to it. 10 ms is a fifteenth of the strictest built-in goal (150 ms).
pub const LATENESS_US: f64 = 10_000.0;
/// The share of operations that may be missed because the generator was too late: a tenth of the 1 % that a pass
/// allows.
pub const MISSED_SENDS: f64 = 0.001;
/// Processor time of an agent's busiest thread as a share of one core. Above it, it may be what is measured.
pub const CPU: f64 = 0.95;
/// Limit of the machine's busy share. Above it, all processes wait for a processor.
pub const MACHINE_BUSY: f64 = 0.98;
/// Limit of a clock's uncertainty, in ns. An error of 5 ms shifts the common start and every
/// one-way delay by this amount.
pub const CLOCK_ERROR_NS: u64 = 5_000_000;
/// Limit of the 99th percentile of the server's service time, in µs. It is part of every latency.
pub const SERVICE_US: f64 = 20_000.0;

/// The self-check, and which stations it concerns.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Checked {
    /// Over the whole run.
    pub self_check: SelfCheck,
    /// Reasons for which a station's results are unreliable, by station name; other stations are
    /// omitted.
    pub quality_issues: BTreeMap<String, Vec<QualityIssue>>,
}

/// Input of a self-check.
#[derive(Debug, Clone, Copy)]
pub struct Evidence<'a> {
    /// Environment of the run. On simulate the self-check always passes.
    pub environment: Environment,
    /// The stations of the plan, by name.
    pub stations: &'a [&'a str],
    /// Stations that used the run's server, known only if the server was lost and not all did.
    /// Problems of the server concern only them. `None`: all stations.
    pub served: Option<&'a [String]>,
    /// Health reports.
    pub health: &'a [Health],
    /// Their clocks.
    pub clocks: &'a [Clock],
    /// Reasons for which no result is reliable, as reported by the component that forwarded the
    /// packets.
    pub quality_issues: &'a [QualityIssue],
    /// The lab's report on its own work, where one carried the packets.
    pub lab: Option<&'a LabHealth>,
    /// Longest tolerated standstill of an agent, the server or the lab: see [`standstill_limit`].
    pub standstill: Duration,
    /// Implausible reports: station, and reason.
    pub reports: &'a [(&'a str, &'a QualityIssue)],
    /// True if the run ended as planned, so that every agent had the time to report.
    pub complete: bool,
}

/// Compares what was reported with the limits.
#[must_use]
pub fn self_check(evidence: &Evidence<'_>) -> Checked {
    let mut checked = Checked::default();
    // In simulated time nothing is late and no processor is too slow.
    if !evidence.environment.is_real() {
        return checked;
    }
    let all: Vec<String> = evidence.stations.iter().map(|name| (*name).to_owned()).collect();
    let served = evidence.served.unwrap_or(&all);
    let one_machine = matches!(evidence.environment, Environment::Local | Environment::Lab);
    let mut lateness = Lateness::default();
    for health in evidence.health {
        // A server that fails is in every station's values.
        let stations = match health.role {
            Role::Agent => &health.stations[..],
            Role::Server => served,
        };
        if health.role == Role::Agent && health.lateness_us_p99 >= lateness.p99 {
            lateness = Lateness {
                p50: health.lateness_us_p50,
                p99: health.lateness_us_p99,
                max: health.lateness_us_max,
            };
        }
        for reason in reasons(health, evidence.standstill) {
            checked.add(stations, reason);
        }
        let machine_busy = health.machine_busy.filter(|_| !one_machine);
        if let Some(share) = machine_busy.filter(|share| at_least(*share, MACHINE_BUSY)) {
            let machine = format!("the machine of {}", agent_label(health));
            checked.add(stations, exceeded(Quantity::MachineBusy, machine, share, MACHINE_BUSY));
        }
    }
    let busiest = evidence
        .health
        .iter()
        .filter_map(|health| health.machine_busy)
        .max_by(f64::total_cmp);
    let reported_by_lab = evidence.lab.is_some_and(|lab| exceeds(lab.machine_busy, MACHINE_BUSY));
    if let Some(share) = busiest.filter(|share| one_machine && !reported_by_lab && at_least(*share, MACHINE_BUSY)) {
        let machine = "this machine".to_owned();
        checked.add(&all, exceeded(Quantity::MachineBusy, machine, share, MACHINE_BUSY));
    }
    for reason in evidence.quality_issues {
        checked.add(&all, reason.clone());
    }
    for reason in evidence
        .lab
        .map_or(Vec::new(), |lab| lab_reasons(lab, evidence.standstill))
    {
        checked.add(&all, reason);
    }
    let stood = evidence.health.iter().filter_map(|health| health.standstill_us_max);
    let longest = stood
        .chain(evidence.lab.map(|lab| lab.standstill_us_max))
        .max_by(f64::total_cmp);
    for (station, reason) in evidence.reports {
        checked.add(&[(*station).to_owned()], (*reason).clone());
    }
    for clock in evidence.clocks {
        checked.add_clock(clock);
    }
    checked.add_missing_reports(evidence, &all, served);
    checked.self_check.timer_lateness_us = lateness;
    checked.self_check.standstill_us_max = longest;
    checked.self_check.ok = checked.self_check.reasons.is_empty();
    checked
}

impl Checked {
    /// Adds an issue of these stations, unless there are none.
    fn add(&mut self, stations: &[String], issue: QualityIssue) {
        if stations.is_empty() {
            return;
        }
        for station in stations {
            let reasons = self.quality_issues.entry(station.clone()).or_default();
            if !reasons.contains(&issue) {
                reasons.push(issue.clone());
            }
        }
        if !self.self_check.reasons.contains(&issue) {
            self.self_check.reasons.push(issue);
        }
    }

    /// Latency is measured by the stations' own clocks: the server's, which has no stations, is in no verdict.
    fn add_clock(&mut self, clock: &Clock) {
        if clock.error_ns > CLOCK_ERROR_NS {
            let (error, limit) = (clock.error_ns as f64, CLOCK_ERROR_NS as f64);
            let issue = exceeded(Quantity::ClockUncertain, clock.name.clone(), error, limit);
            self.add(&clock.stations, issue);
        }
        if let Some(jump_ns) = clock.jump_ns {
            let name = clock.name.clone();
            self.add(&clock.stations, QualityIssue::ClockJumped { name, jump_ns });
        }
    }

    fn add_missing_reports(&mut self, evidence: &Evidence<'_>, all: &[String], served: &[String]) {
        if !evidence.complete {
            if evidence.health.is_empty() {
                self.add(all, QualityIssue::NoHealthReports);
            }
            return;
        }
        let reported = |name: &str| evidence.health.iter().any(|h| h.stations.iter().any(|s| s == name));
        let silent: Vec<String> = all.iter().filter(|name| !reported(name)).cloned().collect();
        let stations = silent.clone();
        self.add(&silent, QualityIssue::NoAgentReport { stations });
        if !evidence.health.iter().any(|health| health.role == Role::Server) {
            self.add(served, QualityIssue::NoServerReport);
        }
    }
}

/// Problems of one agent or server.
fn reasons(health: &Health, standstill: Duration) -> Vec<QualityIssue> {
    let who = || agent_label(health);
    let mut reasons = Vec::new();
    reasons.extend(above(Quantity::StartDelay, who(), health.lateness_us_p99, LATENESS_US));
    let limit = standstill.as_nanos() as f64 / 1e3;
    if let Some(longest) = health.standstill_us_max.filter(|longest| exceeds(*longest, limit)) {
        reasons.push(QualityIssue::Standstill {
            who: who(),
            count: 1,
            longest_us: longest,
            total_us: longest,
            limit,
        });
    }
    let due = health.operations_due();
    if health.missed_sends as f64 > MISSED_SENDS * due as f64 {
        reasons.push(QualityIssue::OperationsSkipped {
            who: who(),
            skipped: health.missed_sends,
            due,
            limit: MISSED_SENDS,
        });
    }
    reasons.extend(
        health
            .cpu
            .and_then(|share| reaching(Quantity::ProcessorBusy, who(), share, CPU)),
    );
    if health.role == Role::Server {
        reasons.extend(above(Quantity::SlowResponses, who(), health.service_us_p99, SERVICE_US));
    }
    reasons.extend(above(Quantity::RequestsFailed, who(), health.rejected as f64, 0.0));
    reasons
}

/// Label of an agent or server in messages.
fn agent_label(health: &Health) -> String {
    match health.role {
        Role::Agent => format!("agent {}", health.name),
        Role::Server if health.name == "server" => "the server".to_owned(),
        Role::Server => format!("server {}", health.name),
    }
}

/// The issue of a value above its limit, or that is not a number. `who` is empty for quantities without a participant.
fn above(quantity: Quantity, who: String, value: f64, limit: f64) -> Option<QualityIssue> {
    exceeds(value, limit).then(|| exceeded(quantity, who, value, limit))
}

/// The issue of a value that reaches its limit, or that is not a number.
fn reaching(quantity: Quantity, who: String, value: f64, limit: f64) -> Option<QualityIssue> {
    at_least(value, limit).then(|| exceeded(quantity, who, value, limit))
}

fn exceeded(quantity: Quantity, who: String, value: f64, limit: f64) -> QualityIssue {
    QualityIssue::LimitExceeded(LimitExceeded {
        quantity,
        who,
        value,
        limit,
    })
}

/// Returns true if `value` exceeds `limit` or is not a number.
fn exceeds(value: f64, limit: f64) -> bool {
    value.is_nan() || value > limit
}

/// Returns true if `value` reaches `limit` or is not a number.
fn at_least(value: f64, limit: f64) -> bool {
    value.is_nan() || value >= limit
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rejected_rows::{Rejected, Rejection};

    fn sentences(issues: &[QualityIssue]) -> Vec<String> {
        issues.iter().map(ToString::to_string).collect()
    }

    fn agent() -> Health {
        Health {
            stations: vec!["laptop".into()],
            lateness_us_p50: 10.0,
            lateness_us_p99: 40.0,
            lateness_us_max: 900.0,
            lateness_count: 1000,
            cpu: Some(0.2),
            machine_busy: Some(0.5),
            operations: 1000,
            ..Health::new("a1", Role::Agent)
        }
    }

    fn server() -> Health {
        Health {
            name: "s1".into(),
            role: Role::Server,
            stations: vec![],
            service_us_p99: 300.0,
            ..agent()
        }
    }

    fn check(environment: Environment, health: &[Health], clocks: &[Clock], complete: bool) -> Checked {
        self_check(&Evidence {
            served: None,
            lab: None,
            standstill: Duration::from_millis(15),
            quality_issues: &[],
            reports: &[],
            environment,
            stations: &["laptop", "tv"],
            health,
            clocks,
            complete,
        })
    }

    #[test]
    fn a_server_concerns_the_stations_that_used_it() {
        let tv = Health {
            stations: vec!["tv".into()],
            ..agent()
        };
        let checked = self_check(&Evidence {
            served: Some(&["laptop".to_owned()]),
            lab: None,
            standstill: Duration::from_millis(15),
            quality_issues: &[],
            reports: &[],
            environment: Environment::Fleet,
            stations: &["laptop", "tv"],
            health: &[agent(), tv],
            clocks: &[],
            complete: true,
        });
        assert_eq!(checked.quality_issues["laptop"], [QualityIssue::NoServerReport]);
        assert_eq!(checked.quality_issues.get("tv"), None);
        let tv = Health {
            stations: vec!["tv".into()],
            ..agent()
        };
        let checked = self_check(&Evidence {
            served: Some(&[]),
            lab: None,
            standstill: Duration::from_millis(15),
            quality_issues: &[],
            reports: &[],
            environment: Environment::Fleet,
            stations: &["laptop", "tv"],
            health: &[agent(), tv],
            clocks: &[],
            complete: true,
        });
        assert!(
            checked.self_check.ok && checked.quality_issues.is_empty(),
            "the server had no requests"
        );
    }

    /// Affected stations and message for one change to healthy reports.
    #[test]
    fn each_limit_has_its_message() {
        type Change = fn(&mut Health, &mut Health);
        let one = &["laptop"][..];
        let both = &["laptop", "tv"][..];
        let table: &[(Change, &[&str], &str)] = &[
            (|_, _| (), &[], ""),
            (|a, _| a.lateness_us_p99 = 10_000.0, &[], ""),
            (
                |a, _| a.lateness_us_p99 = 12_500.0,
                one,
                "agent a1 was 12.5 ms behind schedule at p99; the limit is 10 ms",
            ),
            (|a, _| a.standstill_us_max = Some(15_000.0), &[], ""),
            (
                |a, _| a.standstill_us_max = Some(1_180_000.0),
                one,
                "agent a1 had a standstill of 1.18 s; the limit is 15 ms",
            ),
            (
                |_, s| s.standstill_us_max = Some(15_004.0),
                both,
                "server s1 had a standstill of 15.004 ms; the limit is 15 ms",
            ),
            (|a, _| (a.operations, a.missed_sends) = (1000, 1), &[], ""),
            (
                |a, _| (a.operations, a.missed_sends) = (1000, 2),
                one,
                "agent a1 skipped 2 of 1000 operations because it was too late (0.2 %); the limit is 0.1 %",
            ),
            (|a, _| a.cpu = Some(0.949), &[], ""),
            (|a, _| (a.cpu, a.machine_busy) = (None, None), &[], ""),
            (
                |a, _| a.cpu = Some(0.95),
                one,
                "agent a1 used 95 % of one core; the limit is 95 %",
            ),
            (
                |_, s| s.cpu = Some(0.97),
                both,
                "server s1 used 97 % of one core; the limit is 95 %",
            ),
            (
                |a, _| a.machine_busy = Some(0.985),
                one,
                "the machine of agent a1 was 98.5 % busy; the limit is 98 %",
            ),
            (|a, _| a.service_us_p99 = 30_000.0, &[], ""),
            (
                |_, s| s.service_us_p99 = 20_010.0,
                both,
                "server s1 took 20.01 ms to start its responses at p99; the limit is 20 ms",
            ),
            (
                |_, s| s.rejected = 3,
                both,
                "server s1 rejected or failed 3 requests because of internal errors; the limit is 0",
            ),
            (
                |_, s| s.lateness_us_p99 = f64::NAN,
                both,
                "server s1 was NaN ms behind schedule at p99; the limit is 10 ms",
            ),
        ];
        for (change, unreliable, sentence) in table {
            let tv = Health {
                name: "a2".into(),
                stations: vec!["tv".into()],
                ..agent()
            };
            let (mut a, mut s) = (agent(), server());
            change(&mut a, &mut s);
            let checked = check(Environment::Fleet, &[a, tv, s], &[], true);
            assert_eq!(checked.self_check.ok, sentence.is_empty(), "{sentence}");
            assert_eq!(sentences(&checked.self_check.reasons).join("\n"), *sentence);
            assert_eq!(
                checked.quality_issues.keys().collect::<Vec<_>>(),
                *unreliable,
                "{sentence}"
            );
        }
    }

    #[test]
    fn one_machine_is_reported_once() {
        let busy = |share| Health {
            machine_busy: Some(share),
            ..agent()
        };
        let tv = Health {
            name: "server".into(),
            machine_busy: Some(0.985),
            ..server()
        };
        let checked = check(Environment::Local, &[busy(0.99), busy(0.999), tv], &[], false);
        assert_eq!(
            sentences(&checked.self_check.reasons),
            ["this machine was 99.9 % busy; the limit is 98 %"]
        );
        assert_eq!(checked.quality_issues.len(), 2);
    }

    #[test]
    fn a_lab_concerns_every_station_and_its_machine_is_reported_once() {
        let lab = LabHealth {
            span_us: 9e6,
            standstill_us_max: 31_000.0,
            standstill_us_total: 31_000.0,
            standstills: 1,
            machine_busy: 0.99,
            ..LabHealth::default()
        };
        let busy = Health {
            machine_busy: Some(0.999),
            standstill_us_max: Some(2_000.0),
            ..agent()
        };
        let checked = self_check(&Evidence {
            served: None,
            lab: Some(&lab),
            standstill: Duration::from_millis(15),
            quality_issues: &[],
            reports: &[],
            environment: Environment::Lab,
            stations: &["laptop", "tv"],
            health: &[busy],
            clocks: &[],
            complete: false,
        });
        let reasons = [
            "the lab had a standstill of 31 ms; the limit is 15 ms",
            "the machine was 99 % busy while the lab ran; the limit is 98 %",
        ];
        assert_eq!(sentences(&checked.self_check.reasons), reasons);
        assert_eq!(
            (&checked.quality_issues["laptop"], &checked.quality_issues["tv"]),
            (&checked.self_check.reasons, &checked.self_check.reasons)
        );
        assert_eq!(checked.self_check.standstill_us_max, Some(31_000.0));
    }

    #[test]
    fn a_missing_health_report_is_a_quality_issue_in_real_time() {
        let checked = check(Environment::Local, &[agent()], &[], true);
        assert_eq!(
            sentences(&checked.self_check.reasons),
            [
                "no health report from the agent of tv",
                "no health report from the server"
            ]
        );
        assert_eq!(checked.quality_issues["laptop"], [QualityIssue::NoServerReport]);
        assert!(check(Environment::Local, &[agent()], &[], false).self_check.ok);
        assert_eq!(
            check(Environment::Local, &[], &[], false).self_check.reasons,
            [QualityIssue::NoHealthReports]
        );
        assert!(check(Environment::Simulate, &[], &[], true).self_check.ok);
    }

    #[test]
    fn rejected_rows_concern_the_stations_of_their_agent() {
        let health = [
            agent(),
            Health {
                name: "a2".into(),
                stations: vec!["tv".into()],
                ..agent()
            },
            server(),
        ];
        let mut rejected = Rejected::default();
        for _ in 0..9 {
            rejected.count(Rejection::Time);
        }
        let issue = QualityIssue::RowsRejected {
            sender: "agent a2".into(),
            reasons: rejected,
        };
        let checked = self_check(&Evidence {
            served: None,
            lab: None,
            standstill: Duration::from_millis(15),
            quality_issues: &[],
            reports: &[("tv", &issue)],
            environment: Environment::Fleet,
            stations: &["laptop", "tv"],
            health: &health,
            clocks: &[],
            complete: true,
        });
        let reason = "9 rows of agent a2 were rejected: 9 outside the run's time";
        assert_eq!(sentences(&checked.self_check.reasons), [reason]);
        assert_eq!(
            checked.quality_issues,
            BTreeMap::from([("tv".to_owned(), vec![issue.clone()])])
        );
    }

    #[test]
    fn the_self_check_passes_in_simulated_time() {
        let slow = Health {
            lateness_us_p99: 1e9,
            cpu: Some(1.0),
            ..agent()
        };
        assert_eq!(check(Environment::Simulate, &[slow], &[], true), Checked::default());
    }

    #[test]
    fn a_clock_with_a_large_uncertainty_is_a_quality_issue() {
        let clock = |error_ns| Clock {
            name: "a1".into(),
            stations: vec!["laptop".into()],
            offset_ns: 0,
            error_ns,
            round_trip_ns: 0,
            exchanges: 20,
            drift_ppm: None,
            drift_error_ppm: None,
            compared_ns: 0,
            jump_ns: None,
        };
        assert!(
            check(Environment::Fleet, &[agent()], &[clock(5_000_000)], false)
                .self_check
                .ok
        );
        let checked = check(Environment::Fleet, &[agent()], &[clock(7_250_000)], false);
        assert_eq!(
            sentences(&checked.self_check.reasons),
            ["the clock of a1 is uncertain by 7.25 ms; the limit is 5 ms"]
        );
        assert_eq!(checked.quality_issues.len(), 1);
    }

    #[test]
    fn a_clock_that_jumped_is_a_quality_issue() {
        let jumped = |jump_ns| Clock {
            name: "a1".into(),
            stations: vec!["laptop".into()],
            offset_ns: 0,
            error_ns: 100_000,
            round_trip_ns: 0,
            exchanges: 20,
            drift_ppm: None,
            drift_error_ppm: None,
            compared_ns: 0,
            jump_ns,
        };
        assert!(
            check(Environment::Fleet, &[agent()], &[jumped(None)], false)
                .self_check
                .ok
        );
        let checked = check(Environment::Fleet, &[agent()], &[jumped(Some(-3_250_000_000))], false);
        assert_eq!(
            sentences(&checked.self_check.reasons),
            ["the clock of a1 jumped back by 3250 ms during the run; probably the device slept"]
        );
        assert_eq!(checked.quality_issues.keys().collect::<Vec<_>>(), ["laptop"]);
    }

    #[test]
    fn the_worst_agent_gives_the_lateness_of_the_self_check() {
        let worse = Health {
            name: "a2".into(),
            stations: vec!["tv".into()],
            lateness_us_p99: 70.0,
            lateness_us_max: 80.0,
            ..agent()
        };
        let checked = check(Environment::Local, &[agent(), worse, server()], &[], true);
        assert_eq!(
            (
                checked.self_check.timer_lateness_us.p99,
                checked.self_check.timer_lateness_us.max
            ),
            (70.0, 80.0)
        );
    }
}
