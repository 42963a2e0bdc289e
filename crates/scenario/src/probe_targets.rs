//! Targets of probes: which of them a station has, and where the model can answer them.

use crate::environment::Environment;
use crate::node::Place;
use crate::plan::{Ap, Backhaul, Plan, Station};
use crate::problem::Problem;
use netburn_workload::{Kind, ProbeTarget};

impl Station {
    /// Targets whose idle latency is measured before the load: the server, and the targets of the station's probes. In
    /// the order of a packet's way.
    #[must_use]
    pub fn idle_targets(&self) -> Vec<ProbeTarget> {
        let probes = |target| {
            let mut configs = self.workloads.iter().map(|workload| &workload.config);
            configs.any(|config| config.kind == Kind::Probe && config.target == target)
        };
        let all = ProbeTarget::ALL.iter().copied();
        all.filter(|target| *target == ProbeTarget::Server || probes(*target))
            .collect()
    }
}

impl Plan {
    /// Reports probes to a host that does not exist in `environment`.
    pub(crate) fn unanswered_probes(&self, environment: Environment, problems: &mut Vec<Problem>) {
        let correction = "set `target = \"server\"`";
        for station in &self.stations {
            let mut report = |workload: &str, target: ProbeTarget, message: String, help: String| {
                let path = format!("station.{}.workload", station.name);
                let message = format!("`{workload}` has the target `{target}`, and {message}");
                problems.push(Problem::new(Place::Whole, &path, message, Some(help)));
            };
            for workload in &station.workloads {
                let (name, target) = (workload.name.as_str(), workload.config.target);
                if target == ProbeTarget::Server {
                    continue;
                }
                if environment == Environment::Local {
                    report(
                        name,
                        target,
                        "local has no access point".to_owned(),
                        format!("{correction}, or use another environment"),
                    );
                    continue;
                }
                if !environment.models_air() {
                    continue;
                }
                if station.link.is_some() {
                    let message = "a station with a `link` has no access point".to_owned();
                    report(name, target, message, format!("{correction}, or remove `link`"));
                } else if target == ProbeTarget::Line
                    && let Some(ap) = self.joined_without_line(station)
                {
                    let message = format!("access point `{}` has no WAN link", ap.name);
                    report(
                        name,
                        target,
                        message,
                        format!("add `[ap.{}.wan]`, or {correction}", ap.name),
                    );
                }
            }
        }
    }

    /// First access point that a station can join and whose path to the server has no WAN link.
    fn joined_without_line(&self, station: &Station) -> Option<&Ap> {
        let radios = self.radios_of(station.air.joins.as_ref()?);
        let mut aps = radios.into_iter().filter_map(|radio| self.ap(&radio.ap));
        aps.find(|ap| !self.has_line(ap))
    }

    /// Returns true if the packets of an access point's stations pass a WAN link.
    fn has_line(&self, ap: &Ap) -> bool {
        let mut at = ap;
        // A path visits each access point once at most.
        for _ in 0..self.aps.len() {
            let mesh = self
                .meshes
                .iter()
                .find(|mesh| mesh.radios.iter().any(|radio| radio.ap == at.name));
            let next = match (&at.backhaul, mesh) {
                (Backhaul::Radio(parent), _) => &parent.ap,
                // The parent is chosen when the network is built.
                (Backhaul::Best(_), _) => return self.aps.iter().any(|ap| ap.wan.is_some()),
                (Backhaul::Wired, Some(mesh)) if mesh.root != at.name => &mesh.root,
                (Backhaul::Wired, _) => break,
            };
            match self.ap(next) {
                Some(next) => at = next,
                None => break,
            }
        }
        at.wan.is_some()
    }

    fn ap(&self, name: &str) -> Option<&Ap> {
        self.aps.iter().find(|ap| ap.name == name)
    }
}
