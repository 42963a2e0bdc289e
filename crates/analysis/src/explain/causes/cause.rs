//! A cause, as plain data.

use super::Kind;
use serde::{Deserialize, Serialize};

/// A cause of a problem.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Cause {
    /// Kind.
    pub kind: Kind,
    /// Severity.
    pub severity: Severity,
    /// One line. Names in it come from the scenario unchanged.
    pub title: String,
    /// Evidence: one or two sentences with values.
    pub evidence: String,
    /// Suggested remedy.
    pub advice: String,
    /// Affected stations, in the plan's order.
    pub stations: Vec<String>,
    /// Stations that cause the problem, in the plan's order; empty if no station does.
    pub by: Vec<String>,
}

/// Result of an analysis.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Explanation {
    /// The causes, the most severe first.
    pub causes: Vec<Cause>,
    /// Problems of stations that no cause names, neither as affected nor as its origin, in the plan's order.
    pub unexplained: Vec<Unexplained>,
}

/// A station that misses a goal or is slow, and that no cause names.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Unexplained {
    /// The station.
    pub station: String,
    /// Problems, one per workload: `4kstream met …`.
    pub what: Vec<String>,
}

/// Severity of a cause.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Severity {
    /// A station gets less than it could, but misses no goal.
    Notable,
    /// A goal was failed, or nearly so, because of it.
    Serious,
    /// The cause makes the results themselves unreliable.
    Measurement,
}

impl Explanation {
    /// Returns true if nothing was found.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.causes.is_empty() && self.unexplained.is_empty()
    }

    /// Removes what the load explains, for a measurement whose load fills the network on purpose.
    pub(crate) fn keep_unreliable(&mut self) {
        self.causes.retain(|cause| cause.severity == Severity::Measurement);
        self.unexplained.clear();
    }
}

impl Unexplained {
    /// One or two sentences.
    #[must_use]
    pub fn sentence(&self) -> String {
        format!("{}: {}. No known cause matches.", self.station, self.what.join("; "))
    }
}

impl Severity {
    /// Name in documents.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Severity::Notable => "notable",
            Severity::Serious => "serious",
            Severity::Measurement => "measurement",
        }
    }
}
