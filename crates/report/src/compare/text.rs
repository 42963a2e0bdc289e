//! Comparisons, rankings and matrices for a terminal.

mod matrix;
mod ranking;

pub use matrix::matrix;
pub use ranking::ranking;
pub(super) use ranking::{legend, warnings};

use super::format::{counts, runs};
use super::tables;
use crate::environment::sentence;
use crate::sanitise::{sanitise, truncate, wrap};
use crate::style::{Tone, paint};
use netburn_analysis::compare::{ChangedKey, Comparison, NotCompared, Pairing, Side};
use netburn_record::summary::verdict_name;
use netburn_stats::contrast::{LEVEL, Test};
use netburn_stats::metric_change::MIN_RUNS;
use netburn_workload::Verdict;

/// Maximum number of keys of the scenario that are listed.
const DIFFERING: usize = 12;

/// Lines of about `width` columns, with colours if `colour`.
#[must_use]
pub fn comparison(comparison: &Comparison, width: usize, colour: bool) -> String {
    let mut lines = Vec::new();
    if let Some(environment) = comparison.these.environment() {
        lines.extend(wrap(sentence(environment), width, ""));
        lines.push(String::new());
    }
    lines.extend(comparison_lines(comparison, width, colour));
    lines.extend(wrap(&method(comparison), width, "  "));
    let mut text = lines.join("\n");
    text.push('\n');
    text
}

/// The same without the environment and the [`method`], for one of several comparisons.
#[must_use]
pub fn comparison_lines(comparison: &Comparison, width: usize, colour: bool) -> Vec<String> {
    let mut lines = wrap(&top(comparison, colour), width, "  ");
    if let Some(change) = verdict_change(comparison) {
        lines.extend(wrap(&format!("  {change}"), width, "    "));
    }
    for line in premises(comparison) {
        lines.extend(wrap(&format!("  {line}"), width, "    "));
    }
    if !comparison.metrics.is_empty() {
        lines.push(String::new());
        lines.extend(tables::metrics(comparison).lines(width, colour));
    }
    lines.push(String::new());
    for line in remarks(comparison) {
        lines.extend(wrap(&line, width, "  "));
    }
    lines
}

/// Overall result in one line.
fn top(comparison: &Comparison, colour: bool) -> String {
    let headline = comparison.headline();
    let judgement = comparison.judgement();
    let tone = if headline == judgement.name() {
        judgement.into()
    } else {
        Tone::Unreliable
    };
    let counts = if comparison.metrics.is_empty() {
        "nothing to compare".to_owned()
    } else {
        counts(comparison.metrics.iter().map(|metric| &metric.answer))
    };
    format!(
        "{} – {}: {counts}",
        paint(&headline.to_uppercase(), tone, colour),
        paint(
            &format!(
                "{} against {}",
                sanitise(&comparison.these.name),
                sanitise(&comparison.against.name)
            ),
            Tone::Heading,
            colour
        ),
    )
}

/// The verdicts of both sides, and the stations whose verdict differs; `None` if neither side has goals.
pub(super) fn verdict_change(comparison: &Comparison) -> Option<String> {
    let change = comparison.verdict_change();
    if [change.baseline, change.candidate] == [Verdict::None; 2] {
        return None;
    }
    let names = [&comparison.against.name, &comparison.these.name].map(|name| sanitise(name));
    let words = [change.baseline, change.candidate].map(verdict_name);
    let worst = match [&comparison.these, &comparison.against].map(|side| side.runs.len()) {
        [0 | 1, 0 | 1] => "Verdict".to_owned(),
        [these, against] if these == against => format!("Worst verdict of {these} runs"),
        _ => "Worst verdict of the runs".to_owned(),
    };
    let mut text = if change.baseline == change.candidate {
        format!("{worst}: {} in both.", words[0])
    } else {
        format!("{worst}: {} → {} ({} → {}).", words[0], words[1], names[0], names[1])
    };
    let changed = change
        .stations
        .iter()
        .filter(|(_, verdicts)| verdicts[0] != verdicts[1]);
    let mut stations: Vec<String> = changed
        .map(|(name, verdicts)| {
            let [before, after] = verdicts.map(verdict_name);
            format!("{} {before} → {after}", sanitise(name))
        })
        .collect();
    let more = stations.len().saturating_sub(DIFFERING);
    stations.truncate(DIFFERING);
    if more > 0 {
        stations.push(format!("and {more} more stations"));
    }
    if !stations.is_empty() {
        text.push_str(&format!(" Stations: {}.", stations.join(", ")));
    }
    Some(text)
}

/// Compared runs, and known differences between them.
pub(super) fn premises(comparison: &Comparison) -> Vec<String> {
    let side = |side: &Side| {
        let environment = side
            .environment()
            .map_or("an unknown environment", |environment| environment.name());
        format!(
            "{} of {} on {environment}",
            runs(side.runs.len()),
            sanitise(side.scenario())
        )
    };
    let mut lines = vec![format!(
        "{}, against {}",
        side(&comparison.these),
        side(&comparison.against)
    )];
    if let Some([these, against]) = comparison.environments() {
        lines.push(format!(
            "Warning: the two sides ran in different environments ({}, {}); differences may come from that.",
            these.name(),
            against.name()
        ));
    }
    for side in [&comparison.these, &comparison.against] {
        if side.mixed {
            lines.push(format!(
                "{} mixes runs of different scenarios or environments; its medians cover all of them. `--ranked` compares each with the others.",
                sanitise(&side.name)
            ));
        }
    }
    lines.extend(together(comparison));
    match &comparison.changed_keys {
        Some(changed_keys) if changed_keys.is_empty() => {
            let seeds = [&comparison.these, &comparison.against].map(Side::seeds);
            let text = match seeds {
                [these, against] if these == against => "Same scenario and seeds.",
                _ => "Same scenario, different seeds.",
            };
            lines.push(text.to_owned());
        }
        Some(changed_keys) => {
            let each = changed_keys.iter().take(DIFFERING);
            let mut each: Vec<String> = each.map(changed).collect();
            if changed_keys.len() > DIFFERING {
                each.push(format!("and {} more keys", changed_keys.len() - DIFFERING));
            }
            lines.push(format!("Differences: {}", each.join("; ")));
        }
        None => {}
    }
    for (only, side) in comparison.only.iter().zip([&comparison.these, &comparison.against]) {
        if !only.is_empty() {
            let names: Vec<String> = only.iter().map(|name| sanitise(name)).collect();
            lines.push(format!("Only in {}: {}", sanitise(&side.name), names.join(", ")));
        }
    }
    lines.extend(not_compared(&comparison.not_compared));
    let [these, against] = comparison.inconclusive();
    for (count, side) in [(these, &comparison.these), (against, &comparison.against)] {
        if count > 0 {
            lines.push(format!(
                "{count} of the {} of {} {} inconclusive; the results of this side are unreliable.",
                runs(side.runs.len()),
                sanitise(&side.name),
                if count == 1 { "is" } else { "are" }
            ));
        }
    }
    lines
}

/// A line about values that are not compared, if there are any.
pub(super) fn not_compared(all: &[NotCompared]) -> Option<String> {
    let each = all.iter().take(DIFFERING).map(|not| {
        let name = match (&not.station, &not.workload) {
            (Some(station), Some(workload)) => format!("{station}.{workload}"),
            (Some(station), None) => station.clone(),
            (None, _) => "(all)".to_owned(),
        };
        format!("{} ({})", sanitise(&name), not.reason)
    });
    let mut each: Vec<String> = each.collect();
    if all.len() > DIFFERING {
        each.push(format!("and {} more", all.len() - DIFFERING));
    }
    (!each.is_empty()).then(|| format!("Not compared: {}", each.join(", ")))
}

/// Missing data, and the number of runs that would help.
pub(super) fn remarks(comparison: &Comparison) -> Vec<String> {
    if comparison.metrics.is_empty() {
        let what = if comparison.not_compared.is_empty() {
            "no station or metric in common"
        } else {
            "no comparable metric"
        };
        return vec![format!("The two sides have {what}; nothing to compare.")];
    }
    let mut lines = Vec::new();
    if !comparison.shares_a_station() {
        lines.push("The two sides have no station in common; only the totals are compared.".to_owned());
    }
    let (these, against) = (comparison.these.runs.len(), comparison.against.runs.len());
    let fewest = these.min(against);
    match comparison.too_few() {
        Some(_) if fewest < MIN_RUNS => lines.push(format!(
            "A comparison needs at least {MIN_RUNS} runs of each side: run both with --repeat {}.",
            comparison.too_few().unwrap_or(MIN_RUNS)
        )),
        Some(needed) => {
            let made = if these == against {
                format!("{} of each side", runs(these))
            } else {
                format!("{} against {against}", runs(these))
            };
            lines.push(format!(
                "With {made}, none of the {} varying metrics can be better or worse; {needed} runs of each are needed (--repeat {needed}).",
                comparison.judged_with
            ));
        }
        None => {}
    }
    lines
}

/// Description of the method; empty without metrics.
#[must_use]
pub fn method(comparison: &Comparison) -> String {
    if comparison.metrics.is_empty() {
        return String::new();
    }
    let percent = comparison.options.tolerance.map_or(5.0, |share| share * 100.0);
    let pairs = if comparison.metrics.iter().any(|metric| metric.contrast().paired) {
        "Runs with the same seed are compared in pairs. "
    } else {
        ""
    };
    let levels = comparison.metrics.iter().map(|metric| metric.contrast().level);
    let level = match levels.reduce(f64::min) {
        Some(least) if least < LEVEL.as_f64() => format!(" ({:.1} % with so few runs)", least * 100.0),
        _ => String::new(),
    };
    let by = |test: Test| comparison.metrics.iter().any(|metric| metric.answer.test == test);
    let test = match (by(Test::RankSum), by(Test::SignedRank)) {
        (_, false) => "Mann-Whitney rank-sum test",
        (false, true) => "Wilcoxon signed-rank test of pairs",
        (true, true) => {
            "Wilcoxon signed-rank test of pairs, or Mann-Whitney rank-sum test for metrics with too few pairs"
        }
    };
    format!(
        "Medians of runs. {pairs}Difference and interval: Hodges-Lehmann estimate with 95 % confidence{level}. p: {test}, with Holm's correction for the {} varying metrics. Better or worse: p below 0.05 and a difference above {} % (and 1 ms for a latency). Same: the whole interval is within that. Effect size, if better or worse: how often a run of one side is above or below a run of the other.",
        comparison.judged_with,
        netburn_analysis::format::short(percent),
    )
}

/// Sentence about the runs that both sides have in common.
fn together(comparison: &Comparison) -> Option<String> {
    let Pairing { pairs, identical } = &comparison.pairing;
    match (pairs.len(), *identical) {
        (1.., _) if comparison.pairing.is_identical() => Some(
            "Every run of one side is identical to a run of the other, to the last digit of every metric: there is no difference."
                .to_owned(),
        ),
        (0, 1..) => Some(format!(
            "Both sides contain {}, to the last digit of every metric: the sides are not independent.",
            match identical {
                1 => "one identical run".to_owned(),
                count => format!("{count} identical runs"),
            }
        )),
        (1.., 1..) => Some(format!("Same seeds; {identical} of the {} pairs are identical, to the last digit of every metric.", pairs.len())),
        (1.., 0) => Some("Same seeds: the runs are compared in pairs.".to_owned()),
        (0, 0) => None,
    }
}

/// A key that differs.
fn changed(changed_keys: &ChangedKey) -> String {
    let key = sanitise(&changed_keys.key);
    let shown = |value: &str| truncate(&sanitise(value), 40);
    match (&changed_keys.baseline, &changed_keys.value) {
        (Some(baseline), Some(value)) => format!("{key} {} → {}", shown(baseline), shown(value)),
        (Some(baseline), None) => format!("{key} {} → (none)", shown(baseline)),
        (None, Some(value)) => format!("{key} (none) → {}", shown(value)),
        (None, None) => key,
    }
}
