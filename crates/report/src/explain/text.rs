//! Causes for a terminal.

use super::{Cause, Severity};
use crate::paint::{Tone, paint};
use crate::plain::{sanitise, wrap};

/// `causes` as lines of at most `width` columns, an empty one and a heading first; nothing where there are none.
#[must_use]
pub fn lines(causes: &[Cause], width: usize, colour: bool) -> Vec<String> {
    if causes.is_empty() {
        return Vec::new();
    }
    let mut lines = vec![String::new(), paint("What the figures suggest:", Tone::Heading, colour)];
    for (number, cause) in causes.iter().enumerate() {
        let tone = match cause.severity {
            Severity::Notable => Tone::Plain,
            Severity::Serious => Tone::Bad,
            Severity::Doubt => Tone::Doubtful,
        };
        let title = paint(&sanitise(&cause.title), tone, colour);
        lines.extend(wrap(&format!("{}. {title}", number + 1), width, "   "));
        for text in [&cause.figure, &cause.advice] {
            lines.extend(wrap(&format!("   {}", sanitise(text)), width, "   "));
        }
    }
    lines
}
