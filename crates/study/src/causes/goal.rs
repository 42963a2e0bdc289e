//! Distance of each workload from its goals, as one number that can be compared between runs.

use netburn_record::GoalKind;
use netburn_record::Summary;
use netburn_record::summary::{GoalSummary, LatencyMs, WorkloadSummary};
use netburn_scenario::Plan;
use netburn_workload::{Config, Goal, Verdict};

/// A workload of a station, by name: a plan without a factor may have fewer of them.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Victim {
    /// Number of the station in the plan.
    pub station: usize,
    /// Name of the workload.
    pub workload: String,
}

/// Goals of all workloads in one run.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Outcome {
    /// Each workload, in the order of the plan.
    pub workloads: Vec<(Victim, GoalState)>,
}

/// Goals of a workload in one run.
#[derive(Debug, Clone, PartialEq)]
pub struct GoalState {
    /// Worst verdict of its goals; for a slow probe without a goal [`Verdict::Marginal`].
    pub verdict: Verdict,
    /// Distance from the goals: 0 if they are met.
    pub loss: f64,
    /// Share of the samples that met the worst goal.
    pub met: Option<f64>,
    /// The worst goal as text; for a slow probe its latency.
    pub goal: String,
    /// True if it has a goal. A probe without a goal is only slow.
    pub has_goal: bool,
}

/// Loss of a factor of two between a value and its limit.
const PER_DOUBLING: f64 = 0.25;
/// Loss of ten points of the rating R.
const PER_TEN_POINTS: f64 = 0.25;
/// Value of an operation without an end, as a multiple of its limit.
const NEVER: f64 = 30.0;
/// Round trip of a probe without a goal that people notice, in ms.
const SLOW_MS: f64 = 100.0;
/// The round trip of a slow probe also exceeds this multiple of the shortest one.
const SLOW_FACTOR: f64 = 3.0;

impl Outcome {
    /// Outcome of a run of `plan`.
    #[must_use]
    pub fn new(plan: &Plan, summary: &Summary) -> Self {
        let mut workloads = Vec::new();
        for (station, planned) in plan.stations.iter().enumerate() {
            let Some(seen) = summary.stations.iter().find(|seen| seen.name == planned.name) else {
                continue;
            };
            for workload in &planned.workloads {
                let found = seen.workloads.iter().find(|seen| seen.name == workload.name);
                if let Some(state) = found.and_then(|found| state(found, &workload.config)) {
                    let victim = Victim {
                        station,
                        workload: workload.name.clone(),
                    };
                    workloads.push((victim, state));
                }
            }
        }
        Outcome { workloads }
    }

    /// State of a workload; `None` if the run did not have it.
    #[must_use]
    pub fn state(&self, victim: &Victim) -> Option<&GoalState> {
        let mut all = self.workloads.iter();
        all.find(|(known, _)| known == victim).map(|(_, state)| state)
    }
}

/// Workloads of a run that missed a goal, or whose probe was slow.
#[must_use]
pub fn missed(plan: &Plan, summary: &Summary) -> Vec<Victim> {
    let outcome = Outcome::new(plan, summary);
    let missed = outcome.workloads.into_iter().filter(|(_, state)| !state.is_met());
    missed.map(|(victim, _)| victim).collect()
}

impl GoalState {
    /// True if nothing is missed.
    #[must_use]
    pub fn is_met(&self) -> bool {
        !matches!(self.verdict, Verdict::Fail | Verdict::Marginal)
    }
}

/// State of a workload; `None` if it has no goal and is no probe.
fn state(workload: &WorkloadSummary, config: &Config) -> Option<GoalState> {
    if workload.goals.is_empty() {
        return (config.kind().is_probe()).then(|| slow_probe(workload));
    }
    let states = workload.goals.iter().map(|goal| judged(goal, workload, config));
    states.max_by(|a, b| {
        (a.verdict, a.loss)
            .partial_cmp(&(b.verdict, b.loss))
            .unwrap_or(std::cmp::Ordering::Equal)
    })
}

fn judged(goal: &GoalSummary, workload: &WorkloadSummary, config: &Config) -> GoalState {
    let missed = matches!(goal.verdict, Verdict::Fail | Verdict::Marginal);
    let share = 1.0 - goal.met.unwrap_or(0.0);
    GoalState {
        verdict: goal.verdict,
        loss: if missed {
            share + depth(goal, workload, config)
        } else {
            0.0
        },
        met: goal.met,
        goal: goal.goal.clone(),
        has_goal: true,
    }
}

/// Part of the loss that still tells two runs apart if both miss a goal all the time.
fn depth(goal: &GoalSummary, workload: &WorkloadSummary, config: &Config) -> f64 {
    let doublings = |value: f64, limit: f64| PER_DOUBLING * (value / limit.max(1e-9)).log2().clamp(0.0, NEVER.log2());
    match goal.kind {
        GoalKind::Latency => {
            let limit = config
                .latency_limit()
                .map_or(f64::INFINITY, |limit| limit.as_millis_f64());
            let round_trips = workload.streams.as_ref().and_then(|streams| streams.round_trip_ms);
            let judged = round_trips
                .filter(|_| config.kind().has_round_trips)
                .unwrap_or(workload.latency_ms);
            doublings(high(&judged).unwrap_or(limit * NEVER), limit)
        }
        GoalKind::Rate => {
            let needed = config
                .goals
                .iter()
                .filter_map(Goal::rate)
                .map(|(at_least, _)| at_least.as_mbps_f64());
            let got = workload.segments.as_ref().and_then(|segments| segments.mean_mbps);
            let got = got.unwrap_or(workload.throughput_mbps);
            doublings(needed.fold(0.0, f64::max), got)
        }
        GoalKind::Quality => {
            let wanted = config.goals.iter().filter_map(|goal| match goal {
                Goal::Quality { at_least, .. } => Some(f64::from(*at_least)),
                _ => None,
            });
            let rating = workload.voice.as_ref().map(|voice| {
                let of = |rating: Option<f64>| rating.unwrap_or(0.0);
                of(voice.up.rating).min(of(voice.down.rating))
            });
            let short = wanted.fold(0.0, f64::max) - rating.unwrap_or(0.0);
            PER_TEN_POINTS * short.max(0.0) / 10.0
        }
        GoalKind::Rpm => {
            let rpm = workload.responsiveness.as_ref().and_then(|found| found.rpm);
            let wanted = config.goals.iter().filter_map(|goal| match goal {
                Goal::Rpm { at_least, .. } => Some(f64::from(*at_least)),
                _ => None,
            });
            doublings(wanted.fold(0.0, f64::max), rpm.unwrap_or(0.0))
        }
        GoalKind::NoStall | GoalKind::Loss | GoalKind::NoGap | GoalKind::Frames | GoalKind::NoFreeze => 0.0,
    }
}

/// A high percentile, or the highest that the number of samples permits. `None` if it is that of operations without an end.
fn high(latency: &LatencyMs) -> Option<f64> {
    match latency.count {
        60.. => latency.p95,
        30.. => latency.p90,
        12.. => latency.p75,
        6.. => latency.p50,
        _ => latency.max.filter(|_| latency.unbounded == 0),
    }
}

fn slow_probe(workload: &WorkloadSummary) -> GoalState {
    let latency = &workload.latency_ms;
    let limit = SLOW_MS.max(SLOW_FACTOR * latency.min.unwrap_or(0.0));
    let level = high(latency);
    let value = level.unwrap_or(if latency.count > 0 { limit * NEVER } else { 0.0 });
    let is_slow = value > limit;
    GoalState {
        verdict: if is_slow { Verdict::Marginal } else { Verdict::None },
        loss: if is_slow {
            PER_DOUBLING * (1.0 + (value / limit).log2())
        } else {
            0.0
        },
        met: None,
        goal: level.map_or_else(String::new, netburn_analysis::format::span),
        has_goal: false,
    }
}
