//! Part of an agent in a run.

use super::*;
use netburn_protocol::messages::MAX_ALTERNATIVES;
use netburn_traffic::content::Content;
use std::collections::BTreeSet;
use std::net::IpAddr;

/// Part of an agent in a run.
#[derive(Debug, Clone)]
pub struct Part {
    /// The plan. Stations of other agents may be without their settings.
    pub plan: Plan,
    /// Stations that the agent drives, by their numbers in the plan. Never empty.
    pub stations: Vec<u16>,
    /// Server to measure against, and the way to reach it.
    pub target: Target,
    /// Further addresses of the server, for a device that can't reach that of `target`.
    pub alternatives: Vec<IpAddr>,
}

impl Part {
    pub(super) fn from_assignment(assign: &Assign) -> Result<Part, String> {
        let plan = crate::document::to_plan(&assign.plan)?;
        if let Some(station) = assign.stations.iter().find(|s| usize::from(**s) >= plan.stations.len()) {
            return Err(format!("the plan has no station {station}"));
        }
        let distinct: BTreeSet<u16> = assign.stations.iter().copied().collect();
        if distinct.is_empty() || distinct.len() < assign.stations.len() {
            return Err("the assignment has no station, or has one more than once".to_owned());
        }
        let trust = match &assign.target.fingerprint {
            Some(text) => Some(Trust::Fingerprint(
                fingerprint(text).ok_or_else(|| format!("`{text}` is not a fingerprint"))?,
            )),
            None => None,
        };
        let target = Target {
            http: plan.server.http,
            tls: trust,
            datagram_port: Some(assign.target.datagram_port),
            labelled: true,
            ..Target::new(assign.target.address)
        };
        Ok(Part {
            plan,
            stations: assign.stations.clone(),
            target,
            alternatives: assign
                .target
                .alternatives
                .iter()
                .copied()
                .take(MAX_ALTERNATIVES)
                .collect(),
        })
    }

    /// Creates the content of uploads before the agent is ready. At the first upload it would block the
    /// thread that drives the load. With 40 agents on one machine it blocked for a second: `MADV_COLLAPSE`
    /// serves one process at a time.
    pub(super) async fn prepare_content(&self) {
        let mut workloads = self
            .stations
            .iter()
            .flat_map(|&station| &self.plan.stations[usize::from(station)].workloads);
        if workloads.any(|workload| workload.config.direction() == Direction::Up) {
            // Without memory the first upload fails and reports the error.
            let _ = tokio::task::spawn_blocking(Content::get).await;
        }
    }

    /// End of the baseline; `None` without a baseline.
    pub(super) fn until(&self) -> Option<Instant> {
        let baseline = self.plan.baseline;
        (!baseline.is_zero()).then(|| Instant::ZERO - QUIET_BEFORE_START.min(baseline / 4))
    }

    /// Stations whose idle latency is measured.
    pub(super) fn idle(&self) -> Vec<Idle> {
        let idle = self.stations.iter().map(|&station| Idle {
            station,
            target: self.target_of(station),
            targets: self.plan.stations[usize::from(station)].idle_targets(),
            datagrams: true,
        });
        idle.collect()
    }

    fn target_of(&self, station: u16) -> Arc<Target> {
        let cc = self.plan.stations[usize::from(station)].cc.as_ref();
        Arc::new(Target {
            cc: cc.map(|cc| cc.name().to_owned()),
            ..self.target.clone()
        })
    }

    /// A state machine for each workload of each station.
    pub(super) fn loads(&self) -> Vec<Load> {
        let mut loads = Vec::new();
        for &number in &self.stations {
            let station = &self.plan.stations[usize::from(number)];
            let target = self.target_of(number);
            let start = Instant::ZERO + station.start;
            let end = (Instant::ZERO + station.end(self.plan.duration)).max(start);
            // A station that leaves early stops after its own drain. Otherwise a download would continue
            // beside the other stations.
            let settle = end + self.plan.drain;
            for (planned, workload) in station.workloads.iter().zip(0u16..) {
                // Distinguishes the workloads of one run, independent of the agent.
                let index = u64::from(number) << 16 | u64::from(workload);
                loads.push(Load {
                    station: number,
                    workload,
                    machine: Workload::new(planned.config.clone(), start, end, settle, self.plan.seed, index),
                    target: match &planned.cc {
                        None => Arc::clone(&target),
                        Some(cc) => Arc::new(Target {
                            cc: Some(cc.name().to_owned()),
                            answers_cc: Some(cc.name().to_owned()),
                            ..(*target).clone()
                        }),
                    },
                });
            }
        }
        loads
    }

    /// Names of the stations.
    #[must_use]
    pub fn names(&self) -> Vec<String> {
        let name = |station: &u16| self.plan.stations[usize::from(*station)].name.clone();
        self.stations.iter().map(name).collect()
    }

    /// Returns whether a workload of its stations sends datagrams.
    #[must_use]
    pub fn needs_datagrams(&self) -> bool {
        let stations = self
            .stations
            .iter()
            .map(|station| &self.plan.stations[usize::from(*station)]);
        let mut workloads = stations.flat_map(|station| &station.workloads);
        workloads.any(|workload| workload.config.kind().is_datagram())
    }

    pub(super) fn health(&self, name: &str, report: &DriveReport, machine_busy: Option<f64>) -> netburn_record::Health {
        report.health(name, self.names(), machine_busy)
    }
}

/// Parses 32 bytes in hexadecimal.
fn fingerprint(text: &str) -> Option<[u8; 32]> {
    let digits = text.as_bytes();
    if digits.len() != 64 {
        return None;
    }
    let mut bytes = [0; 32];
    for (byte, pair) in bytes.iter_mut().zip(digits.chunks(2)) {
        let digit = |at: usize| char::from(pair[at]).to_digit(16);
        *byte = u8::try_from(digit(0)? << 4 | digit(1)?).ok()?;
    }
    Some(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;
    use netburn_protocol::messages::ServerAddress;
    use netburn_workload::Wake;

    #[test]
    fn stations_are_assigned_once_and_are_in_the_plan() {
        let (plan, _) = netburn_scenario::Document::from_toml("one.toml", "[station.a]\nworkload = \"voip\"\n")
            .unwrap()
            .resolve_for(netburn_scenario::Environment::Local)
            .unwrap();
        let part = |stations: Vec<u16>| {
            Part::from_assignment(&Assign {
                plan: plan.to_json(),
                stations,
                target: ServerAddress::new("127.0.0.1:1".parse().unwrap(), 1),
            })
        };
        assert!(part(vec![0]).is_ok());
        // Each occurrence would be driven with all workloads.
        assert!(part(vec![0; 1_000_000]).unwrap_err().contains("more than once"));
        assert!(part(vec![]).is_err());
        assert!(part(vec![1]).is_err());
    }

    #[test]
    fn a_station_that_leaves_early_has_only_its_own_drain() {
        let text = "duration = \"60 s\"\ndrain = \"5 s\"\n\
                    [station.early]\nworkload = \"download\"\nstop = \"10 s\"\n\
                    [station.late]\nworkload = \"download\"\n";
        let (plan, _) = netburn_scenario::Document::from_toml("two.toml", text)
            .unwrap()
            .resolve_for(netburn_scenario::Environment::Local)
            .unwrap();
        let part = Part::from_assignment(&Assign {
            plan: plan.to_json(),
            stations: vec![0, 1],
            target: ServerAddress::new("127.0.0.1:1".parse().unwrap(), 1),
        })
        .unwrap();
        let settled = part.loads().into_iter().map(|mut load| {
            // Its one object starts, receives bytes at times, and never ends.
            load.machine.handle_timeout(Instant::ZERO);
            let Some(netburn_workload::Action::Begin(request)) = load.machine.poll_action() else {
                panic!("nothing begins");
            };
            let mut settled = Instant::ZERO;
            for second in 1..=70 {
                load.machine.handle_bytes(Instant::from_secs(second), request.id, 1);
                match load.machine.poll_timeout() {
                    Some((at, Wake::Settle)) => settled = at,
                    Some(_) => {}
                    None => break,
                }
            }
            settled
        });
        assert_eq!(
            settled.collect::<Vec<_>>(),
            [Instant::from_secs(15), Instant::from_secs(65)]
        );
    }
}
