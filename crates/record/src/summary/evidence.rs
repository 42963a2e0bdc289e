//! Counts and samples of a run's rows before goals are judged. Those of several runs can be added.

use super::access_point::AccessPointCounter;
use super::wifi::WifiEvidence;
use crate::DscpArrivals;
use crate::aggregate::Counts;
use crate::health::{Clock, Health};
use crate::kinds::KindCounters;
use crate::kinds::grades::Variation;
use crate::kinds::probe::SplitEvidence;
use crate::lab_health::LabHealth;
use crate::quality_issue::QualityIssue;
use netburn_units::Duration;
use netburn_workload::Tally;

/// All that a summary is computed from, besides the plan.
#[derive(Debug, Clone, Default)]
pub(crate) struct RunEvidence {
    pub(crate) stations: Vec<StationEvidence>,
    /// The run's evaluated time, for the totals.
    pub(crate) evaluated: Duration,
    pub(crate) health: Vec<Health>,
    pub(crate) clocks: Vec<Clock>,
    /// Reasons for which no result is reliable.
    pub(crate) quality_issues: Vec<QualityIssue>,
    /// The lab's report on its own work.
    pub(crate) lab: Option<LabHealth>,
    /// True if the run's server was lost and no station measured against it.
    pub(crate) server_unused: bool,
    /// Reports of observed access points.
    pub(crate) access_points: AccessPointCounter,
    /// Time of the last row, in nanoseconds since the run began.
    pub(crate) reached: i64,
}

/// One station's part.
#[derive(Debug, Clone, Default)]
pub(crate) struct StationEvidence {
    /// Idle round trips in ns.
    pub(crate) idle: Vec<u64>,
    /// Idle probes that were lost.
    pub(crate) idle_lost: u64,
    /// Differences between successive idle round trips.
    pub(crate) idle_variation: Variation,
    /// Reasons for which its results are incomplete: its agent, or the server that it used, was
    /// lost.
    pub(crate) lost: Vec<QualityIssue>,
    /// True if it measured against the run's server, and that was lost.
    pub(crate) server_lost: bool,
    /// Rejected rows of its agent.
    pub(crate) rejected: Vec<QualityIssue>,
    /// Reasons for which its reported bytes are impossible.
    pub(crate) unconfirmed: Vec<QualityIssue>,
    /// Content that is excluded from the total, as [`WorkloadEvidence::moved`].
    pub(crate) left_out: u128,
    /// Evaluated time.
    pub(crate) evaluated: Duration,
    /// Airtime of its data in the run's evaluated time, in nanoseconds × 10⁸.
    pub(crate) airtime: u128,
    pub(crate) wifi: WifiEvidence,
    /// Delays of Wi-Fi, line and server.
    pub(crate) split: SplitEvidence,
    pub(crate) workloads: Vec<WorkloadEvidence>,
}

/// One workload's part.
#[derive(Debug, Clone, Default)]
pub(crate) struct WorkloadEvidence {
    /// Evaluated time in which the workload runs.
    pub(crate) active: Duration,
    pub(crate) counts: Counts,
    /// The agent's first warning about the workload.
    pub(crate) warning: Option<String>,
    /// From due to end in ns, of those that finished.
    pub(crate) latency: Vec<u64>,
    /// Content of finished operations.
    pub(crate) lengths: Lengths,
    /// From start to connected in ns.
    pub(crate) dial: Vec<u64>,
    /// Connection attempts that failed.
    pub(crate) undialled: u64,
    /// From due to the first byte in ns.
    pub(crate) first_byte: Vec<u64>,
    /// Counted operations without a first byte.
    pub(crate) byteless: u64,
    /// One tally per goal, in the plan's order.
    pub(crate) goals: Vec<Tally>,
    /// Content moved in the evaluated time: bytes × 10⁸ (weighted by nanoseconds of each 100 ms
    /// interval).
    pub(crate) moved: u128,
    /// Results that only some kinds have.
    pub(crate) results: KindCounters,
    /// DSCP with which packets arrived, at most one for each direction.
    pub(crate) dscp: Vec<DscpArrivals>,
}

/// Bytes of content of finished operations: their sum, and that of their squares.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Lengths {
    pub(crate) count: u64,
    pub(crate) sum: u128,
    pub(crate) squares: u128,
}

impl Lengths {
    pub(crate) fn put(&mut self, bytes: u64) {
        let bytes = u128::from(bytes);
        self.count += 1;
        self.sum = self.sum.saturating_add(bytes);
        self.squares = self.squares.saturating_add(bytes * bytes);
    }

    fn add(&mut self, other: &Lengths) {
        self.count += other.count;
        self.sum = self.sum.saturating_add(other.sum);
        self.squares = self.squares.saturating_add(other.squares);
    }

    /// Mean and standard deviation in bytes; `None` when none finished.
    pub(crate) fn mean_and_deviation(&self) -> Option<(f64, f64)> {
        let count = (self.count > 0).then_some(self.count)? as f64;
        let mean = self.sum as f64 / count;
        Some((mean, (self.squares as f64 / count - mean * mean).max(0.0).sqrt()))
    }
}

impl RunEvidence {
    /// Pools another run of the same plan with this one.
    pub(crate) fn add(&mut self, other: RunEvidence) {
        self.evaluated += other.evaluated;
        self.reached = self.reached.max(other.reached);
        self.health.extend(other.health);
        self.clocks.extend(other.clocks);
        self.quality_issues.extend(other.quality_issues);
        self.server_unused |= other.server_unused;
        self.access_points.add(other.access_points);
        for (station, other) in self.stations.iter_mut().zip(other.stations) {
            station.add(other);
        }
    }
}

impl StationEvidence {
    /// Content of all its workloads, as [`WorkloadEvidence::moved`].
    pub(crate) fn moved(&self) -> u128 {
        self.workloads.iter().map(|workload| workload.moved).sum()
    }

    fn add(&mut self, other: StationEvidence) {
        self.idle.extend(other.idle);
        self.idle_lost += other.idle_lost;
        self.idle_variation.add(other.idle_variation);
        self.lost.extend(other.lost);
        self.server_lost |= other.server_lost;
        self.rejected.extend(other.rejected);
        self.unconfirmed.extend(other.unconfirmed);
        self.left_out += other.left_out;
        self.evaluated += other.evaluated;
        self.airtime = self.airtime.saturating_add(other.airtime);
        self.wifi.add(other.wifi);
        self.split.add(other.split);
        for (workload, other) in self.workloads.iter_mut().zip(other.workloads) {
            workload.add(other);
        }
    }
}

impl WorkloadEvidence {
    /// Adds packets by the DSCP with which they arrived.
    pub(crate) fn add_dscp(&mut self, arrivals: &DscpArrivals) {
        if !self.dscp.iter_mut().any(|known| known.add(arrivals)) {
            self.dscp.push(arrivals.clone());
        }
    }

    fn add(&mut self, other: WorkloadEvidence) {
        self.active += other.active;
        self.counts.add(&other.counts);
        self.latency.extend(other.latency);
        self.lengths.add(&other.lengths);
        self.dial.extend(other.dial);
        self.undialled += other.undialled;
        self.first_byte.extend(other.first_byte);
        self.byteless += other.byteless;
        for (goal, other) in self.goals.iter_mut().zip(&other.goals) {
            goal.add(other);
        }
        self.moved += other.moved;
        self.warning = self.warning.take().or(other.warning);
        self.results.add(other.results);
        other.dscp.iter().for_each(|arrivals| self.add_dscp(arrivals));
    }
}
