//! Targets of probes: which of them a station has, and where the model can answer them.

use crate::environment::Environment;
use crate::node::Place;
use crate::plan::{Device, Plan, Port, RadioRef, Station};
use crate::problem::Problem;
use netburn_workload::ProbeTarget;

impl Station {
    /// Targets whose idle latency is measured before the load: the server, and the targets of the station's probes. In
    /// the order of a packet's way.
    #[must_use]
    pub fn idle_targets(&self) -> Vec<ProbeTarget> {
        let probes = |target| {
            let mut configs = self.workloads.iter().map(|workload| &workload.config);
            configs.any(|config| config.target() == Some(target))
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
                let (name, target) = (workload.name.as_str(), workload.config.target());
                let Some(target) = target.filter(|target| *target != ProbeTarget::Server) else {
                    continue;
                };
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
                let on_wire = station.link.as_ref();
                if on_wire.is_some_and(|link| link.to == Port::Server) {
                    let message = "a station with a `link` to the server has no access point".to_owned();
                    let help = format!("{correction}, or use `wired` instead of `link`");
                    report(name, target, message, help);
                } else if target == ProbeTarget::Line
                    && let Some((router, what)) = self.without_line(station)
                {
                    let message = format!("{what} has no WAN link");
                    report(name, target, message, format!("add `[{router}.wan]`, or {correction}"));
                }
            }
        }
    }

    /// First router without a WAN link that a station's packets can pass: its key, and its description.
    fn without_line(&self, station: &Station) -> Option<(String, String)> {
        let devices: Vec<Device> = match &station.link {
            Some(link) => self.device_at(&link.to).into_iter().collect(),
            None => {
                let radios = self.radios_of(station.air.joins.as_ref()?);
                let ap = |radio: &RadioRef| self.aps.iter().position(|ap| ap.name == radio.ap);
                radios.into_iter().filter_map(ap).map(Device::Ap).collect()
            }
        };
        let without = devices.into_iter().find_map(|device| {
            let Some(router) = self.router_behind(device) else {
                // The parent is chosen when the network is built.
                return self.lines().is_empty().then_some(device);
            };
            self.wan(router).is_none().then_some(router)
        })?;
        let what = match without {
            Device::Router => "the router".to_owned(),
            Device::Ap(ap) => format!("access point `{}`", self.aps[ap].name),
        };
        Some((self.key_of(without), what))
    }
}
