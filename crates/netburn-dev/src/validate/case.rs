//! A validation case: input, expected values of a source, and tolerances.

use super::kind::Kind;
use super::quantity::{Dimension, parse};
use netburn_units::{Probability, format_decimal};
use serde::{Deserialize, Serialize};

/// A validation case.
#[derive(Debug)]
pub struct Case {
    /// Name, unique within the file.
    pub name: String,
    /// Source of the expected values.
    pub source: String,
    /// Quality of the source.
    pub trust: SourceQuality,
    /// Input of the case.
    pub input: Box<dyn Kind>,
    /// Expected values.
    pub expectations: Vec<Expectation>,
}

/// Origin of an expected value.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Deserialize, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum SourceQuality {
    /// Read in the given source.
    Verified,
    /// Computed by hand or by formula from the source.
    Derived,
    /// Result of another simulator.
    Simulated,
    /// A published measurement.
    Measured,
    /// From the literature, quoted from memory.
    Recalled,
    /// Goal for the model without a published value.
    Goal,
}

/// Expected value of one metric.
#[derive(Debug, Clone)]
pub struct Expectation {
    /// Metric; one of those of the case's kind.
    pub metric: String,
    /// Dimension of the metric.
    pub dimension: Dimension,
    /// Expected value or bound.
    pub goal: Goal,
    /// Known difference between source and model, or between source and comparison.
    pub deviation: Option<Deviation>,
}

/// Expected value or bound of a metric.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Goal {
    /// A value with a tolerance.
    Near(f64, Tolerance),
    /// Upper bound.
    AtMost(f64),
    /// Lower bound.
    AtLeast(f64),
}

/// Maximum difference between a metric and its expected value.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Tolerance {
    /// No difference.
    Exact,
    /// Share of the expected value.
    Relative(f64),
    /// Difference in the metric's unit.
    Absolute(f64),
}

/// A known difference between source and model, or between source and comparison.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Deviation {
    /// Description of the difference.
    pub what: String,
    /// Reason of the difference.
    pub reason: String,
    /// Effect on the values.
    pub impact: String,
    /// Maximum difference of a metric beyond its tolerance that this deviation explains; `None`: it explains no difference.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub explains: Option<String>,
}

/// Result of a comparison with an expected value.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum CaseResult {
    /// Within the tolerance.
    Within,
    /// Beyond the tolerance, but within the limit of a known deviation.
    Explained,
    /// Beyond the tolerance.
    Beyond,
}

impl SourceQuality {
    /// Name in case files.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            SourceQuality::Verified => "verified",
            SourceQuality::Derived => "derived",
            SourceQuality::Simulated => "simulated",
            SourceQuality::Measured => "measured",
            SourceQuality::Recalled => "recalled",
            SourceQuality::Goal => "goal",
        }
    }
}

impl Tolerance {
    /// Parses `"exact"`, a percentage of the expected value, or a value in the metric's unit.
    ///
    /// # Errors
    /// The text is invalid; the message contains the expected form.
    pub fn read(text: &str, dimension: Dimension) -> Result<Self, String> {
        if text.trim() == "exact" {
            return Ok(Tolerance::Exact);
        }
        if text.contains('%') {
            return parse::<Probability>(text).map(|share| Tolerance::Relative(share.as_f64()));
        }
        let wrong = |why| {
            format!("{why} (expected \"exact\", a percentage of the expected value, or a value in the metric's unit)")
        };
        dimension
            .read(text)
            .map(|by| Tolerance::Absolute(by.abs()))
            .map_err(wrong)
    }

    /// Formats the tolerance.
    #[must_use]
    pub fn show(self, dimension: Dimension) -> String {
        match self {
            Tolerance::Exact => "exact".to_owned(),
            Tolerance::Relative(share) => format!("{} %", format_decimal(share * 100.0, 3)),
            Tolerance::Absolute(by) => format!("± {}", dimension.show(by)),
        }
    }
}

impl Goal {
    /// Expected value, or the bound.
    #[must_use]
    pub const fn value(&self) -> f64 {
        match self {
            Goal::Near(value, _) | Goal::AtMost(value) | Goal::AtLeast(value) => *value,
        }
    }

    /// Returns the difference of `measured` divided by the tolerance: up to 1, it is within the tolerance. For a bound: 0 or 2.
    #[must_use]
    pub fn tolerance_used(&self, measured: f64) -> f64 {
        let within = |ok| if ok { 0.0 } else { 2.0 };
        let off = (measured - self.value()).abs();
        // Rounding errors of binary fractions are not deviations.
        let dust = 1e-9 * self.value().abs().max(1.0);
        match *self {
            _ if !measured.is_finite() => f64::INFINITY,
            Goal::AtMost(bound) => within(measured <= bound + dust),
            Goal::AtLeast(bound) => within(measured >= bound - dust),
            Goal::Near(_, Tolerance::Exact) => within(off <= dust),
            Goal::Near(value, Tolerance::Relative(share)) => share_of(off, share * value.abs(), dust),
            Goal::Near(_, Tolerance::Absolute(by)) => share_of(off, by, dust),
        }
    }

    /// Formats the tolerance or the type of bound.
    #[must_use]
    pub fn tolerance(&self, dimension: Dimension) -> String {
        match self {
            Goal::AtMost(_) => "at most".to_owned(),
            Goal::AtLeast(_) => "at least".to_owned(),
            Goal::Near(_, tolerance) => tolerance.show(dimension),
        }
    }
}

fn share_of(off: f64, allowed: f64, dust: f64) -> f64 {
    if off <= dust { 0.0 } else { off / (allowed + dust) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tolerances() {
        let read = |text| Tolerance::read(text, Dimension::Rate);
        assert_eq!(read("exact"), Ok(Tolerance::Exact));
        assert_eq!(read("1 %"), Ok(Tolerance::Relative(0.01)));
        assert_eq!(read("0.1 Mbit/s"), Ok(Tolerance::Absolute(0.1)));
        assert!(read("0.1").unwrap_err().contains("\"exact\""));
        assert_eq!(Tolerance::Relative(0.035).show(Dimension::Rate), "3.5 %");
        assert_eq!(Tolerance::Absolute(0.1).show(Dimension::Rate), "± 0.1 Mbit/s");
    }

    #[test]
    fn values_within_tolerance() {
        let near = |tolerance| Goal::Near(20.0, tolerance);
        assert!((near(Tolerance::Relative(0.01)).tolerance_used(20.1) - 0.5).abs() < 1e-6);
        assert!(near(Tolerance::Relative(0.01)).tolerance_used(20.21) > 1.0);
        assert!(near(Tolerance::Absolute(0.5)).tolerance_used(20.5) <= 1.0);
        assert!(near(Tolerance::Exact).tolerance_used(20.0) <= 1.0);
        assert!(near(Tolerance::Exact).tolerance_used(20.1) > 1.0);
        assert!(Goal::AtMost(5.0).tolerance_used(5.0) <= 1.0);
        assert!(Goal::AtMost(5.0).tolerance_used(5.1) > 1.0);
        assert!(Goal::AtLeast(0.9).tolerance_used(0.89) > 1.0);
        assert!(Goal::AtLeast(0.9).tolerance_used(f64::NAN) > 1.0);
    }
}
