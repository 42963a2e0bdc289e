//! A summary as text.

pub(crate) mod delivery;
pub(crate) mod dscp;
pub(crate) mod grades;
pub(crate) mod responsiveness;
pub(crate) mod result;
mod rows;
pub(crate) mod segments;
pub(crate) mod streams;
pub(crate) mod video;
pub(crate) mod voice;
pub(crate) mod why;
pub(crate) mod wifi;

use crate::access_points;
use crate::environment;
use crate::sanitise::{sanitise, wrap};
use crate::style::{Tone, paint};
use crate::table::Cell;
use crate::tables;
use netburn_analysis::format::{self, mbps};
use netburn_record::Summary;
use netburn_record::metrics::Quantity;
use netburn_workload::Verdict;
use netburn_workload::verdict::OPERATIONS_NEEDED;

/// Minimum width: lines are never wrapped below it.
const MIN_WIDTH: usize = 40;

/// Maximum number of reasons of the self-check that are listed.
const MAX_REASONS: usize = 10;

/// Maximum number of intervals that are listed.
const MAX_INTERVALS: usize = 40;

/// `summary` as lines of at most `width` columns (paths and single words may be longer), with ANSI
/// colours if `colour`. The first line is about the environment; then follow verdicts, reasons and
/// the self-check. Foreign names and texts have no control characters.
#[must_use]
pub fn text(summary: &Summary, width: usize, colour: bool) -> String {
    let width = width.max(MIN_WIDTH);
    let mut lines = wrap(environment::sentence(summary.environment), width, "");
    lines.push(String::new());
    lines.extend(headline(summary, width, colour));
    lines.push(String::new());
    lines.extend(rows::table(summary, width, colour));
    let split = tables::split(summary);
    if !split.rows.is_empty() {
        lines.push(String::new());
        lines.extend(split.lines(width, colour));
        lines.extend(wrap(tables::SPLIT_NOTE, width, "  "));
    }
    for part in [
        run_reasons(summary, colour),
        why::paragraphs(summary, colour),
        voice::lines(summary),
        streams::lines(summary),
        segments::lines(summary),
        responsiveness::lines(summary),
        dscp::lines(summary),
        wifi::lines(summary),
        access_points::lines(summary),
        self_check(summary, colour),
        provisional(summary),
    ] {
        if !part.is_empty() {
            lines.push(String::new());
            lines.extend(part.iter().flat_map(|line| wrap(line, width, "  ")));
        }
    }
    for table in [
        access_points::devices(summary),
        access_points::queues(summary),
        access_points::events(&summary.access_points),
    ] {
        if !table.rows.is_empty() {
            lines.push(String::new());
            lines.extend(table.lines(width, colour));
        }
    }
    lines.extend(run_tables(summary, width, colour));
    let mut text = lines.join("\n");
    text.push('\n');
    text
}

/// The familiar grades of the probes, after an empty line; empty without grades.
#[must_use]
pub fn grades(summary: &Summary, width: usize) -> String {
    let lines = grades::lines(summary);
    let lines = lines.iter().flat_map(|line| wrap(line, width.max(MIN_WIDTH), "  "));
    let text: String = lines.map(|line| format!("{line}\n")).collect();
    if text.is_empty() { text } else { format!("\n{text}") }
}

fn headline(summary: &Summary, width: usize, colour: bool) -> Vec<String> {
    let name = sanitise(summary.title.as_deref().unwrap_or(&summary.scenario));
    let verdict = match summary.verdict {
        Verdict::None => Cell::new("no goals", Tone::Quiet),
        other => {
            let cell = Cell::verdict(other, summary.provisional);
            Cell::new(cell.text.to_uppercase(), cell.tone)
        }
    };
    let headline = format!(
        "{} – {}",
        paint(&verdict.text, verdict.tone, colour),
        paint(&name, Tone::Heading, colour)
    );
    let mut lines = wrap(&headline, width, "  ");
    if let Some(question) = &summary.question {
        lines.extend(wrap(&sanitise(question), width, "  "));
    }
    // Reasons of the whole run have a paragraph of their own.
    if summary.verdict != Verdict::None && summary.reasons.is_empty() {
        lines.extend(wrap(&sanitise(&result::sentence(summary)), width, "  "));
    }
    let (runs, stations) = (format::runs_of(summary), format::stations(summary));
    let air = match summary.totals.airtime_jain {
        Some(index) => format!(", Jain index of airtime {index:.2}"),
        None => String::new(),
    };
    let facts = format!(
        "{runs}{} s, seed {}, {stations}, {} Mbit/s total{air}; saved to {}",
        format::short(summary.duration_s),
        summary.seed,
        mbps(summary.totals.throughput_mbps),
        sanitise(&summary.run),
    );
    lines.extend(wrap(&facts, width, "  "));
    lines
}

fn self_check(summary: &Summary, colour: bool) -> Vec<String> {
    // In simulated time nothing can be late.
    if summary.self_check.ok && !summary.environment.is_real() {
        return Vec::new();
    }
    let late = summary.self_check.timer_lateness_us;
    if summary.self_check.ok && summary.self_check.reasons.is_empty() {
        let stood = summary
            .self_check
            .standstill_us_max
            .map_or_else(String::new, |longest| {
                format!(" Longest standstill: {}.", format::span_us(longest))
            });
        return vec![format!(
            "Self-check passed: operations started within {} of schedule at p99 (worst {}).{stood}",
            format::span_us(late.p99),
            format::span_us(late.max)
        )];
    }
    let heading = if summary.self_check.ok {
        "Self-check: the test machine delayed operations:"
    } else {
        "Self-check failed:"
    };
    let mut lines = vec![paint(heading, Tone::Unreliable, colour)];
    let reasons = &summary.self_check.reasons;
    lines.extend(
        reasons
            .iter()
            .take(MAX_REASONS)
            .map(|reason| format!("- {}", sanitise(&reason.to_string()))),
    );
    if reasons.len() > MAX_REASONS {
        lines.push(format!("- and {} more with --format json", reasons.len() - MAX_REASONS));
    }
    lines.push(self_check_advice(summary).to_owned());
    lines
}

/// Meaning of values beyond the limits of the self-check.
pub(crate) fn self_check_advice(summary: &Summary) -> &'static str {
    if summary.self_check.ok {
        "Delays can only make results worse, and the goals were met in spite of them. So the verdicts hold. Throughput and latencies without the delays may be better."
    } else {
        "The results above may reflect the test machine rather than the network. Run the test again with less load on the machine, on a faster machine, with fewer stations or with a lower rate."
    }
}

/// Reasons for which the run as a whole could not be measured.
fn run_reasons(summary: &Summary, colour: bool) -> Vec<String> {
    let reasons: Vec<String> = summary
        .reasons
        .iter()
        .map(|reason| sanitise(&reason.to_string()))
        .collect();
    if reasons.is_empty() {
        Vec::new()
    } else {
        vec![format!(
            "{}: {}",
            paint("The run could not be measured", Tone::Unreliable, colour),
            reasons.join("; ")
        )]
    }
}

/// Meaning of a provisional verdict.
pub(crate) fn meaning_of_provisional() -> String {
    format!(
        "too few samples to be sure (a pass needs {OPERATIONS_NEEDED} operations or {} windows).",
        Verdict::Pass.windows_needed()
    )
}

fn provisional(summary: &Summary) -> Vec<String> {
    let any = summary.provisional || summary.stations.iter().any(|s| s.provisional);
    if any {
        vec![format!(
            "* provisional: {} Use a longer --duration or --repeat.",
            meaning_of_provisional()
        )]
    } else {
        Vec::new()
    }
}

fn run_tables(summary: &Summary, width: usize, colour: bool) -> Vec<String> {
    let mut lines = Vec::new();
    if !summary.repeats.is_empty() {
        lines.push(String::new());
        lines.extend(tables::runs(summary).lines(width, colour));
    }
    let is_shown = |of: &Quantity| of.comparison.is_some() || of.path.starts_with("latency_ms.");
    let intervals = tables::intervals(summary, MAX_INTERVALS, is_shown);
    if !intervals.rows.is_empty() {
        lines.push(String::new());
        lines.extend(intervals.lines(width, colour));
        match summary.intervals.len() - intervals.rows.len() {
            0 => {}
            more => lines.push(format!("… and {more} more with --format json")),
        }
    }
    lines
}

#[cfg(test)]
#[path = "text/tests.rs"]
mod tests;
