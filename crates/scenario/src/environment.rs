//! Environments of runs.

use serde::{Deserialize, Serialize};
use std::fmt;
use std::str::FromStr;

/// Environment in which a scenario runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Environment {
    /// Modelled Wi-Fi and TCP in simulated time.
    Simulate,
    /// Real programs and the kernel's TCP around a modelled access point, in real time.
    Lab,
    /// Real programs and the kernel's TCP on the loopback device, without Wi-Fi.
    Local,
    /// Real devices on a real network.
    Fleet,
    /// Results of another program that were converted to a record. No scenario runs here.
    Imported,
}

/// Environments that model the air and the path to the server.
pub(crate) const MODELLED: &[Environment] = &[Environment::Simulate, Environment::Lab];
/// Environments that model the hosts.
pub(crate) const SIMULATE: &[Environment] = &[Environment::Simulate];
/// Environments with agents that can be chosen.
pub(crate) const FLEET: &[Environment] = &[Environment::Fleet];

impl Environment {
    /// Environments in which a scenario can run.
    pub const ALL: [Environment; 4] = [
        Environment::Simulate,
        Environment::Lab,
        Environment::Local,
        Environment::Fleet,
    ];

    /// Name in files and on the command line.
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

    /// Returns `true` if the air is modelled, so that the scenario must describe it.
    #[must_use]
    pub const fn models_air(self) -> bool {
        matches!(self, Environment::Simulate | Environment::Lab)
    }

    /// Returns `true` if clocks and processors are real, so that they can affect the results.
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

/// Unknown name of an environment.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("unknown environment `{0}`; expected `simulate`, `lab`, `local` or `fleet`")]
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
