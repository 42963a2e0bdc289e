//! Causes of disagreements that are known.

use super::compare::Comparison;
use super::plan::CrosscheckPlan;

/// Why values differ.
#[derive(Debug, PartialEq, Eq)]
pub struct Cause {
    /// A short name, unique.
    pub name: &'static str,
    /// The explanation: what differs between the programs, and which of them does what the standard or Linux does.
    pub why: &'static str,
}

/// All causes, in the order of the page.
pub const CAUSES: &[&Cause] = &[];

/// The cause of a difference, where it is known.
#[must_use]
pub fn cause_of(_plan: &CrosscheckPlan, _comparison: &Comparison) -> Option<&'static Cause> {
    None
}
