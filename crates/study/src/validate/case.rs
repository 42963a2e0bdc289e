//! One case: what is run, what a source found, and how near the model must come.

use super::kind::Input;
use super::quantity::{Dimension, parse};
use netburn_units::Probability;
use serde::{Deserialize, Serialize};

/// A case.
#[derive(Debug, Clone)]
pub struct Case {
    /// Its name, unique within its file.
    pub name: String,
    /// Where the expected values are from.
    pub source: String,
    /// How far the source can be trusted.
    pub trust: SourceQuality,
    /// What is run.
    pub input: Input,
    /// What must come of it.
    pub expectations: Vec<Expectation>,
}

/// How an expected value came about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Deserialize, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum SourceQuality {
    /// Read in the source named.
    Verified,
    /// Worked out by hand or by formula from what the source says.
    Derived,
    /// Another simulator's result.
    Simulated,
    /// A published measurement.
    Measured,
    /// Known from the literature, not read again.
    Recalled,
    /// What the model is meant to come to, where nobody has published a figure.
    Goal,
}

/// What one metric must come to.
#[derive(Debug, Clone)]
pub struct Expectation {
    /// The metric, one of those of the case's kind.
    pub metric: String,
    /// What it is measured in.
    pub dimension: Dimension,
    /// What it must come to.
    pub goal: Goal,
    /// How the model, or the comparison, differs from the source, where that is known.
    pub deviation: Option<Deviation>,
}

/// What a metric must come to.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Goal {
    /// A value, as near as the tolerance says.
    Near(f64, Tolerance),
    /// No more than this.
    AtMost(f64),
    /// No less than this.
    AtLeast(f64),
}

/// How far a metric may be from what is expected.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Tolerance {
    /// Not at all.
    Exact,
    /// By a share of the expected value.
    Relative(f64),
    /// By so much, in the metric's unit.
    Absolute(f64),
}

/// A known difference between source and model, or between source and comparison.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Deviation {
    /// What differs.
    pub what: String,
    /// Why.
    pub reason: String,
    /// What it changes, in figures.
    pub impact: String,
    /// How far a metric that is beyond its tolerance may be from what is expected for this to explain it; nothing: it explains no such metric.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub explains: Option<String>,
}

/// How a figure stands to what is expected.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum CaseResult {
    /// Within its tolerance.
    Within,
    /// Beyond its tolerance, but no further than a known deviation explains.
    Explained,
    /// Beyond.
    Beyond,
}

impl SourceQuality {
    /// As it is written.
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
    /// Reads `"exact"`, a percentage of the expected value, or a value in the metric's own unit.
    ///
    /// # Errors
    /// What would be right.
    pub fn read(text: &str, dimension: Dimension) -> Result<Self, String> {
        if text.trim() == "exact" {
            return Ok(Tolerance::Exact);
        }
        if text.contains('%') {
            return parse::<Probability>(text).map(|share| Tolerance::Relative(share.as_f64()));
        }
        let wrong = |why| {
            format!(
                "{why} (a tolerance is \"exact\", a percentage of the expected value, or a value in the metric's unit)"
            )
        };
        dimension
            .read(text)
            .map(|by| Tolerance::Absolute(by.abs()))
            .map_err(wrong)
    }

    /// As it is written.
    #[must_use]
    pub fn show(self, dimension: Dimension) -> String {
        match self {
            Tolerance::Exact => "exact".to_owned(),
            Tolerance::Relative(share) => format!("{} %", trimmed(share * 100.0)),
            Tolerance::Absolute(by) => format!("± {}", dimension.show(by)),
        }
    }
}

impl Goal {
    /// The value that is expected, or the bound.
    #[must_use]
    pub const fn value(&self) -> f64 {
        match self {
            Goal::Near(value, _) | Goal::AtMost(value) | Goal::AtLeast(value) => *value,
        }
    }

    /// How much of what is allowed `got` takes up: up to 1 it is within, beyond it isn't. For a bound: 0 or 2.
    #[must_use]
    pub fn tolerance_used(&self, got: f64) -> f64 {
        let within = |ok| if ok { 0.0 } else { 2.0 };
        let off = (got - self.value()).abs();
        // The last digits of binary fractions are nobody's deviation.
        let dust = 1e-9 * self.value().abs().max(1.0);
        match *self {
            _ if !got.is_finite() => f64::INFINITY,
            Goal::AtMost(bound) => within(got <= bound + dust),
            Goal::AtLeast(bound) => within(got >= bound - dust),
            Goal::Near(_, Tolerance::Exact) => within(off <= dust),
            Goal::Near(value, Tolerance::Relative(share)) => share_of(off, share * value.abs(), dust),
            Goal::Near(_, Tolerance::Absolute(by)) => share_of(off, by, dust),
        }
    }

    /// How near it must be, as people read it.
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

fn trimmed(value: f64) -> String {
    let text = format!("{value:.3}");
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
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
    fn what_is_within() {
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
