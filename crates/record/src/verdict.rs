//! Names of verdicts in documents, for `#[serde(with = "verdict")]` too.

use netburn_workload::Verdict;
use serde::{Deserialize, Deserializer, Serializer, de::Error};
use std::borrow::Cow;

/// A verdict's name in documents.
#[must_use]
pub const fn verdict_name(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::None => "none",
        Verdict::Pass => "pass",
        Verdict::Marginal => "marginal",
        Verdict::Inconclusive => "inconclusive",
        Verdict::Fail => "fail",
    }
}

/// Writes a verdict's name.
///
/// # Errors
/// Those of the serializer.
pub fn serialize<S: Serializer>(verdict: &Verdict, to: S) -> Result<S::Ok, S::Error> {
    to.serialize_str(verdict_name(*verdict))
}

/// Reads a verdict's name.
///
/// # Errors
/// The text is no verdict.
pub fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Verdict, D::Error> {
    let text = Cow::<str>::deserialize(from)?;
    let named = Verdict::ALL.into_iter().find(|verdict| verdict_name(*verdict) == text);
    named.ok_or_else(|| D::Error::custom(format_args!("unknown verdict `{text}`")))
}
