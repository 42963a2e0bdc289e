//! Effects of changes as advice for the users of a network, and as JSON.

use super::plain::{change, instruction, name, now};
use super::{Effect, Effects, Value};
use netburn_analysis::explain::Explanation;
use netburn_report::sanitise::{sanitise, wrap};
use netburn_report::style::{Tone, paint};
use netburn_stats::metric_change::Judgement;
use serde_json::{Value as Json, json};

/// Share of the samples that meets a goal for a pass.
const PASS: f64 = 0.99;

/// Formats the advice, `width` columns wide, without a newline at the end: the recommended change with its effect on each
/// device, then the others.
///
/// `warning` is the reason for which the models may be those of another network. It is then the first line, and each change is
/// marked.
#[must_use]
pub fn advice(
    effects: &Effects<'_>,
    explanation: &Explanation,
    warning: Option<&str>,
    width: usize,
    colour: bool,
) -> String {
    let mut page = Page {
        lines: Vec::new(),
        width,
        colour,
    };
    if let Some(warning) = warning {
        page.heading(&format!("Uncertain: {warning}"), Tone::Unreliable);
        page.blank();
    }
    let first = effects.recommended().or_else(|| effects.promising());
    match first {
        _ if effects.is_fine() => page.fine(effects),
        Some(effect) => page.first(effects, effect, explanation, warning.is_some()),
        None => page.nothing(effects, explanation),
    }
    let others: Vec<&Effect<'_>> = effects.effects.iter().skip(usize::from(first.is_some())).collect();
    if !others.is_empty() {
        page.blank();
        let heading = if first.is_some() {
            "Other changes, the best first:"
        } else {
            "Simulated changes, the best first:"
        };
        page.heading(heading, Tone::Heading);
        let (idle, others): (Vec<&Effect<'_>>, Vec<&Effect<'_>>) = others
            .into_iter()
            .partition(|effect| effect.judgement == Judgement::Same);
        for effect in others {
            page.other(effects, effect, warning.is_some());
        }
        page.idle(&idle, warning.is_some());
    }
    page.lines.join("\n")
}

struct Page {
    lines: Vec<String>,
    width: usize,
    colour: bool,
}

impl Page {
    fn blank(&mut self) {
        self.lines.push(String::new());
    }

    fn heading(&mut self, text: &str, tone: Tone) {
        let painted = paint(&sanitise(text), tone, self.colour);
        self.lines.extend(wrap(&painted, self.width, ""));
    }

    fn text(&mut self, text: &str) {
        self.lines.extend(wrap(&sanitise(text), self.width, ""));
    }

    /// Text with an indent, also of its first line.
    fn indented(&mut self, text: &str) {
        self.lines
            .extend(wrap(&format!("  {}", sanitise(text)), self.width, "  "));
    }

    fn fine(&mut self, effects: &Effects<'_>) {
        self.heading("No change is needed for this load.", Tone::Good);
        let of = match effects.missing {
            0 => format!("all {} equally likely models", effects.models),
            missing => format!(
                "{} of {} equally likely models",
                effects.models - missing,
                effects.models
            ),
        };
        self.text(&format!(
            "In {of} of your network, every device meets its goals, or misses them only now and then."
        ));
    }

    fn nothing(&mut self, effects: &Effects<'_>, explanation: &Explanation) {
        self.heading("No simulated change is sure to help.", Tone::Unreliable);
        self.text(&missing(effects));
        self.why(explanation);
        // Each effect has the same values without its change.
        let values = effects.effects.first().map_or(&[][..], |effect| &effect.values);
        let missed = by_device(values, |value| value.is_goal() && value.before[1] < PASS, now);
        if missed.is_empty() {
            return;
        }
        self.blank();
        for (device, lines) in missed {
            self.indented(&format!("{device}: {}", lines.join("; ")));
        }
        self.blank();
        self.text(&format!(
            "Each value is the median of {} equally likely models of your network. In brackets are the smallest and the largest \
             value.",
            effects.models
        ));
    }

    fn first(&mut self, effects: &Effects<'_>, effect: &Effect<'_>, explanation: &Explanation, is_uncertain: bool) {
        let is_sure = effect.judgement == Judgement::Better;
        let title = match (is_sure, is_uncertain) {
            (true, false) => "Recommended",
            (true, true) => "Recommended, but uncertain",
            (false, _) => "Worth a try, but not sure to help",
        };
        let tone = if is_sure && !is_uncertain {
            Tone::Good
        } else {
            Tone::Unreliable
        };
        let what_if = &effect.answer.what_if;
        self.heading(&format!("{title}: {}.", instruction(what_if)), tone);
        self.text(&format!("It needs {}.", what_if.effort.words()));
        self.why(explanation);
        self.blank();
        for (device, lines) in by_device(&effect.values, is_shown, gained) {
            self.indented(&format!("{device}: {}", lines.join("; ")));
        }
        let costs = by_device(&effect.values, |value| value.judgement == Judgement::Worse, gained);
        if !costs.is_empty() {
            let costs: Vec<String> = costs
                .into_iter()
                .map(|(device, lines)| format!("{device}, {}", lines.join(", ")))
                .collect();
            self.indented(&format!("It costs: {}.", costs.join("; ")));
        }
        self.blank();
        self.text(&format!(
            "Each value is the median of {} equally likely models of your network, without the change → with it. In brackets \
             are the smallest and the largest value with the change.",
            effects.models
        ));
        self.text(&format!("{} {}", missing(effects), sentence(effects, effect)));
    }

    fn why(&mut self, explanation: &Explanation) {
        if let Some(cause) = explanation.causes.first() {
            self.text(&format!("Why: {}.", cause.title));
        }
    }

    /// Changes that change little.
    fn idle(&mut self, effects: &[&Effect<'_>], is_uncertain: bool) {
        if effects.is_empty() {
            return;
        }
        let all: Vec<String> = effects
            .iter()
            .map(|effect| instruction(&effect.answer.what_if))
            .collect();
        let mark = if is_uncertain { "Uncertain: these" } else { "These" };
        let text = format!("- {mark} change little: {}.", all.join("; "));
        self.lines.extend(wrap(&sanitise(&text), self.width, "  "));
    }

    fn other(&mut self, effects: &Effects<'_>, effect: &Effect<'_>, is_uncertain: bool) {
        let what_if = &effect.answer.what_if;
        let mark = if is_uncertain { "Uncertain: " } else { "" };
        let mut text = format!("- {mark}{}. {}", instruction(what_if), sentence(effects, effect));
        let costs = by_device(&effect.values, |value| value.judgement == Judgement::Worse, gained);
        if let Some((device, lines)) = costs.first() {
            text.push_str(&format!(" It costs: {device}, {}.", lines.join(", ")));
        }
        text.push_str(&format!(" It needs {}.", what_if.effort.words()));
        self.lines.extend(wrap(&sanitise(&text), self.width, "  "));
    }
}

/// In how many models something is missed without a change.
fn missing(effects: &Effects<'_>) -> String {
    format!(
        "Without a change, a device misses a goal in {} of {} models.",
        effects.missing, effects.models
    )
}

/// In how many models a change helps.
fn sentence(effects: &Effects<'_>, effect: &Effect<'_>) -> String {
    let all = effects.models;
    let still = match effect.missing {
        0 => "and then every device meets its goals".to_owned(),
        missing => format!("but a device still misses a goal in {missing}"),
    };
    match effect.judgement {
        Judgement::Better => format!(
            "It helps in {} of these {} models, {still}.",
            effect.better, effects.missing
        ),
        Judgement::Same => "It changes little.".to_owned(),
        Judgement::Worse => format!("It makes something worse in {} of {all} models.", effect.worse),
        Judgement::CantTell => format!(
            "Can't tell: it helps in {}, makes something worse in {}, and changes little in {} of {all} models.",
            effect.better,
            effect.worse,
            all - effect.better - effect.worse
        ),
    }
}

/// True for a value that the users of a device notice.
fn is_shown(value: &Value) -> bool {
    let is_missed = value.is_goal() && value.before[1] < PASS;
    match value.judgement {
        Judgement::Worse => false,
        Judgement::Better => true,
        Judgement::Same | Judgement::CantTell => is_missed,
    }
}

/// Values in words, by device in the order of the summary.
fn by_device(
    values: &[Value],
    is_shown: impl Fn(&Value) -> bool,
    words: fn(&Value) -> String,
) -> Vec<(String, Vec<String>)> {
    let mut devices: Vec<(String, Vec<String>)> = Vec::new();
    for value in values.iter().filter(|value| is_shown(value)) {
        let (Some(device), Some(name)) = (&value.key.station, name(value)) else {
            continue;
        };
        let line = format!("{name} {}", words(value));
        match devices.last_mut() {
            Some((last, lines)) if last == device => lines.push(line),
            _ => devices.push((device.clone(), vec![line])),
        }
    }
    devices
}

/// The value without and with the change, and a note if the models differ about its direction.
fn gained(value: &Value) -> String {
    let unsure = if value.judgement == Judgement::CantTell {
        ", can't tell"
    } else {
        ""
    };
    format!("{}{unsure}", change(value))
}

/// Returns JSON: `{ models, missing, recommended, promising, changes: [{ label, effort, set, judgement, better, worse, missing,
/// values: [{ path, before, after, better, worse, judgement }] }] }`, the best change first. `recommended` and `promising` are
/// labels or `null`. `before` and `after` have the smallest, the median and the largest value of the models; an infinite one is
/// `null`.
#[must_use]
pub fn advice_json(effects: &Effects<'_>) -> Json {
    let label = |effect: Option<&Effect<'_>>| effect.map(|effect| effect.answer.what_if.label.clone());
    json!({
        "models": effects.models,
        "missing": effects.missing,
        "recommended": label(effects.recommended()),
        "promising": label(effects.promising()),
        "changes": effects.effects.iter().map(effect_json).collect::<Vec<_>>(),
    })
}

fn effect_json(effect: &Effect<'_>) -> Json {
    let what_if = &effect.answer.what_if;
    let set = what_if
        .set
        .iter()
        .map(|(key, value)| (key.clone(), value.clone().into()));
    json!({
        "label": what_if.label,
        "effort": what_if.effort.name(),
        "set": Json::Object(set.collect()),
        "judgement": effect.judgement.name(),
        "better": effect.better,
        "worse": effect.worse,
        "missing": effect.missing,
        "values": effect.values.iter().map(value_json).collect::<Vec<_>>(),
    })
}

fn value_json(value: &Value) -> Json {
    json!({
        "path": value.key.path(),
        "before": value.before,
        "after": value.after,
        "better": value.better,
        "worse": value.worse,
        "judgement": value.judgement.name(),
    })
}
