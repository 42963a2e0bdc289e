//! Likely causes as a list.

use super::escaped;
use super::head::with_code;
use netburn_analysis::explain::{Cause, Severity};
use netburn_analysis::view::View;
use std::fmt::Write as _;

/// The causes, the most severe first, then the problems without a known cause.
pub(super) fn causes(view: &View) -> String {
    let mut out = String::new();
    if !view.explanation.causes.is_empty() {
        out.push_str(&listed(&view.explanation.causes));
    }
    for unexplained in &view.explanation.unexplained {
        let _ = writeln!(out, "<p>{}</p>", with_code(&unexplained.sentence()));
    }
    out
}

fn listed(causes: &[Cause]) -> String {
    let mut out = String::from("<ol class=\"causes\">\n");
    for cause in causes {
        let mark = match cause.severity {
            Severity::Notable => "",
            Severity::Serious => "<strong class=\"badge fail\">serious</strong> ",
            Severity::Measurement => "<strong class=\"badge inconclusive\">measurement</strong> ",
        };
        let _ = writeln!(
            out,
            "<li>{mark}<strong>{}</strong><p>{}</p><p>{}</p></li>",
            escaped(&cause.title),
            with_code(&cause.evidence),
            with_code(&cause.advice)
        );
    }
    out.push_str("</ol>\n");
    out
}
