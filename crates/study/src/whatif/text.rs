//! Results as text and JSON.

use super::{Answer, Answers, Interventions};
use netburn_analysis::compare::{Comparison, MetricComparison};
use netburn_analysis::explain::Explanation;
use netburn_record::summary::verdict_name;
use netburn_report::causes::lines;
use netburn_report::compare::{json as compared, metric_name, metric_value, text as compared_text};
use netburn_report::sanitise::{sanitise, wrap};
use netburn_report::style::{Tone, paint};
use netburn_report::table::{Cell, left, render, right};
use netburn_stats::metric_change::Judgement;
use serde_json::{Value, json};

/// Formats the likely causes and the result of each change, `width` columns wide. `warning` is the reason for which the model may
/// be that of another network; each change is then marked.
#[must_use]
pub fn text(
    explanation: &Explanation,
    proposed: &Interventions,
    answers: Option<&Answers>,
    warning: Option<&str>,
    width: usize,
    colour: bool,
) -> String {
    let mut output: Vec<String> = if explanation.is_empty() {
        vec!["No cause found: every station met its goals, and no probe is slow.".to_owned()]
    } else {
        lines(explanation, width, colour)
            .into_iter()
            .skip_while(String::is_empty)
            .collect()
    };
    if let Some(answers) = answers.filter(|answers| !answers.answers.is_empty()) {
        output.push(String::new());
        let (each, worst) = match answers.runs {
            1 => ("one run of each".to_owned(), ""),
            runs => (
                format!("{runs} runs of each, with the same seeds"),
                " Each verdict is that of the worst run.",
            ),
        };
        let heading = format!(
            "Simulated changes ({each}). Verdict without a change: {}.{worst}",
            verdict_name(answers.verdict)
        );
        output.extend(wrap(&paint(&heading, Tone::Heading, colour), width, ""));
        for answer in &answers.answers {
            output.push(String::new());
            output.extend(block(answer, width, colour));
            if let Some(warning) = warning {
                output.extend(wrap(&format!("  Uncertain: {}", sanitise(warning)), width, "  "));
            }
        }
        output.push(String::new());
        let few = answers.answers.iter().find_map(|answer| answer.comparison.too_few());
        if let Some(needed) = few {
            let note = format!("Too few runs to decide what becomes better or worse; use --runs {needed}.");
            output.extend(wrap(&note, width, ""));
        }
        let method = compared_text::method(&answers.answers[0].comparison);
        let legend = format!("{method} Metrics without a significant difference are omitted.");
        output.extend(wrap(&legend, width, ""));
    }
    if answers.is_some_and(|answers| answers.interrupted) {
        output.push(String::new());
        output.extend(wrap("Stopped: the changes without a result are left out.", width, ""));
    }
    if !proposed.not_simulated.is_empty() {
        output.push(String::new());
        output.extend(
            proposed
                .not_simulated
                .iter()
                .flat_map(|why| wrap(&sanitise(why), width, "")),
        );
    }
    let mut text = output.join("\n");
    text.push('\n');
    text
}

fn block(answer: &Answer, width: usize, colour: bool) -> Vec<String> {
    let comparison = &answer.comparison;
    let (better, worse) = (comparison.count(Judgement::Better), comparison.count(Judgement::Worse));
    let tone = match (better, worse) {
        (0, 0) => Tone::Plain,
        (_, 0) => Tone::Good,
        (0, _) => Tone::Bad,
        _ => Tone::Unreliable,
    };
    let verdict = verdict_name(answer.verdict);
    let counts = match (better, worse) {
        // Fewer runs than the test needs show no difference, however large it is.
        (0, 0) if comparison.too_few().is_some() => "too few runs to tell what changes".to_owned(),
        (0, 0) => "no significant difference".to_owned(),
        (better, 0) => format!("{better} better"),
        (0, worse) => format!("{worse} worse"),
        (better, worse) => format!("{better} better, {worse} worse"),
    };
    let label = paint(&sanitise(&capital(&answer.what_if.label)), tone, colour);
    let mut output = wrap(&format!("{label}: verdict {verdict}; {counts}."), width, "  ");
    let effort = format!("  It needs {}.", answer.what_if.effort.words());
    output.extend(wrap(&effort, width, "  "));
    for (key, value) in &answer.what_if.set {
        output.push(format!("  --set '{}={}'", sanitise(key), sanitise(value)));
    }
    let significant = comparison.metrics.iter().filter(|held| held.is_decided());
    let rows: Vec<Vec<Cell>> = significant.map(|held| cells(comparison, held)).collect();
    if !rows.is_empty() {
        let columns = [
            left("  STATION"),
            left("METRIC"),
            right("BASELINE"),
            right("WITH CHANGE"),
            left("RESULT"),
        ];
        output.extend(render(&columns, &rows, 2, width, colour));
    }
    output
}

fn cells(comparison: &Comparison, held: &MetricComparison) -> Vec<Cell> {
    let (key, judgement) = (&held.key, held.answer.judgement);
    let [before, after] = held.contrast().medians;
    let station = key.station.as_deref().unwrap_or("(all)");
    vec![
        format!("  {}", sanitise(station)).into(),
        sanitise(&metric_name(key, comparison.keys())).into(),
        metric_value(before, key).into(),
        metric_value(after, key).into(),
        Cell::new(judgement.name(), judgement.into()),
    ]
}

fn capital(text: &str) -> String {
    // Labels that start with a name keep its spelling.
    match text.strip_prefix("the ") {
        Some(rest) => format!("The {rest}"),
        None => text.to_owned(),
    }
}

/// Returns JSON: `{ schema, run, causes, unexplained: [{ station, what }], what_ifs: [{ cause, label, effort, set, verdict, metrics: […] }], verdict, runs, not_simulated }`, where `metrics` are
/// as in `netburn compare --format json`. Unknown values are `null`.
#[must_use]
pub fn json(run: &str, explanation: &Explanation, proposed: &Interventions, answers: Option<&Answers>) -> Value {
    let what_ifs: Vec<Value> = answers.map_or_else(
        || {
            proposed
                .what_ifs
                .iter()
                .map(|what_if| json!({ "cause": what_if.cause, "label": what_if.label, "effort": what_if.effort.name(), "set": set(&what_if.set) }))
                .collect()
        },
        |answers| answers.answers.iter().map(answered).collect(),
    );
    json!({
        "schema": "netburn.explain/1",
        "run": run,
        "causes": explanation.causes,
        "unexplained": explanation.unexplained,
        "runs": answers.map(|answers| answers.runs),
        "verdict": answers.map(|answers| verdict_name(answers.verdict)),
        "what_ifs": what_ifs,
        "not_simulated": proposed.not_simulated,
    })
}

fn answered(answer: &Answer) -> Value {
    let comparison = &answer.comparison;
    let metrics: Vec<Value> = comparison
        .metrics
        .iter()
        .map(|held| compared::metric_comparison(comparison, held))
        .collect();
    json!({
        "cause": answer.what_if.cause,
        "label": answer.what_if.label,
        "effort": answer.what_if.effort.name(),
        "set": set(&answer.what_if.set),
        "verdict": verdict_name(answer.verdict),
        "metrics": metrics,
    })
}

fn set(pairs: &[(String, String)]) -> Value {
    Value::Object(
        pairs
            .iter()
            .map(|(key, value)| (key.clone(), Value::from(value.clone())))
            .collect(),
    )
}
