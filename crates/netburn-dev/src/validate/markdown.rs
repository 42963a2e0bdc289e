//! Results of the cases as Markdown.

use super::case::{CaseResult, Deviation, Goal};
use super::file::CaseFile;
use super::run::Outcome;
use std::fmt::Write as _;

/// Formats a section for each file: a table of its cases, followed by their deviations without duplicates.
#[must_use]
pub fn markdown(files: &[CaseFile], outcomes: &[Outcome]) -> String {
    let mut text = String::new();
    for (index, file) in files.iter().enumerate() {
        let of_file: Vec<&Outcome> = outcomes.iter().filter(|outcome| outcome.file == index).collect();
        let _ = writeln!(text, "### {}\n\n`validation/{}`", file.title, file.name);
        for source in in_order(
            of_file
                .iter()
                .map(|outcome| (outcome.source.as_str(), outcome.trust.name())),
        ) {
            let _ = write!(text, "\nSource: {} ({}).", source.0, source.1);
        }
        text.push_str(
            "\n\n| case | metric | expected | tolerance | value | deviation | |\n|---|---|---|---|---|---|---|\n",
        );
        let deviations = in_order(of_file.iter().filter_map(|outcome| outcome.deviation.as_ref()));
        for outcome in &of_file {
            row(&mut text, outcome, &deviations);
        }
        for (number, deviation) in deviations.iter().enumerate() {
            let Deviation {
                what, reason, impact, ..
            } = deviation;
            let _ = writeln!(
                text,
                "\n{}. *What*: {what} *Why*: {reason} *Impact*: {impact}",
                number + 1
            );
        }
        text.push('\n');
    }
    text
}

fn row(text: &mut String, outcome: &Outcome, deviations: &[&Deviation]) {
    let dimension = outcome.dimension;
    let off = match outcome.goal {
        Goal::Near(value, _) if value != 0.0 => format!("{:+.2} %", (outcome.value / value - 1.0) * 100.0),
        _ => String::new(),
    };
    let note = outcome
        .deviation
        .as_ref()
        .and_then(|deviation| deviations.iter().position(|other| *other == deviation));
    let note = note.map(|number| format!(" [{}]", number + 1)).unwrap_or_default();
    let _ = writeln!(
        text,
        "| {} | {} | {} | {} | {} | {off} | {}{note} |",
        outcome.case.replace('|', "\\|"),
        outcome.metric,
        dimension.show(outcome.goal.value()),
        outcome.goal.tolerance(dimension),
        dimension.show(outcome.value),
        match outcome.result() {
            CaseResult::Within => "ok",
            CaseResult::Explained => "explained",
            CaseResult::Beyond => "**beyond**",
        },
    );
}

/// Removes duplicates and keeps the order of first appearance.
fn in_order<T: PartialEq>(items: impl Iterator<Item = T>) -> Vec<T> {
    let mut seen = Vec::new();
    for item in items {
        if !seen.contains(&item) {
            seen.push(item);
        }
    }
    seen
}
