//! Selection of the operations that count in results.

use super::evaluated::EvaluatedTime;
use crate::row::{OperationRow, baseline_target};
use netburn_scenario::Plan;
use netburn_units::{Duration, Instant};
use netburn_workload::{Operation, Outcome, ProbeTarget};

/// The longest run that is counted: a plan lasts 30 days at most.
const MAX_RUN: Duration = Duration::from_secs(30 * 86_400);

/// The rules by which the operations of a plan count. An operation that was cut does not count: it was running at the
/// end of the run, and younger than its goal.
#[derive(Debug, Clone)]
pub struct Counting {
    evaluated: EvaluatedTime,
    stations: Vec<StationCounting>,
}

#[derive(Debug, Clone)]
struct StationCounting {
    evaluated: EvaluatedTime,
    /// The strictest latency goal of each workload.
    limits: Vec<Option<Duration>>,
}

/// An operation that counts.
#[derive(Debug, Clone, Copy)]
pub struct Counted<'a> {
    /// Index of its station.
    pub station: usize,
    /// Index of its workload; `None` for a probe of the idle latency.
    pub workload: Option<usize>,
    /// Target of a probe of the idle latency.
    pub idle: Option<ProbeTarget>,
    /// The operation.
    pub operation: &'a Operation,
    /// Its latency; `None` if it did not finish.
    pub latency: Option<Duration>,
    /// Strictest latency goal of its workload.
    pub limit: Option<Duration>,
    /// True if it was due in the evaluated time of its station, after the warm-up.
    pub evaluated: bool,
}

impl Counting {
    /// Rules for the operations of `plan`.
    #[must_use]
    pub fn new(plan: &Plan) -> Self {
        let at = |since: Duration| Instant::ZERO + since.min(MAX_RUN);
        let end = at(plan.duration);
        let stations = plan.stations.iter().map(|station| StationCounting {
            evaluated: EvaluatedTime {
                from: at(plan.warmup.max(station.start)).min(end),
                to: station.stop.map_or(end, at).min(end),
            },
            limits: station.workloads.iter().map(|w| w.config.latency_limit()).collect(),
        });
        Counting {
            evaluated: EvaluatedTime {
                from: at(plan.warmup).min(end),
                to: end,
            },
            stations: stations.collect(),
        }
    }

    /// The evaluated time of the run.
    #[must_use]
    pub fn evaluated(&self) -> EvaluatedTime {
        self.evaluated
    }

    /// The evaluated time of each station, in the plan's order.
    pub fn evaluated_by_station(&self) -> impl Iterator<Item = EvaluatedTime> + '_ {
        self.stations.iter().map(|station| station.evaluated)
    }

    /// The operation of a row, if it counts. `None` for an operation that was cut, and for a station or workload that is
    /// not in the plan.
    #[must_use]
    pub fn operation<'a>(&self, row: &'a OperationRow) -> Option<Counted<'a>> {
        let operation = &row.operation;
        if operation.outcome == Outcome::Cut {
            return None;
        }
        let number = usize::from(row.station);
        let station = self.stations.get(number)?;
        let idle = baseline_target(row.workload);
        let (workload, limit) = if idle.is_some() {
            (None, None)
        } else {
            let workload = usize::from(row.workload);
            (Some(workload), *station.limits.get(workload)?)
        };
        Some(Counted {
            station: number,
            workload,
            idle,
            operation,
            latency: operation.latency(),
            limit,
            evaluated: operation.due >= station.evaluated.from,
        })
    }
}

impl Counted<'_> {
    /// Returns true if the operation did not finish within `limit`.
    #[must_use]
    pub fn exceeds(&self, limit: Duration) -> bool {
        self.latency.is_none_or(|latency| latency > limit)
    }

    /// Returns true if the operation did not meet the strictest latency goal. Without such a goal: if it did not finish.
    #[must_use]
    pub fn missed(&self) -> bool {
        match self.limit {
            Some(limit) => self.exceeds(limit),
            None => self.latency.is_none(),
        }
    }
}
