//! Comparisons as self-contained pages.
//!
//! Foreign text enters markup only through [`escaped`].

mod before_after;
mod matrix;
mod ranking;

pub use before_after::{BeforeAfter, before_after};
pub use matrix::matrix;
pub use ranking::ranking;

use super::format::counts;
use super::overlay::{Variant, overlays};
use super::tables;
use super::text::{method, premises, remarks, verdict_change};
use crate::chart::Chart;
use crate::environment::sentence;
use crate::html::{badge, document, escaped, figure, noted, section, table, with_code};
use crate::table::{Badge, Cell, words};
use netburn_analysis::View;
use netburn_analysis::compare::{Comparison, MetricComparison, Side};
use netburn_record::Environment;
use netburn_record::metrics::Unit;
use netburn_stats::metric_change::Judgement;
use std::fmt::Write as _;

/// A difference beyond this share is drawn as an arrow.
const FAR: f64 = 0.5;

/// The comparison as a page with charts of both sides: a view for each folder of `these` and of
/// the baseline.
#[must_use]
pub fn comparison(comparison: &Comparison, these: &[View], against: &[View]) -> String {
    let charts = overlays(&[
        Variant {
            name: &comparison.these.name,
            views: these,
        },
        Variant {
            name: &comparison.against.name,
            views: against,
        },
    ]);
    let title = format!("{} against {}", comparison.these.name, comparison.against.name);
    let mut body = head(&title, &comparison.these);
    let _ = writeln!(body, "<p class=\"verdict\">{}</p>", verdict(comparison));
    if let Some(change) = verdict_change(comparison) {
        let _ = writeln!(body, "<p class=\"question\">{}</p>", escaped(&change));
    }
    for line in premises(comparison) {
        let _ = writeln!(body, "<p class=\"facts\">{}</p>", escaped(&line));
    }
    body.push_str("</header>\n<main>\n");
    body.push_str(&section("metrics", "Metrics", &metric_table(comparison)));
    body.push_str(&curves(&charts, &[these, against]));
    body.push_str("</main>\n");
    document(&title, &body, &charts)
}

/// The judgement with its counts.
fn verdict(comparison: &Comparison) -> String {
    let counts = if comparison.metrics.is_empty() {
        "nothing to compare".to_owned()
    } else {
        counts(comparison.metrics.iter().map(|metric| &metric.answer))
    };
    format!(
        "{} <span class=\"why\">{}</span>",
        headline_badge(comparison),
        escaped(&counts)
    )
}

/// Badge of the whole comparison; a mixed result has a neutral one.
fn headline_badge(comparison: &Comparison) -> String {
    let headline = comparison.headline();
    badge(&match comparison.judgement() {
        judgement if judgement.name() == headline => Badge::of_judgement(judgement),
        _ => Badge {
            sign: "~",
            class: "marginal",
            words: headline,
            is_provisional: false,
        },
    })
}

/// The table of metrics, with a picture of each difference, and the basis of the judgements.
fn metric_table(comparison: &Comparison) -> String {
    let mut out = String::new();
    if !comparison.metrics.is_empty() {
        let mut metrics = tables::metrics(comparison);
        let pictures = comparison.metrics.iter().map(|metric| Cell {
            markup: Some(picture(metric)),
            ..Cell::default()
        });
        arrange(&mut metrics.columns, words("−50 % … 0 … +50 %"));
        for (row, picture) in metrics.rows.iter_mut().zip(pictures) {
            arrange(row, picture);
        }
        out.push_str(&table(&metrics));
    }
    let lines = remarks(comparison).into_iter().chain([method(comparison)]);
    out.extend(lines.filter(|line| !line.is_empty()).map(|line| noted(&line)));
    out
}

/// Moves the result to the names of the metric, and adds the picture after the difference.
fn arrange<T>(row: &mut Vec<T>, picture: T) {
    row.insert(tables::RESULT, picture);
    let result = row.remove(tables::RESULT + 1);
    row.insert(2, result);
}

/// The top of a page: its title, and the environment. The header element stays open.
fn head(title: &str, side: &Side) -> String {
    let question = side.runs.first().and_then(|run| run.question.as_deref());
    let mut out = top(title, question);
    if let Some(measured) = side.environment() {
        out.push_str(&environment(measured));
    }
    out
}

/// Title and a sentence below it. The header is left open.
fn top(title: &str, sentence: Option<&str>) -> String {
    let mut out = String::from(
        "<header>\n<p class=\"brand\">netburn</p>\n<button id=\"theme\" type=\"button\" hidden>Dark</button>\n",
    );
    let _ = writeln!(out, "<h1>{}</h1>", escaped(title));
    if let Some(sentence) = sentence {
        let _ = writeln!(out, "<p class=\"question\">{}</p>", with_code(sentence));
    }
    out
}

/// The sentence about the environment.
fn environment(measured: Environment) -> String {
    format!("<p class=\"environment\">{}</p>\n", with_code(sentence(measured)))
}

/// The charts, and what could not be read for them.
fn curves(charts: &[Chart], views: &[&[View]]) -> String {
    let mut out = String::new();
    for missing in views
        .iter()
        .flat_map(|views| views.iter())
        .flat_map(|view| &view.missing)
    {
        let _ = writeln!(
            out,
            "<p class=\"warning\" role=\"note\">Some data could not be read: {}. The charts omit it.</p>",
            escaped(missing)
        );
    }
    out.extend(charts.iter().map(figure));
    section("curves", "Charts", &out)
}

/// Difference and interval as a share of the baseline, with zero in the middle. Values beyond the
/// ends are drawn as an arrow; the numbers are in the next column.
fn picture(metric: &MetricComparison) -> String {
    const WIDE: f64 = 160.0;
    const HALF: f64 = 75.0;
    let contrast = metric.contrast();
    let base = match metric.key.unit() {
        Unit::Share => 1.0,
        Unit::Points => 100.0,
        _ => contrast.medians[0].abs(),
    };
    // From `never` to a value, or back, is a change beyond every scale. It is no share of the baseline, which may be infinite.
    let of_base = |difference: f64| match difference {
        difference if difference.is_infinite() => difference,
        difference => match difference / base {
            share if share.is_nan() => 0.0,
            share => share,
        },
    };
    let place = |difference: f64| WIDE / 2.0 + HALF * (of_base(difference) / FAR).clamp(-1.0, 1.0);
    let class = match metric.answer.judgement {
        Judgement::Better => "pass",
        Judgement::Worse => "fail",
        Judgement::Same => "quiet",
        Judgement::CantTell => "inconclusive",
    };
    let mut out = format!(
        "<svg aria-hidden=\"true\" width=\"{WIDE}\" height=\"18\" viewBox=\"0 0 {WIDE} 18\" stroke=\"var(--{class})\" fill=\"var(--{class})\">"
    );
    let same = place(metric.question.same_within()) - WIDE / 2.0;
    let _ = write!(
        out,
        "<rect x=\"{:.1}\" y=\"1\" width=\"{:.1}\" height=\"16\" fill=\"var(--grid)\" stroke=\"none\" opacity=\".6\"/>\
         <path d=\"M{m} 0V18\" stroke=\"var(--quiet)\"/>",
        WIDE / 2.0 - same,
        2.0 * same,
        m = WIDE / 2.0
    );
    if let Some(interval) = contrast.interval {
        let _ = write!(
            out,
            "<path d=\"M{:.1} 9H{:.1}\" stroke-width=\"2\"/>",
            place(interval.low),
            place(interval.high)
        );
    }
    let at = place(contrast.difference);
    let _ = if of_base(contrast.difference).abs() > FAR {
        let (from, to) = if contrast.difference > 0.0 {
            (at - 8.0, at)
        } else {
            (at + 8.0, at)
        };
        write!(out, "<path d=\"M{from:.1} 4L{to:.1} 9L{from:.1} 14Z\"/>")
    } else {
        write!(out, "<circle cx=\"{at:.1}\" cy=\"9\" r=\"4\"/>")
    };
    out.push_str("</svg>");
    out
}
