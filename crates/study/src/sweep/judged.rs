//! Comparison of the values of one varied key with its first value, as in `netburn compare --matrix`.

use netburn_analysis::compare::{Comparison, Options, Side, judge_together};
use netburn_record::Summary;
use netburn_report::compare;
use netburn_report::sanitise::{sanitise, wrap};
use serde_json::{Value, json};
use std::path::Path;

/// Comparisons of a sweep of one key.
#[derive(Debug, Clone, PartialEq)]
pub struct Judgements {
    /// The varied key.
    pub key: String,
    /// First value: the baseline of the comparisons.
    pub baseline: String,
    /// The other values with runs, in order, each compared with the first. The test corrects for all of them together.
    pub others: Vec<Comparison>,
}

/// A sweep that cannot be compared with its first value.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum JudgeError {
    /// Several keys are varied.
    #[error(
        "--judge needs exactly one --vary, whose first value is the baseline; use `*` for the same key of several stations, as station.*.tsq"
    )]
    Keys,
    /// The key has only one value.
    #[error("--judge needs a second value in --vary {0}; the first value is the baseline")]
    OneValue(String),
}

/// Checks that a sweep of these keys and values can be compared with its first value.
///
/// # Errors
/// It varies more than one key, or has only one value.
pub fn check_judgeable(keys: &[String], values: &[Vec<String>]) -> Result<(), JudgeError> {
    match (keys, values) {
        ([key], [values]) if values.len() < 2 => Err(JudgeError::OneValue(key.clone())),
        ([_], [_]) => Ok(()),
        _ => Err(JudgeError::Keys),
    }
}

/// Compares the finished runs of a sweep of one `key` with these `values`. Each run is its value, path and summary.
#[must_use]
pub fn judgements<'a>(
    key: &str,
    values: &[String],
    runs: impl IntoIterator<Item = (&'a str, &'a Path, &'a Summary)>,
) -> Judgements {
    let (baseline, others) = values.split_first().expect("a key has at least one value");
    let mut sides: Vec<Side> = values.iter().map(|value| Side::new(value)).collect();
    for (value, path, summary) in runs {
        if let Some(place) = values.iter().position(|known| known == value) {
            sides[place].add_summary(path, summary, None);
        }
    }
    let mut sides = sides.into_iter();
    let against = sides.next().expect("one for each value");
    let mut compared: Vec<Comparison> = sides
        .zip(others)
        .filter(|(side, _)| !side.runs.is_empty() && !against.runs.is_empty())
        .map(|(side, _)| Comparison::unjudged(side, against.clone(), Options::default()))
        .collect();
    judge_together(&mut compared.iter_mut().collect::<Vec<_>>());
    Judgements {
        key: key.to_owned(),
        baseline: baseline.clone(),
        others: compared,
    }
}

impl Judgements {
    /// Formats the comparisons as tables, `width` columns wide: one for each value.
    #[must_use]
    pub fn text(&self, width: usize, colour: bool) -> String {
        let mut lines = wrap(
            &format!(
                "{}, every value compared with {}",
                sanitise(&self.key),
                sanitise(&self.baseline)
            ),
            width,
            "  ",
        );
        for comparison in &self.others {
            lines.push(String::new());
            lines.extend(compare::text::comparison_lines(comparison, width, colour));
        }
        match self.others.first() {
            Some(first) => lines.extend(wrap(&compare::text::method(first), width, "  ")),
            None => lines.push("Nothing to compare: the first value, or all others, have no runs.".to_owned()),
        }
        let mut text = lines.join("\n");
        text.push('\n');
        text
    }

    /// Returns JSON: `{ key, baseline, against: [{ value, … }] }`, where each of `against` is as in `netburn compare --format json`.
    #[must_use]
    pub fn json(&self) -> Value {
        let against = self.others.iter().map(|comparison| {
            let mut document = compare::json::comparison(comparison);
            document["value"] = json!(comparison.these.name);
            document
        });
        json!({ "key": self.key, "baseline": self.baseline, "against": against.collect::<Vec<_>>() })
    }

    /// Formats the comparisons as CSV (RFC 4180): a header line, and a line for each metric.
    #[must_use]
    pub fn csv(&self) -> String {
        const HEADER: [&str; 19] = [
            "key",
            "baseline_value",
            "value",
            "station",
            "workload",
            "metric",
            "better",
            "baseline",
            "with",
            "difference",
            "low",
            "high",
            "level",
            "same_within",
            "runs",
            "test",
            "p",
            "p_corrected",
            "judgement",
        ];
        let mut text = String::new();
        super::csv::line(&mut text, HEADER.into_iter());
        // A missing value is an empty field.
        let number = |value: f64| {
            if value.is_finite() {
                value.to_string()
            } else {
                String::new()
            }
        };
        for comparison in &self.others {
            for held in &comparison.metrics {
                let (contrast, key) = (held.contrast(), &held.key);
                let interval = contrast.interval;
                let fields = [
                    self.key.clone(),
                    self.baseline.clone(),
                    comparison.these.name.clone(),
                    key.station.clone().unwrap_or_default(),
                    key.workload.clone().unwrap_or_default(),
                    key.path(),
                    held.question.better.name().to_owned(),
                    number(contrast.medians[0]),
                    number(contrast.medians[1]),
                    number(contrast.difference),
                    interval.map_or_else(String::new, |interval| number(interval.low)),
                    interval.map_or_else(String::new, |interval| number(interval.high)),
                    number(contrast.level),
                    number(held.question.same_within()),
                    contrast.runs[0].min(contrast.runs[1]).to_string(),
                    held.answer.test.name().to_owned(),
                    number(held.answer.p),
                    number(held.answer.corrected),
                    held.answer.judgement.name().to_owned(),
                ];
                super::csv::line(&mut text, fields.iter().map(String::as_str));
            }
        }
        text
    }
}
