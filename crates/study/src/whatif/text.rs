//! Answers for a terminal and for scripts.

use super::{Answer, Answers, Figure, Measure, Proposed};
use netburn_record::summary::verdict_name;
use netburn_report::explain::{Cause, lines};
use netburn_report::paint::{Tone, paint};
use netburn_report::plain::{sanitise, wrap};
use netburn_report::table::{Cell, left, render, right};
use netburn_stats::judge::Judgement;
use serde_json::{Value, json};

/// What the figures suggest and what each change brings, `width` columns wide.
#[must_use]
pub fn text(causes: &[Cause], proposed: &Proposed, answers: Option<&Answers>, width: usize, colour: bool) -> String {
    let mut said: Vec<String> = match causes.is_empty() {
        true => vec![
            "The figures suggest no cause: whoever is here is well served, or what is wrong leaves no trace in them."
                .to_owned(),
        ],
        false => lines(causes, width, colour)
            .into_iter()
            .skip_while(String::is_empty)
            .collect(),
    };
    if let Some(answers) = answers.filter(|answers| !answers.answers.is_empty()) {
        said.push(String::new());
        let each = match answers.runs {
            1 => "one run of each".to_owned(),
            runs => format!("{runs} runs of each, under the same seeds"),
        };
        let heading = format!(
            "What would help, by the simulator: {each}. As it is, it would {}.",
            verdict_verb(verdict_name(answers.verdict))
        );
        said.extend(wrap(&paint(&heading, Tone::Heading, colour), width, ""));
        for answer in &answers.answers {
            said.push(String::new());
            said.extend(block(answer, width, colour));
        }
        said.push(String::new());
        let legend = "Better and worse: by more than 5 % (of a latency also 1 ms, of a goal's share 1 %), and the interval of the difference, 95 % sure \
                      or as sure as so few runs make it, does not reach nought. Figures that stay the same or can't be told are left out.";
        said.extend(wrap(legend, width, ""));
    }
    if !proposed.without.is_empty() {
        said.push(String::new());
        said.extend(proposed.without.iter().flat_map(|why| wrap(&sanitise(why), width, "")));
    }
    let mut text = said.join("\n");
    text.push('\n');
    text
}

fn block(answer: &Answer, width: usize, colour: bool) -> Vec<String> {
    let told = |judgement: Judgement| {
        answer
            .figures
            .iter()
            .filter(|figure| figure.judged.judgement == judgement)
            .count()
    };
    let (better, worse) = (told(Judgement::Better), told(Judgement::Worse));
    let tone = match (better, worse) {
        (0, 0) => Tone::Plain,
        (_, 0) => Tone::Good,
        (0, _) => Tone::Bad,
        _ => Tone::Doubtful,
    };
    let verdict = verdict_name(answer.verdict);
    let counts = match (better, worse) {
        (0, 0) => "nothing changes that can be told".to_owned(),
        (better, 0) => format!("{better} better"),
        (0, worse) => format!("{worse} worse"),
        (better, worse) => format!("{better} better, {worse} worse"),
    };
    let label = paint(&sanitise(&capital(&answer.what_if.label)), tone, colour);
    let mut said = wrap(
        &format!("{label}: it would {}; {counts}.", verdict_verb(verdict)),
        width,
        "  ",
    );
    for (key, value) in &answer.what_if.set {
        said.push(format!("  --set '{}={}'", sanitise(key), sanitise(value)));
    }
    let told = answer
        .figures
        .iter()
        .filter(|figure| matches!(figure.judged.judgement, Judgement::Better | Judgement::Worse));
    let rows: Vec<Vec<Cell>> = told.map(cells).collect();
    if !rows.is_empty() {
        let columns = [
            left("  STATION"),
            left("USE"),
            left("FIGURE"),
            right("AS IT IS"),
            right("THEN"),
            left("JUDGED"),
        ];
        said.extend(render(&columns, &rows, 2, width, colour));
    }
    said
}

fn cells(figure: &Figure) -> Vec<Cell> {
    let judged = &figure.judged;
    let known = |value: Option<f64>| value.map_or(Cell::EMPTY, |value| written(figure.measure, value).into());
    vec![
        format!("  {}", sanitise(&figure.station)).into(),
        sanitise(&figure.workload).into(),
        what(figure.measure).into(),
        known(judged.medians[0]),
        known(judged.medians[1]),
        Cell::new(judged.judgement.name(), judged.judgement.into()),
    ]
}

const fn what(measure: Measure) -> &'static str {
    match measure {
        Measure::Met => "goal kept, %",
        Measure::Throughput => "Mbit/s",
        Measure::Median => "p50 ms",
        Measure::P95 => "p95 ms",
        Measure::Stalled => "stalled ms",
    }
}

fn written(measure: Measure, value: f64) -> String {
    match measure {
        // Only all is 100 %.
        Measure::Met => format!("{:.1}", (value * 1000.0 + 1e-3).floor() / 10.0),
        _ if value >= 100.0 => format!("{value:.0}"),
        _ if value >= 10.0 => format!("{value:.1}"),
        _ => format!("{value:.2}"),
    }
}

fn verdict_verb(name: &str) -> &str {
    match name {
        "marginal" => "be marginal",
        "none" => "have no goals to keep",
        "inconclusive" => "be inconclusive",
        verb => verb,
    }
}

fn capital(text: &str) -> String {
    // Names are written as they are.
    match text.strip_prefix("the ") {
        Some(rest) => format!("The {rest}"),
        None => text.to_owned(),
    }
}

/// For scripts: `{ schema, run, causes, what_ifs: [{ cause, label, set, verdict, figures: [{ station, workload, figure, better, before, after,
/// difference, low, high, judgement }] }], verdict, runs, without }`; what isn't known is `null`.
#[must_use]
pub fn json(run: &str, causes: &[Cause], proposed: &Proposed, answers: Option<&Answers>) -> Value {
    let what_ifs: Vec<Value> = answers.map_or_else(
        || {
            proposed
                .what_ifs
                .iter()
                .map(|what_if| json!({ "cause": what_if.cause, "label": what_if.label, "set": set(&what_if.set) }))
                .collect()
        },
        |answers| answers.answers.iter().map(answered).collect(),
    );
    json!({
        "schema": "netburn.explain/1",
        "run": run,
        "causes": causes,
        "runs": answers.map(|answers| answers.runs),
        "verdict": answers.map(|answers| verdict_name(answers.verdict)),
        "what_ifs": what_ifs,
        "without": proposed.without,
    })
}

fn answered(answer: &Answer) -> Value {
    let figures: Vec<Value> = answer
        .figures
        .iter()
        .map(|figure| {
            let judged = &figure.judged;
            json!({
                "station": figure.station,
                "workload": figure.workload,
                "figure": figure.measure.name(),
                "better": figure.measure.better().name(),
                "before": judged.medians[0],
                "after": judged.medians[1],
                "difference": judged.shift.map(|shift| shift.estimate),
                "low": judged.shift.map(|shift| shift.interval.low),
                "high": judged.shift.map(|shift| shift.interval.high),
                "judgement": judged.judgement.name(),
            })
        })
        .collect();
    json!({
        "cause": answer.what_if.cause,
        "label": answer.what_if.label,
        "set": set(&answer.what_if.set),
        "verdict": verdict_name(answer.verdict),
        "figures": figures,
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
