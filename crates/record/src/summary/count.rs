//! Counts rows as evidence for the summary.

mod workload;

use super::access_point::AccessPointCounter;
use super::evidence::{RunEvidence, StationEvidence};
use crate::aggregate::{BulkLoads, Counting, EvaluatedTime};
use crate::header::{Environment, RunStatus};
use crate::health::{Clock, Health, Role};
use crate::kinds::grades::Variation;
use crate::kinds::probe::{Clocks, SplitCounter};
use crate::lab_health::LabHealth;
use crate::quality_issue::QualityIssue;
use crate::row::{
    AirRow, Detail, EventKind, EventRow, IntervalRow, LinkRow, ObservedRow, OperationRow, Row, baseline_target,
};
use crate::self_check::claims::Claim;
use netburn_scenario::Plan;
use netburn_units::Instant;
use netburn_workload::config::BIN;
use netburn_workload::{Outcome, ProbeTarget};
use workload::WorkloadCounter;

/// Counts the rows of one run, in the order in which they come.
#[derive(Debug)]
pub(crate) struct Counter {
    counting: Counting,
    loads: BulkLoads,
    stations: Vec<StationCounter>,
    evaluated: EvaluatedTime,
    one_clock: bool,
    names: Vec<String>,
    health: Vec<Health>,
    clocks: Vec<Clock>,
    quality_issues: Vec<QualityIssue>,
    lab: Option<LabHealth>,
    server_unused: bool,
    access_points: AccessPointCounter,
    end: Instant,
    reached: Instant,
}

#[derive(Debug)]
struct StationCounter {
    /// Evaluated time by the plan.
    evaluated: EvaluatedTime,
    reached: Instant,
    evidence: StationEvidence,
    /// Idle round trips in ns by the sequence number of the probe.
    idle: Vec<(u64, u64)>,
    workloads: Vec<WorkloadCounter>,
    /// Probes, if one of them is to the access point.
    probes: Option<SplitCounter>,
    claim: Claim,
}

impl Counter {
    pub(crate) fn new(plan: &Plan, environment: Environment) -> Self {
        let names = plan.stations.iter().map(|station| station.name.clone()).collect();
        let counting = Counting::new(plan);
        let stations = plan.stations.iter().zip(counting.evaluated_by_station());
        let stations = stations.map(|(station, evaluated)| StationCounter {
            evaluated,
            reached: Instant::ZERO,
            evidence: StationEvidence::default(),
            idle: Vec::new(),
            workloads: station
                .workloads
                .iter()
                .map(|w| WorkloadCounter::new(&w.config, Instant::ZERO + station.start, plan.server.tls))
                .collect(),
            probes: SplitCounter::new(station),
            claim: Claim::default(),
        });
        Counter {
            stations: stations.collect(),
            evaluated: counting.evaluated(),
            loads: BulkLoads::new(plan, &counting),
            counting,
            one_clock: environment != Environment::Fleet,
            names,
            health: Vec::new(),
            clocks: Vec::new(),
            quality_issues: Vec::new(),
            lab: None,
            server_unused: false,
            access_points: AccessPointCounter::default(),
            end: Instant::ZERO + plan.duration,
            reached: Instant::ZERO,
        }
    }

    pub(crate) fn row(&mut self, row: &Row) {
        match row {
            Row::Operation(row) => self.operation(row),
            Row::Interval(row) => self.interval(row),
            Row::Event(row) => self.event(row),
            Row::Air(row) => self.air(row),
            Row::Link(row) => self.link(row),
            Row::Observed(row) => self.observed(row),
            Row::Connection(_) => {}
        }
    }

    pub(crate) fn operation(&mut self, row: &OperationRow) {
        let Some(station) = self.stations.get_mut(usize::from(row.station)) else {
            return;
        };
        let operation = &row.operation;
        let began = operation.started.is_some();
        station.claim.cut += u64::from(began && operation.outcome != Outcome::Finished);
        if baseline_target(row.workload).is_none() {
            station.reach(operation.finished.unwrap_or(operation.due));
            if let Some(workload) = station.workloads.get_mut(usize::from(row.workload)) {
                workload.due(operation.due);
            }
        }
        let Some(counted) = self.counting.operation(row) else {
            return;
        };
        match (counted.workload, counted.latency) {
            (Some(workload), latency) if counted.evaluated => {
                if let (Some(probes), Some(latency)) = (&mut station.probes, latency) {
                    probes.answer(workload, operation, latency);
                }
                station.workloads[workload].operation(&counted, self.loads.at(operation.due));
            }
            (Some(_), _) => {}
            (None, latency) => match (counted.idle, latency) {
                (Some(ProbeTarget::Server), Some(latency)) => {
                    if let Some(probes) = &mut station.probes {
                        probes.idle(operation);
                    }
                    station.idle.push((operation.sequence, latency.as_nanos()));
                }
                (Some(ProbeTarget::Server), None) => station.evidence.idle_lost += 1,
                (Some(target), Some(latency)) => station.evidence.split.idle(target, latency),
                (_, None) | (None, _) => {}
            },
        }
    }

    pub(crate) fn interval(&mut self, row: &IntervalRow) {
        let Some(station) = self.stations.get_mut(usize::from(row.station)) else {
            return;
        };
        let workload = station.workloads.get(usize::from(row.workload));
        // The server counts content over HTTP only.
        if workload.is_none_or(|workload| !workload.is_datagram()) {
            station.claim.bytes.put(row);
        }
        let Some(ended) = row.at.checked_add(BIN) else { return };
        station.reach(ended);
        if let Some(workload) = station.workloads.get_mut(usize::from(row.workload)) {
            workload.interval(row, station.evaluated);
        }
    }

    pub(crate) fn link(&mut self, row: &LinkRow) {
        if let Some(station) = self.stations.get_mut(usize::from(row.station)) {
            station.evidence.wifi.link(row);
        }
    }

    pub(crate) fn air(&mut self, row: &AirRow) {
        let Some(station) = self.stations.get_mut(usize::from(row.station)) else {
            return;
        };
        // The run's evaluated time, for every station: shares are of the same airtime.
        let airtime = &mut station.evidence.airtime;
        *airtime = airtime.saturating_add(self.evaluated.weigh(row.airtime(), row.at));
    }

    pub(crate) fn observed(&mut self, row: &ObservedRow) {
        self.access_points.row(row, self.end);
    }

    pub(crate) fn event(&mut self, row: &EventRow) {
        match row.kind {
            // The last report counts: clocks are compared before the run and after it.
            EventKind::Health => {
                if let Detail::Health(health) = &row.detail {
                    self.health
                        .retain(|before| before.name != health.name || before.role != health.role);
                    self.health.push((**health).clone());
                }
            }
            EventKind::QualityIssue => self.quality_issues.push(issue(&row.detail)),
            EventKind::Lab => {
                if let Detail::Lab(lab) = &row.detail {
                    self.lab = Some((**lab).clone());
                }
            }
            EventKind::Clock => {
                if let Detail::Clock(clock) = &row.detail {
                    // Name alone won't do: a station may be called `server`, and the server drives none.
                    self.clocks
                        .retain(|before| (&before.name, &before.stations) != (&clock.name, &clock.stations));
                    self.clocks.push((**clock).clone());
                }
            }
            EventKind::Lost | EventKind::Incomplete | EventKind::ServerLost => {
                for station in self.concerned(row.station) {
                    station.evidence.lost.push(issue(&row.detail));
                    station.evidence.server_lost |= row.kind == EventKind::ServerLost;
                }
            }
            EventKind::Rejected => {
                for station in self.concerned(row.station) {
                    station.evidence.rejected.push(issue(&row.detail));
                }
            }
            EventKind::UnusedServerLost => self.server_unused = true,
            EventKind::Stall | EventKind::Startup | EventKind::Warning => {
                let workload = row.station.zip(row.workload).and_then(|(station, workload)| {
                    let station = self.stations.get_mut(usize::from(station))?;
                    station.workloads.get_mut(usize::from(workload))
                });
                match (workload, row.kind) {
                    (Some(workload), EventKind::Warning) => workload.warning(&row.detail.text()),
                    (Some(workload), _) => workload.event(row),
                    (None, _) => {}
                }
            }
            EventKind::Dscp => {
                let station = row
                    .station
                    .and_then(|number| self.stations.get_mut(usize::from(number)));
                let workload = station
                    .zip(row.workload)
                    .and_then(|(station, workload)| station.workloads.get_mut(usize::from(workload)));
                if let (Some(workload), Detail::Dscp(arrivals)) = (workload, &row.detail) {
                    workload.dscp(arrivals);
                }
            }
            EventKind::Roam => {
                let station = row
                    .station
                    .and_then(|number| self.stations.get_mut(usize::from(number)));
                if let Some(station) = station {
                    station.evidence.wifi.event(row.kind, row.length);
                }
            }
            EventKind::Change | EventKind::Rate | EventKind::Scan | EventKind::Steering | EventKind::Path => {}
            EventKind::AccessPoint => self.access_points.event(row, self.end),
        }
    }

    /// The station that an event concerns, or all of them.
    fn concerned(&mut self, station: Option<u16>) -> &mut [StationCounter] {
        match station.map(usize::from) {
            Some(number) => self.stations.get_mut(number).map_or(&mut [], std::slice::from_mut),
            None => &mut self.stations,
        }
    }

    /// All that was counted. Where the run didn't end as planned, or a station was lost, its
    /// evaluated time ends with the last of its rows.
    pub(crate) fn finish(mut self, status: &RunStatus) -> RunEvidence {
        for station in &self.stations {
            self.reached = self.reached.max(station.reached);
        }
        let (reached, whole, one_clock) = (self.reached, *status == RunStatus::Complete, self.one_clock);
        let clocks = &self.clocks;
        let known = |name: &String| {
            if one_clock {
                Clocks::One
            } else {
                Clocks::known(clocks, name)
            }
        };
        let counted = |name: &String| {
            let mut servers = self.health.iter().filter(|health| health.role == Role::Server);
            servers.find_map(|health| health.served.get(name).copied())
        };
        let named = self.stations.into_iter().zip(&self.names);
        let stations = named
            .map(|(station, name)| {
                let beyond = counted(name).and_then(|counted| station.claim.beyond(name, counted));
                station.finish(whole, known(name), beyond)
            })
            .collect();
        let evaluated = if whole {
            self.evaluated
        } else {
            self.evaluated.ending_by(reached)
        };
        RunEvidence {
            stations,
            evaluated: evaluated.length(),
            health: self.health,
            clocks: self.clocks,
            quality_issues: self.quality_issues,
            lab: self.lab,
            server_unused: self.server_unused,
            access_points: self.access_points,
            reached: reached.as_nanos(),
        }
    }
}

/// Issue of an event. Agents describe missing results in their own words.
fn issue(detail: &Detail) -> QualityIssue {
    match detail {
        Detail::Issue(issue) => issue.clone(),
        other => QualityIssue::ResultsMissing {
            cause: other.text().into_owned(),
        },
    }
}

impl StationCounter {
    fn reach(&mut self, at: Instant) {
        self.reached = self.reached.max(at);
    }

    /// `beyond` is the reason for which its reported bytes are impossible.
    fn finish(mut self, whole: bool, clocks: Clocks<'_>, beyond: Option<QualityIssue>) -> StationEvidence {
        let mut evidence = self.evidence;
        self.idle.sort_unstable();
        evidence.idle = self.idle.into_iter().map(|(_, nanos)| nanos).collect();
        evidence.idle_variation = Variation::from_samples(&evidence.idle);
        let evaluated = if whole && evidence.lost.is_empty() {
            self.evaluated
        } else {
            self.evaluated.ending_by(self.reached)
        };
        evidence.evaluated = evaluated.length();
        if let Some(probes) = self.probes {
            probes.finish(&evidence.idle, clocks, &mut evidence.split);
        }
        evidence.workloads = self
            .workloads
            .into_iter()
            .map(|workload| workload.finish(evaluated, clocks))
            .collect();
        evidence.left_out = beyond.as_ref().map_or(0, |_| evidence.moved());
        evidence.unconfirmed.extend(beyond);
        evidence
    }
}
