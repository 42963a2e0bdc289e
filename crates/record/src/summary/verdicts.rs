//! Computes the summary from the evidence: the verdicts of workloads, stations and the run, and their values. Those of
//! goals come from [`netburn_workload::verdict`].

use super::document::{GoalSummary, SCHEMA, StationSummary, Summary, Totals, WorkloadSummary};
use super::evidence::{RunEvidence, StationEvidence, WorkloadEvidence};
use crate::columns::names::distinct;
use crate::header::{Header, RunStatus};
use crate::kinds::Shared;
use crate::kinds::grades::{GradeContext, Moved};
use crate::latency_ms::LatencyMs;
use crate::quality_issue::{Disturbance, QualityIssue};
use crate::self_check::{Checked, Evidence, self_check, standstill_limit};
use netburn_scenario::{Plan, Station};
use netburn_stats::{Distribution, P50, jain};
use netburn_units::{BitRate, Duration};
use netburn_workload::config::BIN;
use netburn_workload::verdict::{judge, worst};
use netburn_workload::{Config, Direction, Goal, Verdict};
use std::collections::BTreeMap;

/// The self-check of one run.
pub(crate) fn run_self_check(header: &Header, status: &RunStatus, evidence: &RunEvidence) -> Checked {
    let stations: Vec<&str> = header
        .plan
        .stations
        .iter()
        .map(|station| station.name.as_str())
        .collect();
    // If only some stations, or none, lost the server, the others used servers of their own.
    let served: Vec<String> = stations
        .iter()
        .zip(&evidence.stations)
        .filter(|(_, station)| station.server_lost)
        .map(|(name, _)| (*name).to_owned())
        .collect();
    let reports = stations.iter().zip(&evidence.stations).flat_map(|(name, station)| {
        let reasons = station.rejected.iter().chain(&station.unconfirmed);
        reasons.map(|reason| (*name, reason))
    });
    let reports: Vec<(&str, &QualityIssue)> = reports.collect();
    self_check(&Evidence {
        reports: &reports,
        served: Some(&served[..]).filter(|served| !served.is_empty() || evidence.server_unused),
        environment: header.environment,
        stations: &stations,
        health: &evidence.health,
        clocks: &evidence.clocks,
        quality_issues: &evidence.quality_issues,
        lab: evidence.lab.as_ref(),
        standstill: standstill_limit(&header.plan),
        complete: *status == RunStatus::Complete,
    })
}

/// Reasons for which a run as a whole is inconclusive.
pub(crate) fn inconclusive_reasons(header: &Header, status: &RunStatus, evidence: &RunEvidence) -> Vec<QualityIssue> {
    let after_ns = u64::try_from(evidence.reached).unwrap_or(0);
    let planned_ns = header.plan.duration.as_nanos();
    match status {
        RunStatus::Complete => Vec::new(),
        RunStatus::Interrupted => vec![QualityIssue::RunInterrupted { after_ns, planned_ns }],
        RunStatus::Failed(cause) => vec![QualityIssue::RunFailed {
            cause: cause.clone(),
            after_ns,
            planned_ns,
        }],
    }
}

/// Judges what was counted. `run` is the folder's name in the summary.
pub(crate) fn summarise(
    header: &Header,
    run: &str,
    evidence: RunEvidence,
    checked: Checked,
    reasons: Vec<QualityIssue>,
) -> Summary {
    let plan = &header.plan;
    let mut moved = 0;
    let mut stations = Vec::new();
    let air = evidence
        .stations
        .iter()
        .map(|station| station.airtime)
        .fold(0, u128::saturating_add);
    let mut loads = Moved::default();
    for (station, evidence) in plan.stations.iter().zip(&evidence.stations) {
        for (workload, evidence) in station.workloads.iter().zip(&evidence.workloads) {
            loads.add(&workload.config, evidence.moved > 0);
        }
    }
    for (station, evidence) in plan.stations.iter().zip(evidence.stations) {
        moved += evidence.moved() - evidence.left_out;
        let quality_issues = quality_issues(&station.name, &evidence, &checked.quality_issues, &reasons);
        let load = plan.duration.saturating_sub(plan.warmup);
        stations.push(judge_station(station, evidence, air, loads, quality_issues, load));
    }
    let mut self_check = checked.self_check;
    if reasons.is_empty() {
        let unreliable = stations.iter().flat_map(|station| &station.reasons);
        self_check.ok = unreliable
            .into_iter()
            .all(|reason| !self_check.reasons.contains(reason));
    }
    let verdict = if reasons.is_empty() {
        worst(stations.iter().map(|station| station.verdict))
    } else {
        Verdict::Inconclusive
    };
    let sum = |of: fn(&WorkloadSummary) -> u64| stations.iter().flat_map(|s| &s.workloads).map(of).sum();
    Summary {
        schema: SCHEMA.to_owned(),
        run: run.to_owned(),
        scenario: plan.name.clone(),
        title: plan.title.clone(),
        question: plan.question.clone(),
        environment: header.environment,
        seed: header.seed.0,
        duration_s: plan.duration.as_secs_f64(),
        verdict,
        provisional: provisional(verdict, stations.iter().map(|s| (s.verdict, s.provisional))),
        reasons,
        self_check,
        totals: Totals {
            throughput_mbps: mbps(moved, evidence.evaluated),
            airtime_jain: fairness(plan, &stations),
            operations: sum(|workload| workload.operations),
            goal_misses: sum(|workload| workload.goal_misses),
            failures: sum(|workload| workload.failures),
            unfinished: sum(|workload| workload.unfinished),
        },
        stations,
        repeats: Vec::new(),
        access_points: evidence.access_points.summaries(&|station| {
            let station = plan.stations.get(usize::from(station))?;
            Some(station.name.clone())
        }),
        intervals: BTreeMap::new(),
    }
}

/// Reasons for which one station's results are unreliable.
fn quality_issues(
    name: &str,
    evidence: &StationEvidence,
    self_check: &BTreeMap<String, Vec<QualityIssue>>,
    run: &[QualityIssue],
) -> Vec<QualityIssue> {
    let mut quality_issues: Vec<QualityIssue> = Vec::new();
    let self_check = self_check.get(name).map_or(&[][..], Vec::as_slice);
    for reason in evidence.lost.iter().chain(run).chain(self_check) {
        if !quality_issues.contains(reason) {
            quality_issues.push(reason.clone());
        }
    }
    quality_issues
}

/// Jain's index of the airtime shares of the stations with a workload.
fn fairness(plan: &Plan, stations: &[StationSummary]) -> Option<f64> {
    let both = plan.stations.iter().zip(stations);
    let users = both.filter(|(station, _)| !station.workloads.is_empty());
    let shares: Vec<f64> = users.filter_map(|(_, judged)| judged.airtime_share).collect();
    jain(&shares)
}

/// `air` is the airtime of all stations together, `loads` their bulk load. `quality_issues` are the problems that affect
/// the station, in a run whose load lasted for `load`.
fn judge_station(
    station: &Station,
    evidence: StationEvidence,
    air: u128,
    loads: Moved,
    quality_issues: Vec<QualityIssue>,
    load: Duration,
) -> StationSummary {
    let moved = evidence.moved();
    let context = GradeContext::new(
        &evidence.idle,
        evidence.idle_variation,
        loads,
        own_download(station, &evidence),
    );
    let warnings: Vec<Option<String>> = evidence.workloads.iter().map(|of| of.warning.clone()).collect();
    let names = distinct(station.workloads.iter().map(|workload| workload.name.as_str()));
    let workloads: Vec<WorkloadSummary> = names
        .into_iter()
        .zip(&station.workloads)
        .zip(evidence.workloads)
        .map(|((name, workload), counted)| judge_workload(name, &workload.config, counted, &context))
        .collect();
    let measured = worst(workloads.iter().map(|workload| workload.verdict));
    let (mut reasons, notes) = reasons_and_notes(measured, quality_issues, load);
    let verdict = if reasons.is_empty() {
        measured
    } else {
        Verdict::Inconclusive
    };
    if verdict == Verdict::Inconclusive {
        let is_reliable = reasons.is_empty();
        for (workload, warning) in workloads.iter().zip(&warnings) {
            match exclusion(workload, warning.as_deref()) {
                Some(reason) => reasons.push(reason),
                None if is_reliable => reasons.extend(unjudged_goals(workload)),
                None => {}
            }
        }
    }
    let idle = Distribution::from_samples(evidence.idle, evidence.idle_lost);
    StationSummary {
        name: station.name.clone(),
        verdict,
        provisional: provisional(verdict, workloads.iter().map(|w| (w.verdict, w.provisional))),
        reasons,
        notes,
        throughput_mbps: mbps(moved, evidence.evaluated),
        airtime_share: (air > 0 && station.link.is_none()).then(|| evidence.airtime as f64 / air as f64),
        idle_latency_ms: idle.percentile(P50).value().map(ms),
        wifi: evidence.wifi.summary(),
        split: evidence.split.summary(),
        workloads,
    }
}

/// Divides the problems of a station into reasons for which it is inconclusive, and notes. A goal that was met in spite
/// of a delay is met. A goal that was missed may be missed because of the delay.
fn reasons_and_notes(
    measured: Verdict,
    issues: Vec<QualityIssue>,
    load: Duration,
) -> (Vec<QualityIssue>, Vec<QualityIssue>) {
    let holds = match measured {
        Verdict::None | Verdict::Pass => issues.iter().all(|issue| issue.disturbance(load) == Disturbance::Delay),
        Verdict::Marginal | Verdict::Inconclusive | Verdict::Fail => false,
    };
    if holds {
        (Vec::new(), issues)
    } else {
        (issues, Vec::new())
    }
}

/// Reason for which a workload has no operations: the first warning of its agent about it.
fn exclusion(judged: &WorkloadSummary, warning: Option<&str>) -> Option<QualityIssue> {
    let is_excluded = judged.operations == 0 && judged.verdict == Verdict::Inconclusive;
    is_excluded.then_some(QualityIssue::WorkloadExcluded {
        workload: judged.name.clone(),
        cause: warning?.to_owned(),
    })
}

/// Reasons for which a workload's goals could not be judged.
fn unjudged_goals(judged: &WorkloadSummary) -> Vec<QualityIssue> {
    let goals = judged.goals.iter().enumerate();
    let unjudged = goals.filter(|(_, goal)| goal.verdict == Verdict::Inconclusive);
    unjudged
        .map(|(index, goal)| QualityIssue::NoSamples {
            workload: judged.name.clone(),
            goal: index,
            kind: goal.kind,
            goal_text: goal.goal.clone(),
        })
        .collect()
}

/// Rate of a station's downloads; `None` without any.
fn own_download(station: &Station, evidence: &StationEvidence) -> Option<BitRate> {
    let workloads = station.workloads.iter().zip(&evidence.workloads);
    let is_download = |config: &Config| config.bulk().is_some_and(|bulk| bulk.direction == Direction::Down);
    let downloads = workloads.filter(|(workload, _)| is_download(&workload.config));
    let moved = downloads
        .map(|(_, evidence)| evidence.moved)
        .reduce(u128::saturating_add)?;
    Some(BitRate::from_bps(bps(moved, evidence.evaluated)))
}

fn judge_workload(name: String, config: &Config, of: WorkloadEvidence, context: &GradeContext) -> WorkloadSummary {
    let mut misses = None;
    let goals: Vec<GoalSummary> = config
        .goals
        .iter()
        .zip(&of.goals)
        .map(|(goal, tally)| {
            let result = judge(*goal, tally);
            misses = misses.max(Some(result.misses));
            GoalSummary {
                goal: goal.describe(config.kind()),
                kind: goal.into(),
                met: result.met,
                excess: result.excess.filter(|excess| excess.is_finite()),
                verdict: result.verdict,
                provisional: result.provisional,
                samples: match goal {
                    Goal::NoStall | Goal::NoGap | Goal::NoFreeze => tally.watched.as_nanos() / BIN.as_nanos(),
                    Goal::Latency { .. }
                    | Goal::Rate { .. }
                    | Goal::Quality { .. }
                    | Goal::Loss { .. }
                    | Goal::Rpm { .. }
                    | Goal::Frames => tally.samples,
                },
            }
        })
        .collect();
    let verdict = worst(goals.iter().map(|goal| goal.verdict));
    let counts = of.counts;
    let latency = Distribution::from_samples(of.latency, counts.unbounded());
    let results = of.results.summarise(&Shared {
        config,
        counts,
        latency: &latency,
        grades: context,
    });
    WorkloadSummary {
        name,
        kind: config.kind().name.to_owned(),
        verdict,
        provisional: provisional(verdict, goals.iter().map(|goal| (goal.verdict, goal.provisional))),
        operations: counts.all(),
        goal_misses: misses.unwrap_or(counts.not_started),
        failures: counts.failed + counts.timed_out,
        unfinished: counts.unfinished,
        timeouts: counts.timed_out,
        not_started: counts.not_started,
        throughput_mbps: mbps(of.moved, of.active),
        latency_ms: LatencyMs::from(&latency),
        dial_ms: LatencyMs::of_samples(of.dial, of.undialled),
        first_byte_ms: if of.first_byte.is_empty() {
            None
        } else {
            LatencyMs::of_samples(of.first_byte, of.byteless)
        },
        results,
        dscp: of.dscp,
        goals,
    }
}

/// Returns true if a verdict may change with more samples. One firm fail makes a fail firm. A pass
/// or a marginal needs every part to be firm, because each part may turn out worse.
pub(crate) fn provisional(verdict: Verdict, parts: impl Iterator<Item = (Verdict, bool)>) -> bool {
    let mut judged_parts = parts.filter(|(part, _)| *part != Verdict::None).peekable();
    match verdict {
        Verdict::None | Verdict::Inconclusive => false,
        Verdict::Fail => judged_parts.all(|(part, provisional)| part != Verdict::Fail || provisional),
        Verdict::Pass | Verdict::Marginal => judged_parts.any(|(_, provisional)| provisional),
    }
}

fn ms(nanos: u64) -> f64 {
    nanos as f64 / 1e6
}

/// A mean rate in Mbit/s, to the bit/s: bytes × 10⁸ moved in `span`.
fn mbps(moved: u128, span: Duration) -> f64 {
    bps(moved, span) as f64 / 1e6
}

/// The same in bit/s.
fn bps(moved: u128, span: Duration) -> u64 {
    let bin = u128::from(BIN.as_nanos());
    let bits = moved.saturating_mul(8_000_000_000) / bin;
    let rate = bits.checked_div(u128::from(span.as_nanos())).unwrap_or(0);
    u64::try_from(rate).unwrap_or(u64::MAX)
}
