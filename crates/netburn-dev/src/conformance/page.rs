//! Output of a comparison as text and Markdown.

use super::metric::{Kind, Metric};
use crate::sample::{Outcome, Sample};
use netburn_workload::Verdict;

/// Results of one case.
#[derive(Debug)]
pub struct Comparison {
    /// Name of the case.
    pub name: String,
    /// Title of the table that lists the case.
    pub group: &'static str,
    /// Number of runs in each environment.
    pub runs: u32,
    /// The compared metrics.
    pub results: Vec<MetricResult>,
    /// Reasons why the values of the lab are unreliable.
    pub quality_issues: Vec<String>,
}

/// A metric and the result of its comparison.
#[derive(Debug)]
pub struct MetricResult {
    /// The metric.
    pub metric: Metric,
    /// Result of its comparison.
    pub outcome: Outcome,
    /// Known reason for a difference.
    pub known: Option<&'static str>,
}

impl MetricResult {
    /// Returns `true` if the metric differs without a known reason.
    #[must_use]
    pub fn is_fault(&self) -> bool {
        self.outcome == Outcome::Differs && self.known.is_none()
    }

    fn word(&self) -> &'static str {
        match (self.outcome, self.known) {
            (Outcome::Agrees, _) => "agrees",
            (Outcome::WithinSpread, _) => "within the spread",
            (Outcome::Differs, Some(_)) => "differs, known",
            (Outcome::Differs, None) => "differs",
            (Outcome::Unreliable, _) => "unreliable",
        }
    }
}

/// One case as lines.
#[must_use]
pub fn lines(case: &Comparison) -> Vec<String> {
    let mut lines = Vec::new();
    if !case.quality_issues.is_empty() {
        lines.push(format!(
            "{}: inconclusive: {}",
            case.name,
            case.quality_issues.join("; ")
        ));
    }
    lines.extend(case.results.iter().map(|result| {
        let metric = &result.metric;
        format!(
            "{:<28} {:<24} {:>22} {:>22}  {}{}",
            case.name,
            metric.name,
            values(metric.kind, &metric.simulator),
            values(metric.kind, &metric.lab),
            result.word(),
            result.known.map_or(String::new(), |why| format!(": {why}")),
        )
    }));
    lines
}

/// All cases as plain text.
#[must_use]
pub fn text(all: &[Comparison]) -> String {
    let mut text: String = all.iter().flat_map(lines).map(|line| line + "\n").collect();
    text.push_str(&format!("simulator and lab: {}\n", counts(all)));
    text
}

/// Markdown tables, one for each group.
#[must_use]
pub fn markdown(all: &[Comparison]) -> String {
    let mut text = String::new();
    let mut group = "";
    for case in all {
        if case.group != group {
            group = case.group;
            text.push_str(&format!(
                "\n### {group}\n\n| case | runs | metric | simulator | lab | |\n|---|---|---|---|---|---|\n"
            ));
        }
        if !case.quality_issues.is_empty() {
            text.push_str(&format!(
                "| `{}` | {} | | | | inconclusive: {} |\n",
                case.name,
                case.runs,
                case.quality_issues.join("; ")
            ));
        }
        for (result, number) in case.results.iter().zip(0..) {
            let metric = &result.metric;
            let (name, runs) = match number {
                0 => (format!("`{}`", case.name), case.runs.to_string()),
                _ => (String::new(), String::new()),
            };
            text.push_str(&format!(
                "| {name} | {runs} | {} | {} | {} | {} |\n",
                metric.name,
                values(metric.kind, &metric.simulator),
                values(metric.kind, &metric.lab),
                result.word()
            ));
        }
    }
    text.push_str(&format!("\n{}.\n", counts(all)));
    text
}

/// Sentence with the number of compared, differing and unreliable metrics.
fn counts(all: &[Comparison]) -> String {
    let count =
        |which: &dyn Fn(&&MetricResult) -> bool| all.iter().flat_map(|case| &case.results).filter(which).count();
    let unreliable = count(&|result| result.outcome == Outcome::Unreliable);
    let counted = count(&|result| result.outcome != Outcome::Unreliable);
    let faults = count(&|result| result.is_fault());
    let besides = match unreliable {
        0 => String::new(),
        unreliable => format!("; {unreliable} more are unreliable"),
    };
    format!("{counted} metrics; {faults} differ without a known reason{besides}")
}

/// Median, and the range if there are several values.
fn values(kind: Kind, values: &[f64]) -> String {
    let Some(sample) = Sample::new(values.iter().copied()) else {
        return "–".to_owned();
    };
    let one = |value: f64| match kind {
        Kind::Verdict => verdict(value).to_owned(),
        _ if value < 10.0 => format!("{value:.2}"),
        _ => format!("{value:.1}"),
    };
    match kind {
        Kind::Verdict => one(sample.median),
        _ if sample.runs == 1 => one(sample.median),
        _ => sample.show(one),
    }
}

/// A verdict as a number: a smaller number is better.
#[must_use]
pub fn number(verdict: Verdict) -> f64 {
    match verdict {
        Verdict::None => 0.0,
        Verdict::Pass => 1.0,
        Verdict::Marginal => 2.0,
        Verdict::Fail => 3.0,
        Verdict::Inconclusive => 4.0,
    }
}

fn verdict(number: f64) -> &'static str {
    ["none", "pass", "marginal", "fail", "inconclusive"][number as usize]
}
