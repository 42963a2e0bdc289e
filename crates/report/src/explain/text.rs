//! Likely causes as text.

use super::{Explanation, Severity};
use crate::sanitise::{sanitise, wrap};
use crate::style::{Tone, paint};

/// `explanation` as lines of at most `width` columns, after an empty line and a heading; no lines
/// if nothing was found.
#[must_use]
pub fn lines(explanation: &Explanation, width: usize, colour: bool) -> Vec<String> {
    if explanation.is_empty() {
        return Vec::new();
    }
    let mut lines = vec![String::new(), paint("Likely causes:", Tone::Heading, colour)];
    for (number, cause) in explanation.causes.iter().enumerate() {
        let tone = match cause.severity {
            Severity::Notable => Tone::Plain,
            Severity::Serious => Tone::Bad,
            Severity::Measurement => Tone::Unreliable,
        };
        let title = paint(&sanitise(&cause.title), tone, colour);
        lines.extend(wrap(&format!("{}. {title}", number + 1), width, "   "));
        for text in [&cause.evidence, &cause.advice] {
            lines.extend(wrap(&format!("   {}", sanitise(text)), width, "   "));
        }
    }
    for unexplained in &explanation.unexplained {
        lines.extend(wrap(&sanitise(&unexplained.sentence()), width, "   "));
    }
    lines
}
