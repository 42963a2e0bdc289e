//! Whether two environments agree: pure.

/// What a figure is, which decides how close the two have to be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    /// Goodput of datagrams, Mbit/s: 1 %, from 400 Mbit/s on 3 %.
    Datagrams,
    /// Goodput of TCP, Mbit/s: 10 %.
    Goodput,
    /// Goodput of TCP over a wire, Mbit/s: 15 %, where the kernel's own runs are that close to their median.
    Wire,
    /// A median latency, ms: 25 % or 1 ms, whichever is more.
    Median,
    /// A verdict: equal.
    Verdict,
}

/// One figure, of every run on both environments.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Figure {
    /// Whose and what.
    pub(super) what: String,
    /// What it is.
    pub(super) kind: Kind,
    /// What the simulator says; verdicts as numbers.
    pub(super) simulator: Vec<f64>,
    /// What the lab says.
    pub(super) lab: Vec<f64>,
}

/// How the two compare.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Outcome {
    /// The medians are within the tolerance.
    Agrees,
    /// The medians are not, but the ranges of five and more runs on each environment overlap: it is chaotic.
    WithinSpread,
    /// They are not.
    Differs,
    /// The lab's own self-check doubts its figure, so it says nothing.
    Doubted,
}

/// Tolerance of goodput over a wire, relative to the kernel's.
const WIRE_TOLERANCE: f64 = 0.15;
/// The fewest runs whose range is said to be one.
const ENOUGH: usize = 5;

impl Figure {
    /// How the two compare. An environment that has no figure where the other has one differs.
    pub(super) fn outcome(&self) -> Outcome {
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
        let enough = self.simulator.len() >= ENOUGH && self.lab.len() >= ENOUGH;
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

/// The middle one; of an even number the lower of the two, so that it is one that was measured.
pub(super) fn median(values: &[f64]) -> Option<f64> {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    sorted.get(sorted.len().checked_sub(1)? / 2).copied()
}

/// The least and the most.
pub(super) fn range(values: &[f64]) -> (f64, f64) {
    let least = values.iter().copied().fold(f64::INFINITY, f64::min);
    (least, values.iter().copied().fold(f64::NEG_INFINITY, f64::max))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn outcome(kind: Kind, simulator: &[f64], lab: &[f64]) -> Outcome {
        let figure = Figure {
            what: String::new(),
            kind,
            simulator: simulator.to_vec(),
            lab: lab.to_vec(),
        };
        figure.outcome()
    }

    #[test]
    fn tolerances_are_those_that_are_stated() {
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
    fn one_that_says_nothing_differs() {
        assert_eq!(outcome(Kind::Median, &[], &[]), Outcome::Agrees);
        assert_eq!(outcome(Kind::Median, &[1.0], &[]), Outcome::Differs);
        assert_eq!(median(&[3.0, 1.0, 2.0, 9.0]), Some(2.0));
    }
}
