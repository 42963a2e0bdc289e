//! Results of both programs.

use super::plan::CrosscheckPlan;
use crate::store::Entry;
use serde::{Deserialize, Serialize};

/// Values that one program measured in one run of a plan.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Values {
    /// Seed of the run.
    pub seed: u64,
    /// Goodput of each station's flow in Mbit/s.
    pub goodput: Vec<f64>,
    /// Median round trip of each station's probes in ms, of those that were answered; `None` where too few were.
    pub round_trip: Vec<Option<f64>>,
}

/// Stored result of one plan.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PlanResult {
    /// Number of the plan.
    pub plan: u64,
    /// [Digest](CrosscheckPlan::digest) of the plan.
    pub digest: String,
    /// Version of ns-3.
    pub version: String,
    /// Runs of ns-3.
    pub ns3: Vec<Values>,
    /// Runs of netburn's simulator.
    pub netburn: Vec<Values>,
    /// Runs of the lab, which has the same model of the air and the TCP of a Linux kernel. Empty for a plan that was not run there.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub kernel: Vec<Values>,
}

impl Entry for PlanResult {
    /// Number of the plan.
    type Key = u64;

    fn key(&self) -> u64 {
        self.plan
    }
}

impl PlanResult {
    /// Returns `true` if this is a result of the plan in its current form.
    #[must_use]
    pub fn is_of(&self, plan: &CrosscheckPlan) -> bool {
        self.plan == plan.number && self.digest == plan.digest()
    }

    /// The result with four significant digits of each value.
    #[must_use]
    pub fn shortened(mut self) -> Self {
        for values in self.ns3.iter_mut().chain(&mut self.netburn).chain(&mut self.kernel) {
            values.goodput.iter_mut().for_each(shorten);
            values.round_trip.iter_mut().flatten().for_each(shorten);
        }
        self
    }
}

fn shorten(value: &mut f64) {
    if let Ok(short) = format!("{value:.3e}").parse() {
        *value = short;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn result() -> PlanResult {
        let values = Values {
            seed: 1,
            goodput: vec![12.34567, 0.0],
            round_trip: vec![Some(1.0), None],
        };
        PlanResult {
            plan: 3,
            digest: "00".to_owned(),
            version: "3.44".to_owned(),
            ns3: vec![values.clone()],
            netburn: vec![values],
            kernel: Vec::new(),
        }
    }

    #[test]
    fn a_stored_result_has_four_digits() {
        let got = result().shortened();
        assert_eq!(got.ns3[0].goodput, [12.35, 0.0]);
        assert_eq!(got.netburn[0].round_trip, [Some(1.0), None]);
    }
}
