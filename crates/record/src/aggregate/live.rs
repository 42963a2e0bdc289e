//! Counts of an active run.

use super::counting::Counting;
use crate::row::{EventKind, EventRow, OperationRow, Row};
use netburn_scenario::Plan;
use netburn_units::Duration;
use netburn_workload::ProbeTarget;

/// Counts of an active run, for live views. They include operations that are due during the warm-up.
#[derive(Debug, Clone)]
pub struct LiveCounts {
    counting: Counting,
    /// The stations, in the plan's order.
    pub stations: Vec<LiveStation>,
}

/// Current values of a station.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LiveStation {
    /// True if its agent was lost.
    pub lost: bool,
    /// The last round trip before the load.
    pub idle: Option<Duration>,
    /// Its workloads, in the plan's order.
    pub workloads: Vec<LiveWorkload>,
}

/// Current values of a workload.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct LiveWorkload {
    /// Strictest latency goal.
    pub limit: Option<Duration>,
    /// Latency of the last operation that finished.
    pub latency: Option<Duration>,
    /// Operations that finished.
    pub operations: u64,
    /// Operations that missed the strictest latency goal. Without such a goal: those that did not finish.
    pub goal_misses: u64,
    /// Stalls of its player.
    pub stalls: u64,
}

impl LiveCounts {
    /// Counts of a run of `plan`, without rows.
    #[must_use]
    pub fn new(plan: &Plan) -> Self {
        let stations = plan.stations.iter().map(|station| LiveStation {
            lost: false,
            idle: None,
            workloads: station
                .workloads
                .iter()
                .map(|workload| LiveWorkload {
                    limit: workload.config.latency_limit(),
                    ..LiveWorkload::default()
                })
                .collect(),
        });
        LiveCounts {
            counting: Counting::new(plan),
            stations: stations.collect(),
        }
    }

    /// Counts a row. Rows of unknown stations and workloads are ignored.
    pub fn put(&mut self, row: &Row) {
        match row {
            Row::Operation(row) => self.operation(row),
            Row::Event(row) => self.event(row),
            Row::Interval(_) | Row::Connection(_) | Row::Link(_) | Row::Air(_) => {}
        }
    }

    fn operation(&mut self, row: &OperationRow) {
        let Some(counted) = self.counting.operation(row) else {
            return;
        };
        let station = &mut self.stations[counted.station];
        let Some(workload) = counted.workload else {
            if counted.idle == Some(ProbeTarget::Server) {
                station.idle = counted.latency.or(station.idle);
            }
            return;
        };
        let workload = &mut station.workloads[workload];
        workload.operations += u64::from(counted.latency.is_some());
        workload.goal_misses += u64::from(counted.missed());
        workload.latency = counted.latency.or(workload.latency);
    }

    fn event(&mut self, row: &EventRow) {
        let Some(station) = row
            .station
            .and_then(|number| self.stations.get_mut(usize::from(number)))
        else {
            return;
        };
        // A station whose server is lost is there itself.
        station.lost |= row.kind == EventKind::Lost;
        let workload = row
            .workload
            .and_then(|number| station.workloads.get_mut(usize::from(number)));
        if let Some(workload) = workload.filter(|_| row.kind == EventKind::Stall) {
            workload.stalls += 1;
        }
    }
}
