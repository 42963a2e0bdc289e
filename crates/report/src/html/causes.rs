//! What the figures suggest, as a list.

use super::escaped;
use super::head::ticked;
use crate::explain::Severity;
use crate::view::View;
use std::fmt::Write as _;

/// The causes, the gravest first.
pub(super) fn causes(view: &View) -> String {
    if view.causes.is_empty() {
        return String::new();
    }
    let mut out = String::from("<ol class=\"causes\">\n");
    for cause in &view.causes {
        let mark = match cause.severity {
            Severity::Notable => "",
            Severity::Serious => "<strong class=\"badge fail\">serious</strong> ",
            Severity::Doubt => "<strong class=\"badge inconclusive\">doubt</strong> ",
        };
        let _ = writeln!(
            out,
            "<li>{mark}<strong>{}</strong><p>{}</p><p>{}</p></li>",
            escaped(&cause.title),
            escaped(&cause.figure),
            ticked(&cause.advice)
        );
    }
    out.push_str("</ol>\n");
    out
}
