//! Comparison of the values of two environments. Pure.

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

/// Result of the comparison of a metric.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Outcome {
    /// The medians are within the tolerance.
    Agrees,
    /// The medians differ, but the ranges of at least five runs in each environment overlap.
    WithinSpread,
    /// The medians differ by more than the tolerance.
    Differs,
    /// The self-check of the lab failed, so its value is unreliable.
    Unreliable,
}

/// Tolerance of goodput over a wire, as a share of the kernel's value.
const WIRE_TOLERANCE: f64 = 0.15;
/// Minimum number of runs for which a range is computed.
const MIN_RUNS_FOR_RANGE: usize = 5;

impl Metric {
    /// Compares the two environments. A metric that only one environment has differs.
    #[must_use]
    pub fn outcome(&self) -> Outcome {
        let (Some(simulator), Some(lab)) = (median(&self.simulator), median(&self.lab)) else {
            return if self.simulator.is_empty() && self.lab.is_empty() {
                Outcome::Agrees
            } else {
                Outcome::Differs
            };
        };
        let allowed = match self.kind {
            Kind::Datagrams if simulator < 400.0 => 0.01 * simulator,
            Kind::Datagrams => 0.03 * simulator,
            Kind::Goodput => 0.1 * simulator,
            Kind::Wire => WIRE_TOLERANCE * lab,
            Kind::Median => (0.25 * simulator).max(1.0),
            Kind::Verdict => 0.0,
        };
        if (simulator - lab).abs() <= allowed {
            return Outcome::Agrees;
        }
        let enough = self.simulator.len() >= MIN_RUNS_FOR_RANGE && self.lab.len() >= MIN_RUNS_FOR_RANGE;
        let ((a, b), (c, d)) = (range(&self.simulator), range(&self.lab));
        let scattered = c < lab * (1.0 - WIRE_TOLERANCE) || d > lab * (1.0 + WIRE_TOLERANCE);
        let within = match self.kind {
            Kind::Wire => scattered,
            _ => a <= d && c <= b,
        };
        if enough && within {
            Outcome::WithinSpread
        } else {
            Outcome::Differs
        }
    }
}

/// Median; the lower of the two middle values if their number is even, so that it is a measured value.
#[must_use]
pub fn median(values: &[f64]) -> Option<f64> {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    sorted.get(sorted.len().checked_sub(1)? / 2).copied()
}

/// Minimum and maximum.
#[must_use]
pub fn range(values: &[f64]) -> (f64, f64) {
    let least = values.iter().copied().fold(f64::INFINITY, f64::min);
    (least, values.iter().copied().fold(f64::NEG_INFINITY, f64::max))
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
        assert_eq!(median(&[3.0, 1.0, 2.0, 9.0]), Some(2.0));
    }
}
