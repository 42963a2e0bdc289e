//! Likely causes as a list.

use super::escaped;
use super::head::with_code;
use super::remedies;
use crate::next_step;
use netburn_analysis::explain::{Cause, Severity};
use netburn_analysis::view::View;
use std::fmt::Write as _;

/// The change that helps most in a simulation, otherwise the remedy of the most important cause, or the next step after a measurement, for the head of the page; empty without both.
/// An unreliable measurement is repeated before anything else is changed.
pub(super) fn what_to_do(view: &View) -> String {
    let causes = &view.explanation.causes;
    let Some(first) = causes.first().filter(|first| !first.advice.is_empty()) else {
        return next_step::sentence(view).map_or_else(String::new, |step| {
            action(&format!("<p>{}</p>\n", with_code(&step)), "")
        });
    };
    let others = match causes.len() - 1 {
        0 => "Why: see the likely cause".to_owned(),
        1 => "Why, and one more cause: see the likely causes".to_owned(),
        others => format!("Why, and {others} more causes: see the likely causes"),
    };
    let why = format!("<p class=\"quiet\"><a href=\"#part-causes\">{others}</a>.</p>\n");
    match view
        .remedies
        .as_ref()
        .map(remedies::head)
        .filter(|best| !best.is_empty())
    {
        Some(best) => {
            let others = "<p class=\"quiet\"><a href=\"#part-remedies\">Other changes, and their settings: see what would help</a>.</p>\n";
            action(&best, &(why + others))
        }
        None => action(&format!("<p>{}</p>\n", with_code(&first.advice)), &why),
    }
}

/// The box with this markup.
fn action(advice: &str, why: &str) -> String {
    format!(
        "<section class=\"action\" id=\"part-action\" aria-labelledby=\"h-action\">\n<h2 id=\"h-action\">What to do now</h2>\n\
         {advice}{why}</section>\n"
    )
}

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
