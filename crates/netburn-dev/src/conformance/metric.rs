//! Comparison of the values of two environments. Pure.

use crate::sample::{Outcome, Sample};

/// Kind of a metric, which determines its tolerance.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// Goodput of datagrams, Mbit/s: 1 %, from 400 Mbit/s on 3 %.
    Datagrams,
    /// Goodput of TCP, Mbit/s: 10 %.
    Goodput,
    /// Goodput of TCP over a wire, Mbit/s: 15 %, if the kernel's own runs are within 15 % of their median.
    Wire,
    /// A median latency, ms: 25 % or 1 ms, whichever is larger.
    Median,
    /// Verdict: the two must be equal.
    Verdict,
}

/// A metric with its value in each run of both environments.
#[derive(Debug, Clone, PartialEq)]
pub struct Metric {
    /// Name of the station, the workload and the metric.
    pub name: String,
    /// Kind, which determines the tolerance.
    pub kind: Kind,
    /// Values in the simulator. Verdicts are [numbers](super::page::number).
    pub simulator: Vec<f64>,
    /// Values in the lab.
    pub lab: Vec<f64>,
}

/// Tolerance of goodput over a wire, as a share of the kernel's value.
const WIRE_TOLERANCE: f64 = 0.15;
/// Minimum number of runs for which a range is computed.
const MIN_RUNS_FOR_RANGE: usize = 5;

impl Metric {
    /// Compares the two environments. A metric that only one environment has differs.
    #[must_use]
    pub fn outcome(&self) -> Outcome {
        let sample = |values: &[f64]| Sample::new(values.iter().copied());
        let (Some(simulator), Some(lab)) = (sample(&self.simulator), sample(&self.lab)) else {
            return if self.simulator.is_empty() && self.lab.is_empty() {
                Outcome::Agrees
            } else {
                Outcome::Differs
            };
        };
        let tolerance = match self.kind {
            Kind::Datagrams if simulator.median < 400.0 => 0.01 * simulator.median,
            Kind::Datagrams => 0.03 * simulator.median,
            Kind::Goodput => 0.1 * simulator.median,
            Kind::Wire => WIRE_TOLERANCE * lab.median,
            Kind::Median => (0.25 * simulator.median).max(1.0),
            Kind::Verdict => 0.0,
        };
        let is_scattered = match self.kind {
            Kind::Wire => {
                let (low, high) = (1.0 - WIRE_TOLERANCE, 1.0 + WIRE_TOLERANCE);
                simulator.runs.min(lab.runs) >= MIN_RUNS_FOR_RANGE
                    && (lab.min < lab.median * low || lab.max > lab.median * high)
            }
            _ => simulator.overlaps(&lab, MIN_RUNS_FOR_RANGE),
        };
        simulator.compare(&lab, tolerance, is_scattered)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn outcome(kind: Kind, simulator: &[f64], lab: &[f64]) -> Outcome {
        let metric = Metric {
            name: String::new(),
            kind,
            simulator: simulator.to_vec(),
            lab: lab.to_vec(),
        };
        metric.outcome()
    }

    #[test]
    fn tolerances_are_the_documented_ones() {
        for (kind, simulator, agrees, differs) in [
            (Kind::Datagrams, 100.0, 99.0, 98.9),
            (Kind::Datagrams, 800.0, 776.0, 775.0),
            (Kind::Goodput, 50.0, 55.0, 55.1),
            (Kind::Median, 2.0, 3.0, 3.1),
            (Kind::Median, 40.0, 30.0, 29.9),
            (Kind::Verdict, 1.0, 1.0, 2.0),
        ] {
            assert_eq!(outcome(kind, &[simulator], &[agrees]), Outcome::Agrees, "{kind:?}");
            assert_eq!(outcome(kind, &[simulator], &[differs]), Outcome::Differs, "{kind:?}");
        }
    }

    #[test]
    fn only_many_runs_have_a_spread() {
        let (low, high) = ([10.0, 20.0, 30.0, 40.0, 50.0], [45.0, 60.0, 70.0, 80.0, 90.0]);
        assert_eq!(outcome(Kind::Goodput, &low, &high), Outcome::WithinSpread);
        assert_eq!(outcome(Kind::Goodput, &low[..4], &high), Outcome::Differs);
        assert_eq!(outcome(Kind::Goodput, &low[..4], &high[1..]), Outcome::Differs);
        assert_eq!(
            outcome(Kind::Goodput, &low, &[51.0, 60.0, 60.0, 60.0, 60.0]),
            Outcome::Differs
        );
    }

    #[test]
    fn over_a_wire_the_kernel_must_agree_with_itself() {
        let (close, scattered) = ([95.0, 98.0, 100.0, 102.0, 110.0], [80.0, 98.0, 100.0, 102.0, 110.0]);
        assert_eq!(outcome(Kind::Wire, &[115.0; 5], &close), Outcome::Agrees);
        assert_eq!(outcome(Kind::Wire, &[84.0; 5], &close), Outcome::Differs);
        assert_eq!(outcome(Kind::Wire, &[84.0; 5], &scattered), Outcome::WithinSpread);
    }

    #[test]
    fn a_metric_of_only_one_environment_differs() {
        assert_eq!(outcome(Kind::Median, &[], &[]), Outcome::Agrees);
        assert_eq!(outcome(Kind::Median, &[1.0], &[]), Outcome::Differs);
    }
}
