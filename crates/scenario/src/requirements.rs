//! Keys of a plan that an environment needs, and notes on those without effect there.

use crate::environment::Environment;
use crate::node::Place;
use crate::plan::{Ap, Device, Joins, Plan, Port, RadioRef, Station, ToUnicast};
use crate::problem::{Problem, ScenarioError};
use netburn_medium::config::RadioConfig;
use netburn_tcp::config::CongestionControl;

impl Plan {
    /// Checks that the plan has all keys that `environment` needs. Returns notes on keys without effect there.
    ///
    /// # Errors
    /// Keys are missing; the error lists all of them.
    pub fn check_for(&self, environment: Environment) -> Result<Vec<String>, ScenarioError> {
        let missing = self.missing_on(environment);
        if missing.is_empty() {
            return Ok(self.notes_on(environment));
        }
        let source = crate::problem::Source {
            name: self.name.clone(),
            ..Default::default()
        };
        Err(ScenarioError::new(&source, missing))
    }

    pub(crate) fn missing_on(&self, environment: Environment) -> Vec<Problem> {
        let mut problems = Vec::new();
        if environment.models_air() {
            self.missing_air(environment, &mut problems);
        }
        self.unanswered_probes(environment, &mut problems);
        if environment != Environment::Simulate {
            self.missing_servers(environment, &mut problems);
        }
        if environment == Environment::Simulate {
            for (path, cc) in self.congestion_controls() {
                if let CongestionControl::System(name) = cc {
                    let message = format!("`{name}` is not modelled on simulate");
                    let help = "expected `reno`, `cubic` or `bbr`".to_owned();
                    problems.push(Problem::new(Place::Whole, &path, message, Some(help)));
                }
            }
        }
        problems
    }

    /// Returns every congestion control in the plan, with the path of its key.
    pub fn congestion_controls(&self) -> impl Iterator<Item = (String, &CongestionControl)> {
        let server = std::iter::once(("server.cc".to_owned(), &self.server.cc));
        let stations = self.stations.iter().map(|s| (format!("station.{}.cc", s.name), &s.cc));
        let workloads = self.stations.iter().flat_map(|station| &station.workloads);
        let workloads = workloads.map(|workload| (format!("workload.{}.cc", workload.name), &workload.cc));
        let all = server.chain(stations).chain(workloads);
        all.filter_map(|(path, cc)| Some((path, cc.as_ref()?)))
    }

    /// Reports workloads whose server is a station, where stations have no server.
    fn missing_servers(&self, environment: Environment, problems: &mut Vec<Problem>) {
        for station in &self.stations {
            for workload in &station.workloads {
                let Some(server) = &workload.server else { continue };
                let message = format!(
                    "`{}` has the server `{server}`, and {environment} has no servers at stations",
                    workload.name
                );
                let help = format!(
                    "remove `server` from `[workload.{}]`, or use `--on simulate`",
                    workload.name
                );
                let path = format!("station.{}.workload", station.name);
                problems.push(Problem::new(Place::Whole, &path, message, Some(help)));
            }
        }
    }

    fn missing_air(&self, environment: Environment, problems: &mut Vec<Problem>) {
        let mut missing = |path: String, message: String, help: String| {
            problems.push(Problem::new(Place::Whole, &path, message, Some(help)));
        };
        for ap in self.aps.iter().filter(|ap| ap.is_only_observed()) {
            let message = format!("the access point has no radios, and {environment} models the air");
            let help = format!("add `rating = \"AC1750\"`, or a radio: `[ap.{}.radio.5g]`", ap.name);
            missing(format!("ap.{}", ap.name), message, help);
        }
        let on_air = |station: &&Station| station.link.is_none();
        if self.stations.iter().filter(on_air).count() == 0 {
            return;
        }
        if self.aps.is_empty() {
            let help = format!("add one with `[ap.home.radio.5g]`, or use `--on local`; {environment} models the air");
            missing(String::new(), "no access point".to_owned(), help);
            return;
        }
        let to_join = self
            .networks
            .first()
            .map(|network| network.name.clone())
            .or_else(|| {
                self.aps
                    .iter()
                    .find_map(|ap| Some(format!("{}.{}", ap.name, ap.radios.first()?.name)))
            })
            .unwrap_or_else(|| format!("{}.5g", self.aps[0].name));
        for station in self.stations.iter().filter(on_air) {
            let path = format!("station.{}", station.name);
            if station.air.joins.is_none() {
                let message = format!("missing `joins`, which {environment} needs");
                missing(path.clone(), message, format!("add `joins = \"{to_join}\"`"));
            }
            let described = !station.air.path.is_empty() || !station.air.signals.is_empty();
            if station.air.quality.is_none() && !described {
                let message = format!("missing link quality, which {environment} needs");
                let help = if self.aps.iter().any(|ap| ap.position.is_some()) {
                    "add `position = \"3 m, 2 m\"`, `signal = \"-60 dBm\"`, `distance = \"6 m\"` or `mcs = 7`"
                } else {
                    "add `signal = \"-60 dBm\"`, `distance = \"6 m\"` or `mcs = 7`"
                };
                missing(path, message, help.to_owned());
            }
        }
    }

    /// Notes on keys without effect on `environment`.
    #[must_use]
    pub fn notes_on(&self, environment: Environment) -> Vec<String> {
        let mut notes = Vec::new();
        if self.stations.iter().all(|station| station.workloads.is_empty()) {
            notes.push("no station has a workload: the run has no traffic".to_owned());
        }
        if environment.models_air() {
            notes.extend(self.bypasses());
            notes.extend(self.multicast_notes(environment));
        }
        notes.extend(self.ineffective_on(environment).iter().map(ToString::to_string));
        notes
    }

    /// Airtime of the multicast of access points, and what the lab does not do with it.
    fn multicast_notes(&self, environment: Environment) -> Vec<String> {
        let mut notes = Vec::new();
        for ap in &self.aps {
            let Some(multicast) = &ap.multicast else { continue };
            for (radio, config) in self.multicast_radios(ap) {
                let (packets, duration) = (multicast.packets_per_second(), multicast.frame_duration(&config));
                let percent = 100.0 * multicast.airtime(&config);
                notes.push(format!(
                    "`ap.{}.multicast`: {packets:.0} frames of {duration} in each second need {percent:.0} % of the airtime of {radio}",
                    ap.name
                ));
            }
            if environment == Environment::Lab {
                notes.push(format!(
                    "`ap.{}.multicast` only uses airtime in the lab: programs receive none of its packets",
                    ap.name
                ));
            }
        }
        notes
    }

    /// Stations and access points that are next to the server's link although the plan has a line.
    fn bypasses(&self) -> Vec<String> {
        let lines = self.lines();
        let Some(line) = lines.first() else {
            return Vec::new();
        };
        let to_server = |station: &&Station| station.link.as_ref().is_some_and(|link| link.to == Port::Server);
        let stations: Vec<&str> = self
            .stations
            .iter()
            .filter(to_server)
            .map(|station| station.name.as_str())
            .collect();
        let aps: Vec<&str> = self
            .edges()
            .filter(|ap| self.router.is_none() && ap.wan.is_none())
            .map(|ap| ap.name.as_str())
            .collect();
        let note = |names: &[&str], what: &str, correction: String| {
            let (verb, names) = (if names.len() == 1 { "bypasses" } else { "bypass" }, names.join(", "));
            format!(
                "{names} {verb} the line `{}`: {what} leads to the server; {correction}",
                line.key
            )
        };
        let mut notes = Vec::new();
        if !stations.is_empty() {
            let correction = "use `wired = true` instead for a cable to the router".to_owned();
            notes.push(note(&stations, "a `link` without `to`", correction));
        }
        if let (false, Device::Ap(ap)) = (aps.is_empty(), line.router) {
            let correction = format!("use `backhaul = \"{}\"` for a cable to the router", self.aps[ap].name);
            notes.push(note(&aps, "the cable of an access point", correction));
        }
        notes
    }

    /// Radios of an access point that send its multicast as group-addressed frames: those that a station can join, and
    /// with IGMP snooping those that a member can join.
    #[must_use]
    pub fn multicast_radios(&self, ap: &Ap) -> Vec<(RadioRef, RadioConfig)> {
        let Some(multicast) = ap.multicast.as_ref().filter(|at| at.to_unicast == ToUnicast::Off) else {
            return Vec::new();
        };
        let counts = |station: &&Station| !multicast.snooping || multicast.to.contains(&station.name);
        let stations = self.stations.iter().filter(|station| station.link.is_none());
        let joins = stations.filter(counts).filter_map(|station| station.air.joins.as_ref());
        let joined: Vec<&RadioRef> = joins.flat_map(|joins| self.radios_of(joins)).collect();
        let radios = ap.all_radios().unwrap_or_default().into_iter().map(|(radio, config)| {
            let ap = ap.name.clone();
            (RadioRef { ap, radio }, config)
        });
        radios.filter(|(radio, _)| joined.contains(&radio)).collect()
    }

    /// Returns the radios that a station can use.
    #[must_use]
    pub fn radios_of<'p>(&'p self, joins: &'p Joins) -> Vec<&'p RadioRef> {
        match joins {
            Joins::Radio(radio) => vec![radio],
            Joins::Network(name) => {
                let network = self.networks.iter().find(|network| network.name == *name);
                network
                    .map(|network| network.radios.iter().collect())
                    .unwrap_or_default()
            }
        }
    }
}
