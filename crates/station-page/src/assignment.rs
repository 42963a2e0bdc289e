//! The plan of an assignment, and the page's stations and workloads in it.

use crate::limitations::obstacle;
use crate::load::Load;
use netburn_protocol::messages::Assign;
use netburn_scenario::Plan;
use netburn_units::{Duration, Instant};
use netburn_workload::Config;
use std::collections::BTreeSet;

/// Maximum number of stations of one page, and of their workloads.
const MAX_STATIONS: usize = 64;
const MAX_WORKLOADS: usize = 64;
/// Maximum number of requests at once. A browser has six connections to a port, so further ones would only wait.
const MAX_REQUESTS: u64 = 10_000;

/// Reason why an assignment is invalid.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum AssignmentError {
    /// The plan is no valid scenario. Has the path of a key, and what is wrong with it.
    #[error("the plan can't be read: {0}")]
    Plan(String),
    /// There is no station, or one more than once.
    #[error("the assignment has no station, or has one more than once")]
    Stations,
    /// The plan has no station of this number.
    #[error("the plan has no station {0}")]
    UnknownStation(u16),
    /// Too many stations.
    #[error("{0} stations of one page: at most {MAX_STATIONS}")]
    ManyStations(usize),
    /// Too many workloads of all stations.
    #[error("{0} workloads of one page: at most {MAX_WORKLOADS}")]
    ManyWorkloads(usize),
    /// Too many requests of all workloads at once.
    #[error("{0} requests of one page at once: at most {MAX_REQUESTS}")]
    ManyRequests(u64),
}

/// An assignment.
#[derive(Debug)]
pub(crate) struct Assignment {
    pub(crate) plan: Plan,
    /// Numbers of the page's stations in the plan.
    pub(crate) stations: Vec<u16>,
}

impl Assignment {
    /// Reads a message `assign`.
    pub(crate) fn read(assign: Assign) -> Result<Assignment, AssignmentError> {
        if assign.stations.len() > MAX_STATIONS {
            return Err(AssignmentError::ManyStations(assign.stations.len()));
        }
        let plan = Plan::from_json(&assign.plan).map_err(|error| {
            // Without the excerpt from the file, which a page does not have.
            let first = error
                .problems()
                .first()
                .map(|problem| format!("{}: {}", problem.path, problem.message));
            AssignmentError::Plan(first.unwrap_or_default())
        })?;
        let distinct: BTreeSet<u16> = assign.stations.iter().copied().collect();
        if distinct.is_empty() || distinct.len() < assign.stations.len() {
            return Err(AssignmentError::Stations);
        }
        let mut stations = assign.stations.iter();
        if let Some(number) = stations.find(|number| usize::from(**number) >= plan.stations.len()) {
            return Err(AssignmentError::UnknownStation(*number));
        }
        let assignment = Assignment {
            plan,
            stations: assign.stations,
        };
        let planned = assignment
            .stations
            .iter()
            .map(|number| &assignment.plan.stations[usize::from(*number)]);
        let configs: Vec<&Config> = planned
            .flat_map(|station| &station.workloads)
            .map(|planned| &planned.config)
            .collect();
        let requests = configs.iter().map(|config| requests_at_once(config)).sum();
        if configs.len() > MAX_WORKLOADS {
            Err(AssignmentError::ManyWorkloads(configs.len()))
        } else if requests > MAX_REQUESTS {
            Err(AssignmentError::ManyRequests(requests))
        } else {
            Ok(assignment)
        }
    }

    /// All workloads. Those over HTTP have the server's ports in turn.
    pub(crate) fn loads(&self, ports: usize) -> Vec<Load> {
        let mut loads = Vec::new();
        let mut over_http = 0;
        for &number in &self.stations {
            let station = &self.plan.stations[usize::from(number)];
            let start = Instant::ZERO + station.start;
            let end = (Instant::ZERO + station.end(self.plan.duration)).max(start);
            for (planned, workload) in station.workloads.iter().zip(0..) {
                let is_http = !planned.config.kind().is_datagram() && obstacle(&planned.config, None).is_none();
                loads.push(Load {
                    station: number,
                    workload,
                    station_name: station.name.clone(),
                    name: planned.name.clone(),
                    config: planned.config.clone(),
                    cc: planned.cc.as_ref().map(|cc| cc.name().to_owned()),
                    start,
                    end,
                    settle: end + self.plan.drain,
                    lane: if is_http { over_http % ports.max(1) } else { 0 },
                });
                over_http += usize::from(is_http);
            }
        }
        loads
    }

    /// Names of the page's stations.
    pub(crate) fn names(&self) -> Vec<String> {
        let name = |number: &u16| self.plan.stations[usize::from(*number)].name.clone();
        self.stations.iter().map(name).collect()
    }

    /// Title of the run.
    pub(crate) fn title(&self) -> String {
        self.plan.title.clone().unwrap_or_else(|| self.plan.name.clone())
    }

    /// End of the time after which results count.
    pub(crate) fn warm(&self) -> Instant {
        Instant::ZERO + self.plan.warmup
    }

    /// Time at which the load ends for all stations.
    pub(crate) fn duration(&self) -> Duration {
        self.plan.duration
    }
}

/// Maximum number of requests of a workload at once.
fn requests_at_once(config: &Config) -> u64 {
    let objects = config.requests().map_or(0, |requests| requests.objects);
    u64::from(objects) * u64::from(config.max_in_flight())
}

#[cfg(test)]
mod tests {
    use super::*;
    use netburn_protocol::messages::{Message, ToAgent};
    use netburn_units::Seed;

    #[test]
    fn a_seed_has_64_bits() {
        let text = r#"{"type": "assign", "stations": [0], "target": {"address": "192.0.2.1:4480", "datagram_port": 4480},
            "plan": {"name": "x", "seed": 18446744073709551615, "station": {"tv": {"workload": ["voip"]}}}}"#;
        let ToAgent::Assign(assign) = ToAgent::from_text(text).unwrap() else {
            panic!("an assignment")
        };
        assert_eq!(Assignment::read(assign).unwrap().plan.seed, Seed(u64::MAX));
    }
}
