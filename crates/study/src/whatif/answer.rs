//! Simulates a plan as it is and with each change, and judges what the change brings.

use super::WhatIf;
use crate::pool::map;
use netburn_record::summary::{Summariser, Summary, WorkloadSummary};
use netburn_record::{Ending, Header, Sink as _};
use netburn_scenario::Plan;
use netburn_simulate::SimulateError;
use netburn_stats::judge::{Better, Judged, Tolerance, judge};
use netburn_workload::{Kind, Verdict};
use std::ops::ControlFlow;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

/// What every change brings.
#[derive(Debug, Clone, PartialEq)]
pub struct Answers {
    /// How many runs there are of each, under the same seeds.
    pub runs: usize,
    /// The worst verdict of the runs of the plan as it is.
    pub verdict: Verdict,
    /// One for each change, in their order.
    pub answers: Vec<Answer>,
}

/// What one change brings.
#[derive(Debug, Clone, PartialEq)]
pub struct Answer {
    /// The change.
    pub what_if: WhatIf,
    /// The worst verdict of the runs with it.
    pub verdict: Verdict,
    /// Every use of every station, judged against the plan as it is.
    pub figures: Vec<Figure>,
}

/// A figure of one use at one station.
#[derive(Debug, Clone, PartialEq)]
pub struct Figure {
    /// The station.
    pub station: String,
    /// Its workload.
    pub workload: String,
    /// What is looked at.
    pub measure: Measure,
    /// As it is and with the change.
    pub judged: Judged,
}

/// What can be looked at.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Measure {
    /// The share of its worst goal's samples within the limit.
    Met,
    /// In Mbit/s.
    Throughput,
    /// The median latency in ms.
    Median,
    /// The 95th percentile of latency in ms.
    P95,
    /// How long its player stood still, in ms.
    Stalled,
}

/// Why nothing could be simulated.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum CantAnswer {
    /// The plan, or one with a change, can't be simulated.
    #[error("it can't be simulated: {0}")]
    Simulate(#[from] SimulateError),
    /// Somebody stopped it.
    #[error("interrupted")]
    Stopped,
}

/// Simulates `plan` and every change of it `runs` times, each time under the next of the plan's own seeds, on `threads` processors, and
/// judges. What comes out depends on neither number nor order. `progress` is told how many runs are done of how many.
///
/// # Errors
/// When the plan can't be simulated, or `stop` was set.
pub fn answer(
    plan: &Plan,
    what_ifs: Vec<WhatIf>,
    runs: usize,
    threads: usize,
    stop: &AtomicBool,
    progress: &(dyn Fn(u64, u64) + Sync),
) -> Result<Answers, CantAnswer> {
    let plans: Vec<&Plan> = std::iter::once(plan)
        .chain(what_ifs.iter().map(|what_if| &what_if.plan))
        .collect();
    let runs = runs.max(1);
    let all = plans.len() * runs;
    let done = AtomicU64::new(0);
    let summaries = map(all, threads, &|place| {
        let (which, round) = (place / runs, (place % runs) as u64);
        let seeded = Plan {
            seed: plan.seed.repeat(round),
            ..plans[which].clone()
        };
        let result = summary(&seeded, stop);
        progress(done.fetch_add(1, Ordering::Relaxed) + 1, all as u64);
        result
    });
    let summaries: Vec<Summary> = summaries.into_iter().collect::<Result<_, _>>()?;
    let mut sets = summaries.chunks(runs);
    let without = sets.next().unwrap_or_default();
    let answers = what_ifs.into_iter().zip(sets).map(|(what_if, with)| Answer {
        figures: figures(plan, without, with),
        verdict: verdict(with),
        what_if,
    });
    Ok(Answers {
        runs,
        answers: answers.collect(),
        verdict: verdict(without),
    })
}

fn summary(plan: &Plan, stop: &AtomicBool) -> Result<Summary, CantAnswer> {
    let mut summariser = Summariser::new(Header::simulated(plan.clone()));
    let done = netburn_simulate::run(plan, |_, rows| {
        for row in &rows {
            summariser.put(row).expect("a summariser takes every row");
        }
        match stop.load(Ordering::Relaxed) {
            true => ControlFlow::Break(()),
            false => ControlFlow::Continue(()),
        }
    })?;
    match done.interrupted {
        true => Err(CantAnswer::Stopped),
        false => Ok(summariser.finish(&plan.name, &Ending::Complete)),
    }
}

fn verdict(runs: &[Summary]) -> Verdict {
    netburn_workload::worst(runs.iter().map(|run| run.verdict))
}

/// Every use of the plan's stations: how far its goals were kept, and what a person would ask of it.
fn figures(plan: &Plan, without: &[Summary], with: &[Summary]) -> Vec<Figure> {
    let mut figures = Vec::new();
    for (s, station) in plan.stations.iter().enumerate() {
        for (w, workload) in station.workloads.iter().enumerate() {
            let goals = !workload.config.goals.is_empty();
            let latency = match workload.config.kind {
                Kind::Download | Kind::Upload => Measure::Throughput,
                Kind::Stream => Measure::Stalled,
                Kind::Pages | Kind::Calls | Kind::Probe => {
                    let known = |run: &Summary| Measure::P95.of(&run.stations[s].workloads[w]).is_some();
                    match without.iter().chain(with).all(known) {
                        true => Measure::P95,
                        false => Measure::Median,
                    }
                }
            };
            for measure in goals.then_some(Measure::Met).into_iter().chain([latency]) {
                let values = |runs: &[Summary]| -> Vec<Option<f64>> {
                    runs.iter()
                        .map(|run| measure.of(&run.stations[s].workloads[w]))
                        .collect()
                };
                figures.push(Figure {
                    station: station.name.clone(),
                    workload: without[0].stations[s].workloads[w].name.clone(),
                    measure,
                    judged: judge(&values(without), &values(with), measure.better(), measure.tolerance()),
                });
            }
        }
    }
    figures
}

impl Measure {
    /// Which way is better.
    #[must_use]
    pub const fn better(self) -> Better {
        match self {
            Measure::Met | Measure::Throughput => Better::Higher,
            Measure::Median | Measure::P95 | Measure::Stalled => Better::Lower,
        }
    }

    /// What is too little to matter.
    #[must_use]
    pub const fn tolerance(self) -> Tolerance {
        match self {
            Measure::Met => Tolerance::MET,
            Measure::Throughput => Tolerance::RATE,
            Measure::Median | Measure::P95 => Tolerance::LATENCY,
            Measure::Stalled => Tolerance::STALL,
        }
    }

    /// Its name in documents, with its unit.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Measure::Met => "met",
            Measure::Throughput => "throughput_mbps",
            Measure::Median => "p50_ms",
            Measure::P95 => "p95_ms",
            Measure::Stalled => "stalled_ms",
        }
    }

    fn of(self, workload: &WorkloadSummary) -> Option<f64> {
        match self {
            Measure::Met => workload.goals.iter().filter_map(|goal| goal.met).reduce(f64::min),
            Measure::Throughput => Some(workload.throughput_mbps),
            Measure::Median => workload.latency_ms.p50,
            Measure::P95 => workload.latency_ms.p95,
            Measure::Stalled => Some(workload.player.map_or(0.0, |player| player.stalled_ms)),
        }
    }
}
