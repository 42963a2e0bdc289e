//! What came of a comparison, written.

use super::judge::{Figure, Kind, Outcome, median, range};
use netburn_workload::Verdict;
use serde_json::{Value, json};

/// What came of one case.
#[derive(Debug)]
pub(super) struct Compared {
    pub(super) name: String,
    pub(super) group: &'static str,
    pub(super) runs: u32,
    pub(super) figures: Vec<Judged>,
    /// Why the lab's figures can't be believed.
    pub(super) doubts: Vec<String>,
}

/// A figure, and how it compares.
#[derive(Debug)]
pub(super) struct Judged {
    pub(super) figure: Figure,
    pub(super) outcome: Outcome,
    /// Why it differs, where that is known.
    pub(super) known: Option<&'static str>,
}

impl Judged {
    /// Whether it differs without a reason.
    pub(super) fn is_fault(&self) -> bool {
        self.outcome == Outcome::Differs && self.known.is_none()
    }

    fn word(&self) -> &'static str {
        match (self.outcome, self.known) {
            (Outcome::Agrees, _) => "agrees",
            (Outcome::WithinSpread, _) => "within the spread",
            (Outcome::Differs, Some(_)) => "differs, known",
            (Outcome::Differs, None) => "differs",
            (Outcome::Doubted, _) => "unreliable",
        }
    }
}

/// One case as lines.
pub(super) fn lines(case: &Compared) -> Vec<String> {
    let mut lines = Vec::new();
    if !case.doubts.is_empty() {
        lines.push(format!("{}: inconclusive: {}", case.name, case.doubts.join("; ")));
    }
    lines.extend(case.figures.iter().map(|judged| {
        let figure = &judged.figure;
        format!(
            "{:<28} {:<24} {:>22} {:>22}  {}",
            case.name,
            figure.what,
            values(figure.kind, &figure.simulator),
            values(figure.kind, &figure.lab),
            judged.word(),
        )
    }));
    lines
}

/// As lines, for people.
pub(super) fn text(all: &[Compared]) -> String {
    let mut text: String = all.iter().flat_map(lines).map(|line| line + "\n").collect();
    text.push_str(&format!("simulator and lab: {}\n", counts(all)));
    text
}

/// As tables, one a group.
pub(super) fn markdown(all: &[Compared]) -> String {
    let mut text = String::new();
    let mut group = "";
    for case in all {
        if case.group != group {
            group = case.group;
            text.push_str(&format!(
                "\n### {group}\n\n| case | runs | figure | simulator | lab | |\n|---|---|---|---|---|---|\n"
            ));
        }
        if !case.doubts.is_empty() {
            text.push_str(&format!(
                "| `{}` | {} | | | | inconclusive: {} |\n",
                case.name,
                case.runs,
                case.doubts.join("; ")
            ));
        }
        for (judged, number) in case.figures.iter().zip(0..) {
            let figure = &judged.figure;
            let (name, runs) = match number {
                0 => (format!("`{}`", case.name), case.runs.to_string()),
                _ => (String::new(), String::new()),
            };
            text.push_str(&format!(
                "| {name} | {runs} | {} | {} | {} | {} |\n",
                figure.what,
                values(figure.kind, &figure.simulator),
                values(figure.kind, &figure.lab),
                judged.word()
            ));
        }
    }
    text.push_str(&format!("\n{}.\n", counts(all)));
    text
}

/// For scripts.
pub(super) fn json(all: &[Compared]) -> Value {
    let case = |case: &Compared| {
        let figure = |judged: &Judged| {
            let of = &judged.figure;
            json!({ "figure": of.what, "simulate": of.simulator, "lab": of.lab, "outcome": judged.word(),
                    "why": judged.known })
        };
        json!({ "case": case.name, "runs": case.runs, "doubts": case.doubts,
                "figures": case.figures.iter().map(figure).collect::<Vec<_>>() })
    };
    Value::Array(all.iter().map(case).collect())
}

/// How many figures say something, and what.
fn counts(all: &[Compared]) -> String {
    let count = |which: &dyn Fn(&&Judged) -> bool| all.iter().flat_map(|case| &case.figures).filter(which).count();
    let doubted = count(&|judged| judged.outcome == Outcome::Doubted);
    let counted = count(&|judged| judged.outcome != Outcome::Doubted);
    let faults = count(&|judged| judged.is_fault());
    let besides = match doubted {
        0 => String::new(),
        doubted => format!("; {doubted} more are unreliable"),
    };
    format!("{counted} figures, of which {faults} differ without a known reason{besides}")
}

/// The median, and the range where there were several.
fn values(kind: Kind, values: &[f64]) -> String {
    let Some(middle) = median(values) else {
        return "–".to_owned();
    };
    let one = |value: f64| match kind {
        Kind::Verdict => verdict(value).to_owned(),
        _ if value < 10.0 => format!("{value:.2}"),
        _ => format!("{value:.1}"),
    };
    let (least, most) = range(values);
    match kind {
        Kind::Verdict => one(middle),
        _ if values.len() == 1 => one(middle),
        _ => format!("{} ({} to {})", one(middle), one(least), one(most)),
    }
}

/// Verdicts as numbers, the better the less.
pub(super) fn number(verdict: Verdict) -> f64 {
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
