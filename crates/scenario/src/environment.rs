//! Where a scenario runs, and what it must say there.

use crate::node::Place;
use crate::plan::{Joins, Plan, Station};
use crate::problem::{Problem, ScenarioError};
use netburn_tcp::config::CongestionControl;
use serde::{Deserialize, Serialize};
use std::fmt;
use std::str::FromStr;

/// Where a scenario runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Environment {
    /// All of it modelled, in virtual time.
    Simulate,
    /// Real programs and the kernel's TCP, the air modelled.
    Lab,
    /// Real traffic between processes on this machine.
    Local,
    /// Real devices on real air.
    Fleet,
    /// Nowhere here: another program measured, and its file was made a run. No scenario runs on it.
    Imported,
}

impl Environment {
    /// All that a scenario can run on.
    pub const ALL: [Environment; 4] = [
        Environment::Simulate,
        Environment::Lab,
        Environment::Local,
        Environment::Fleet,
    ];

    /// As it is written.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Environment::Simulate => "simulate",
            Environment::Lab => "lab",
            Environment::Local => "local",
            Environment::Fleet => "fleet",
            Environment::Imported => "imported",
        }
    }

    /// Whether the air is modelled there, so that the scenario must describe it.
    #[must_use]
    pub const fn models_air(self) -> bool {
        matches!(self, Environment::Simulate | Environment::Lab)
    }

    /// Whether clocks and processors are real there, so that they may be what is measured.
    #[must_use]
    pub const fn is_real(self) -> bool {
        !matches!(self, Environment::Simulate | Environment::Imported)
    }
}

impl fmt::Display for Environment {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// A word that names no environment.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is no environment; it is `simulate`, `lab`, `local` or `fleet`")]
pub struct ParseEnvironmentError(String);

impl FromStr for Environment {
    type Err = ParseEnvironmentError;

    fn from_str(text: &str) -> Result<Self, ParseEnvironmentError> {
        let known = Environment::ALL
            .into_iter()
            .find(|environment| environment.name() == text);
        known.ok_or_else(|| ParseEnvironmentError(text.to_owned()))
    }
}

impl Plan {
    /// Checks that the plan says all that `environment` needs, and tells what the environment takes no notice of.
    ///
    /// # Errors
    /// Everything that is missing.
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
        if environment == Environment::Simulate {
            for (path, cc) in self.congestion_controls() {
                if let CongestionControl::System(name) = cc {
                    let message = format!("`{name}` can't be modelled");
                    let help = "on simulate it is `reno`, `cubic` or `bbr`".to_owned();
                    problems.push(Problem::new(Place::Whole, &path, message, Some(help)));
                }
            }
        }
        problems
    }

    /// Every congestion control that the plan names, with its key.
    pub fn congestion_controls(&self) -> impl Iterator<Item = (String, &CongestionControl)> {
        let server = std::iter::once(("server.cc".to_owned(), &self.server.cc));
        let stations = self.stations.iter().map(|s| (format!("station.{}.cc", s.name), &s.cc));
        let workloads = self.stations.iter().flat_map(|station| &station.workloads);
        let workloads = workloads.map(|workload| (format!("workload.{}.cc", workload.name), &workload.cc));
        let all = server.chain(stations).chain(workloads);
        all.filter_map(|(path, cc)| Some((path, cc.as_ref()?)))
    }

    fn missing_air(&self, environment: Environment, problems: &mut Vec<Problem>) {
        let mut missing = |path: String, message: String, help: String| {
            problems.push(Problem::new(Place::Whole, &path, message, Some(help)));
        };
        let on_air = |station: &&Station| station.link.is_none();
        if self.stations.iter().filter(on_air).count() == 0 {
            return;
        }
        if self.aps.is_empty() {
            let help = format!(
                "begin one with `[ap.home.radio.5g]`, or run it with `--on local`; {environment} models the air"
            );
            missing(String::new(), "there is no access point".to_owned(), help);
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
                let message = format!("{environment} needs to know what it joins");
                missing(path.clone(), message, format!("say so: `joins = \"{to_join}\"`"));
            }
            if station.air.quality.is_none() {
                let message = format!("{environment} needs to know how good its link is");
                let help = "say so: `signal = \"-60 dBm\"`, `distance = \"6 m\"` or `mcs = 7`";
                missing(path, message, help.to_owned());
            }
        }
    }

    pub(crate) fn notes_on(&self, environment: Environment) -> Vec<String> {
        let mut notes = Vec::new();
        if self.stations.iter().all(|station| station.workloads.is_empty()) {
            notes.push("no station has a workload: nothing will move".to_owned());
        }
        notes.extend(self.ineffective_on(environment).iter().map(ToString::to_string));
        notes
    }

    /// The access points that a station may come to use.
    #[must_use]
    pub fn radios_of<'p>(&'p self, joins: &'p Joins) -> Vec<&'p crate::plan::RadioRef> {
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
