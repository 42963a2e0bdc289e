//! Results of the cases as a table in a terminal.

use super::case::{CaseResult, Goal};
use super::file::CaseFile;
use super::run::Outcome;
use std::fmt::Write as _;

/// Formats one line for each file, followed by its cases beyond the tolerance, or by `all` cases. If all cases are within their
/// tolerance, shows the one closest to its bound.
#[must_use]
pub fn table(files: &[CaseFile], outcomes: &[Outcome], all: bool) -> String {
    let mut text = String::new();
    let title = |index: usize| format!("{} ({})", files[index].title, files[index].name);
    for index in 0..files.len() {
        let of_file: Vec<&Outcome> = outcomes.iter().filter(|outcome| outcome.file == index).collect();
        let within = of_file.iter().filter(|outcome| outcome.ok()).count();
        let _ = writeln!(text, "{}: {within} of {} within tolerance", title(index), of_file.len());
        if !all && within == of_file.len() {
            if let Some(closest) = closest(&of_file) {
                let _ = writeln!(text, "  closest to its bound: {}", line(closest, 0));
            }
            continue;
        }
        let shown: Vec<&&Outcome> = of_file.iter().filter(|outcome| all || !outcome.ok()).collect();
        let names = shown
            .iter()
            .map(|outcome| label(outcome).chars().count())
            .max()
            .unwrap_or(0);
        for outcome in shown {
            let _ = writeln!(text, "  {} {}", mark(outcome), line(outcome, names));
            if let (false, Some(deviation)) = (outcome.ok(), &outcome.deviation) {
                let _ = writeln!(
                    text,
                    "            {} {} {}",
                    deviation.what, deviation.reason, deviation.impact
                );
            }
        }
    }
    let _ = writeln!(text, "\n{}", summary_line(outcomes));
    text
}

/// Returns the number of values within tolerance as a sentence.
#[must_use]
pub fn summary_line(outcomes: &[Outcome]) -> String {
    let count = |standing| outcomes.iter().filter(|outcome| outcome.result() == standing).count();
    let all = outcomes.len();
    match (count(CaseResult::Beyond), count(CaseResult::Explained)) {
        (0, 0) => format!("all {all} values are within tolerance"),
        (0, explained) => {
            let within = all - explained;
            format!("{within} of {all} values are within tolerance; {explained} are beyond it and explained")
        }
        (beyond, 0) => format!("{beyond} of {all} values are beyond tolerance"),
        (beyond, explained) => {
            format!("{beyond} of {all} values are beyond tolerance; {explained} more are beyond it and explained")
        }
    }
}

/// Returns the outcome with the largest difference relative to its tolerance.
fn closest<'a>(outcomes: &[&'a Outcome]) -> Option<&'a Outcome> {
    let graded = outcomes
        .iter()
        .filter(|outcome| outcome.goal.tolerance_used(outcome.value) > 0.0);
    graded.copied().max_by(|one, other| {
        let tolerance_used = |outcome: &Outcome| outcome.goal.tolerance_used(outcome.value);
        tolerance_used(one).total_cmp(&tolerance_used(other))
    })
}

fn label(outcome: &Outcome) -> String {
    format!("{}: {}", outcome.case, outcome.metric)
}

fn mark(outcome: &Outcome) -> &'static str {
    match outcome.result() {
        CaseResult::Within => "ok       ",
        CaseResult::Explained => "explained",
        CaseResult::Beyond => "BEYOND   ",
    }
}

fn line(outcome: &Outcome, names: usize) -> String {
    let label = label(outcome);
    let dimension = outcome.dimension;
    let expected = match outcome.goal {
        Goal::Near(value, _) => format!(
            "expected {} ({})",
            dimension.show(value),
            outcome.goal.tolerance(dimension)
        ),
        Goal::AtMost(_) | Goal::AtLeast(_) => {
            format!(
                "{} {}",
                outcome.goal.tolerance(dimension),
                dimension.show(outcome.goal.value())
            )
        }
    };
    let off = match outcome.goal {
        Goal::Near(value, _) if value != 0.0 && outcome.value.is_finite() => {
            format!(", {:+.2} %", (outcome.value / value - 1.0) * 100.0)
        }
        _ => String::new(),
    };
    format!("{label:names$}  {}, {expected}{off}", dimension.show(outcome.value))
}
