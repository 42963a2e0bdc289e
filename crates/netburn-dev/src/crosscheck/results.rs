//! Results of both programs as JSON lines, one line for each plan.

use super::plan::CrosscheckPlan;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

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

/// Invalid line in a file of results.
#[derive(Debug, thiserror::Error)]
#[error("line {line}: invalid result of a plan: {why}")]
pub struct ResultsError {
    /// Line in the file, from 1.
    pub line: usize,
    why: serde_json::Error,
}

impl PlanResult {
    /// Returns `true` if this is a result of the plan in its current form.
    #[must_use]
    pub fn is_of(&self, plan: &CrosscheckPlan) -> bool {
        self.plan == plan.number && self.digest == plan.digest()
    }

    /// Returns one line of JSON without a line break. Values have four significant digits.
    #[must_use]
    pub fn line(&self) -> String {
        let mut short = self.clone();
        for values in short.ns3.iter_mut().chain(&mut short.netburn).chain(&mut short.kernel) {
            values.goodput.iter_mut().for_each(shorten);
            values.round_trip.iter_mut().flatten().for_each(shorten);
        }
        serde_json::to_string(&short).expect("numbers and texts are JSON")
    }
}

/// Reads a file of results. The last line of a plan counts. An incomplete line, left by an interrupted run, is ignored.
///
/// # Errors
/// A line is not a result.
pub fn read(text: &str) -> Result<BTreeMap<u64, PlanResult>, ResultsError> {
    let mut results = BTreeMap::new();
    for (line, content) in text.split_inclusive('\n').enumerate() {
        if !content.ends_with('\n') || content.trim().is_empty() {
            continue;
        }
        let result: PlanResult = serde_json::from_str(content).map_err(|why| ResultsError { line: line + 1, why })?;
        results.insert(result.plan, result);
    }
    Ok(results)
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
    fn a_line_is_read_again() {
        let mut read_again = read(&(result().line() + "\n")).unwrap();
        let got = read_again.remove(&3).unwrap();
        assert_eq!(got.ns3[0].goodput, [12.35, 0.0]);
        assert_eq!(got.netburn[0].round_trip, [Some(1.0), None]);
    }

    #[test]
    fn the_last_line_of_a_plan_counts_and_half_a_line_does_not() {
        let mut later = result();
        later.version = "3.45".to_owned();
        let text = format!("{}\n{}\n{}", result().line(), later.line(), &result().line()[..40]);
        let read = read(&text).unwrap();
        assert_eq!((read.len(), read[&3].version.as_str()), (1, "3.45"));
        assert_eq!(super::read("{}\n").unwrap_err().line, 1);
    }
}
