//! Description of a sweep, `sweep.json`: whether a folder belongs to it.

use super::check::{Checked, InvalidCells};
use super::grid::Grid;
use serde::{Deserialize, Serialize};

/// The schema of `sweep.json`.
pub const SCHEMA: &str = "netburn.sweep/1";

/// Description of a sweep.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct Identity {
    schema: String,
    version: String,
    scenario: String,
    vary: Vec<Varied>,
    repeat: u32,
    runs: u64,
    /// Number of runs of invalid cells.
    #[serde(default, skip_serializing_if = "is_none")]
    impossible_runs: u64,
    fingerprint: String,
    /// Plan of the first valid run.
    plan: serde_json::Value,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes fields by reference")]
fn is_none(count: &u64) -> bool {
    *count == 0
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct Varied {
    key: String,
    values: Vec<String>,
}

impl Identity {
    pub(super) fn new(grid: &Grid, checked: &Checked) -> Self {
        let vary = grid.keys().iter().zip(grid.values());
        let plan = grid.first_plan();
        let impossible = checked.impossible.as_ref().map_or(0, InvalidCells::count);
        Identity {
            schema: SCHEMA.to_owned(),
            version: env!("CARGO_PKG_VERSION").to_owned(),
            scenario: plan.as_ref().map(|plan| plan.name.clone()).unwrap_or_default(),
            vary: vary
                .map(|(key, values)| Varied {
                    key: key.clone(),
                    values: values.clone(),
                })
                .collect(),
            repeat: grid.repeat(),
            runs: grid.runs(),
            impossible_runs: impossible * u64::from(grid.repeat()),
            fingerprint: format!("{:016x}", checked.fingerprint),
            plan: plan.map(|plan| plan.to_json()).unwrap_or_default(),
        }
    }

    /// Content of the file.
    pub(super) fn text(&self) -> String {
        serde_json::to_string_pretty(self).expect("it has only text for keys") + "\n"
    }

    /// Reads the content of the file. `None` if it is not a description.
    pub(super) fn parse(text: &[u8]) -> Option<Self> {
        serde_json::from_slice(text).ok()
    }

    /// Returns the difference between this sweep, found in a folder, and the requested one.
    pub(super) fn difference(&self, wanted: &Identity) -> Option<String> {
        let keys = |identity: &Identity| -> Vec<String> { identity.vary.iter().map(|v| v.key.clone()).collect() };
        let differs =
            |what: &str, found: &str, expected: &str| Some(format!("found {what} {found}, expected {expected}"));
        if self.schema != wanted.schema {
            return differs("the format", &self.schema, &wanted.schema);
        }
        if self.version != wanted.version {
            return differs("netburn", &self.version, &wanted.version);
        }
        if self.scenario != wanted.scenario {
            return differs("the scenario", &self.scenario, &wanted.scenario);
        }
        if keys(self) != keys(wanted) {
            return differs("the keys", &keys(self).join(", "), &keys(wanted).join(", "));
        }
        for (one, other) in self.vary.iter().zip(&wanted.vary) {
            if one.values != other.values {
                return Some(format!("found other values of `{}`", one.key));
            }
        }
        if self.repeat != wanted.repeat {
            return Some(format!(
                "found {} runs of each cell, expected {}",
                self.repeat, wanted.repeat
            ));
        }
        (self.fingerprint != wanted.fingerprint).then(|| "the scenario or its settings have changed".to_owned())
    }
}
