//! The plan of an assignment, and the page's stations and workloads in it.

use crate::limitations::obstacle;
use crate::load::Load;
use netburn_protocol::messages::Assign;
use netburn_scenario::Plan;
use netburn_units::{Duration, Instant};
use std::collections::BTreeSet;

/// An assignment.
#[derive(Debug)]
pub(crate) struct Assignment {
    pub(crate) plan: Plan,
    /// Numbers of the page's stations in the plan.
    pub(crate) stations: Vec<u16>,
}

impl Assignment {
    /// Reads a message `assign`.
    pub(crate) fn read(assign: Assign) -> Result<Assignment, String> {
        let plan = Plan::from_json(&assign.plan).map_err(|error| {
            // Without the excerpt from the file, which a page does not have.
            let first = error
                .problems()
                .first()
                .map(|problem| format!("{}: {}", problem.path, problem.message));
            format!("the plan can't be read: {}", first.unwrap_or_default())
        })?;
        let distinct: BTreeSet<u16> = assign.stations.iter().copied().collect();
        if distinct.is_empty() || distinct.len() < assign.stations.len() {
            return Err("the assignment has no station, or has one more than once".to_owned());
        }
        match assign
            .stations
            .iter()
            .find(|number| usize::from(**number) >= plan.stations.len())
        {
            Some(number) => Err(format!("the plan has no station {number}")),
            None => Ok(Assignment {
                plan,
                stations: assign.stations,
            }),
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
