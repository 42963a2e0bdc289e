//! Results of the cases as JSON.

use super::case::CaseResult;
use super::run::Outcome;
use serde_json::{Value, json};

/// Returns a list of `{ case, source, metric, expected, value, tolerance, ok, trust, explained, unit, file }`, with `deviation` if one
/// is known. For a bound, `expected` is the bound and `tolerance` is "at most" or "at least". `files` are the names of the files.
#[must_use]
pub fn json(outcomes: &[Outcome], files: &[&str]) -> Value {
    outcomes.iter().map(|outcome| one(outcome, files)).collect()
}

fn one(outcome: &Outcome, files: &[&str]) -> Value {
    let mut value = json!({
        "case": outcome.case,
        "source": outcome.source,
        "metric": outcome.metric,
        "expected": outcome.goal.value(),
        "value": outcome.value,
        "tolerance": outcome.goal.tolerance(outcome.dimension),
        "ok": outcome.ok(),
        "trust": outcome.trust.name(),
        "explained": outcome.result() == CaseResult::Explained,
        "unit": outcome.dimension.unit(),
        "file": files.get(outcome.file),
    });
    if let (Some(deviation), Some(object)) = (&outcome.deviation, value.as_object_mut()) {
        object.insert("deviation".to_owned(), json!(deviation));
    }
    value
}
