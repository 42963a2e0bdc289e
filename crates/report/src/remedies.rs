//! Simulated changes of a run: for the head of its page, as a section of it, and as text.

use crate::html::{self, badge, cell_text, escaped};
use crate::sanitise::{sanitise, wrap};
use crate::style::{Tone, paint};
use crate::table::Badge;
use netburn_analysis::explain::{Remedies, Remedy, RemedyEffect};
use netburn_record::summary::verdict_name;
use std::fmt::Write as _;

/// Number of changes that a text shows: more would hide the best one.
const SHOWN: usize = 3;
/// Number of effects of each change in a text.
const EFFECTS: usize = 4;

/// How often each change was simulated: `simulated once` or `simulated 8 times`.
fn times(of: &Remedies) -> String {
    match of.runs {
        1 => "simulated once".to_owned(),
        runs => format!("simulated {runs} times"),
    }
}

/// `laptop: pages in time 50 % → 100 %`.
fn effect(of: &RemedyEffect) -> String {
    let [before, after] = &of.medians;
    format!("{}: {} {before} → {after}", of.station, of.what)
}

/// Effects, the better ones first, with the number of those that are left out.
fn effects(of: &Remedy, shown: usize) -> String {
    let better = of.effects.iter().filter(|one| one.is_better).map(effect);
    let worse = of.effects.iter().filter(|one| !one.is_better);
    let worse = worse.map(|one| format!("{} (worse)", effect(one)));
    let all: Vec<String> = better.chain(worse).collect();
    let more = match all.len().saturating_sub(shown) {
        0 => String::new(),
        more => format!("; {more} more"),
    };
    let listed: Vec<String> = all.into_iter().take(shown).collect();
    listed.join("; ") + &more
}

/// The best change for the head of a page; empty if none helps.
pub(crate) fn head(of: &Remedies) -> String {
    let Some(best) = of.best() else {
        return String::new();
    };
    let mut out = format!(
        "<p><strong>{}.</strong></p>\n<p>In a model of this network, {}, the verdict is {} instead of {}.",
        escaped(&best.instruction),
        times(of),
        badge(&Badge::of_verdict(best.verdict, false)),
        badge(&Badge::of_verdict(of.verdict, false)),
    );
    if !best.effects.is_empty() {
        let _ = write!(out, " {}.", cell_text(&effects(best, usize::MAX)));
    }
    let _ = writeln!(out, " It needs {}.</p>", best.effort.words());
    out
}

/// All changes as a section of a page; empty without any.
pub(crate) fn section(of: &Remedies) -> String {
    if of.changes.is_empty() {
        return String::new();
    }
    let mut out = format!(
        "<p class=\"note\">Each change was {} in a model of this network, with the same seeds as without it; the verdict is that of \
         the worst simulation. Without a change it is {}.</p>\n<ol class=\"causes\">\n",
        times(of),
        verdict_name(of.verdict)
    );
    for change in &of.changes {
        let settings = change.set.iter().map(|(key, value)| format!("`--set '{key}={value}'`"));
        let settings = settings.collect::<Vec<_>>().join(" ");
        let _ = writeln!(
            out,
            "<li>{} <strong>{}</strong>{}<p>It needs {}. {}</p></li>",
            badge(&Badge::of_verdict(change.verdict, false)),
            escaped(&change.instruction),
            match change.effects.is_empty() {
                true => String::new(),
                false => format!("<p>{}.</p>", cell_text(&effects(change, usize::MAX))),
            },
            change.effort.words(),
            html::with_code(&format!("Try it with {settings}."))
        );
    }
    out.push_str("</ol>\n");
    out
}

/// The first changes as lines of at most `width` columns, after an empty line and a heading. No lines without any.
#[must_use]
pub fn lines(of: &Remedies, width: usize, colour: bool) -> Vec<String> {
    if of.changes.is_empty() {
        return Vec::new();
    }
    let heading = format!(
        "What would help, {} each (verdict without a change: {}):",
        times(of),
        verdict_name(of.verdict)
    );
    let mut lines = vec![String::new()];
    lines.extend(wrap(&paint(&heading, Tone::Heading, colour), width, ""));
    for (number, change) in (1..).zip(of.changes.iter().take(SHOWN)) {
        let tone = if change.is_best { Tone::Good } else { Tone::Plain };
        let title = paint(&sanitise(&change.instruction), tone, colour);
        let verdict = verdict_name(change.verdict);
        lines.extend(wrap(&format!("{number}. {title}: {verdict}."), width, "   "));
        if !change.effects.is_empty() {
            let effects = format!("   {}.", sanitise(&effects(change, EFFECTS)));
            lines.extend(wrap(&effects, width, "   "));
        }
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;
    use netburn_analysis::explain::causes::Effort;
    use netburn_workload::Verdict;

    fn effect(station: &str, medians: [&str; 2], is_better: bool) -> RemedyEffect {
        RemedyEffect {
            station: station.to_owned(),
            what: "pages in time".to_owned(),
            medians: medians.map(str::to_owned),
            is_better,
        }
    }

    fn change(instruction: &str, is_best: bool, verdict: Verdict, effects: Vec<RemedyEffect>) -> Remedy {
        Remedy {
            instruction: instruction.to_owned(),
            effort: Effort::Firmware,
            set: vec![("ap.home.queue".to_owned(), "airtime".to_owned())],
            verdict,
            is_best,
            effects,
        }
    }

    fn two() -> Remedies {
        Remedies {
            runs: 8,
            verdict: Verdict::Fail,
            changes: vec![
                change(
                    "Use a fair queue",
                    true,
                    Verdict::Pass,
                    vec![
                        effect("tablet", ["40 %", "30 %"], false),
                        effect("laptop", ["50 %", "100 %"], true),
                    ],
                ),
                change("Move tablet", false, Verdict::Fail, Vec::new()),
            ],
        }
    }

    #[test]
    fn a_text_begins_with_the_best_change_and_what_becomes_better() {
        assert_eq!(
            lines(&two(), 100, false),
            [
                "",
                "What would help, simulated 8 times each (verdict without a change: fail):",
                "1. Use a fair queue: pass.",
                "   laptop: pages in time 50 % → 100 %; tablet: pages in time 40 % → 30 % (worse).",
                "2. Move tablet: fail.",
            ]
        );
        let none = Remedies {
            changes: Vec::new(),
            ..two()
        };
        assert_eq!(lines(&none, 100, false), Vec::<String>::new());
        assert_eq!(section(&none), "");
    }

    /// A stored file can come from another machine, as a part of an archive.
    #[test]
    fn a_page_has_no_foreign_markup_and_a_text_no_control_characters() {
        let mut hostile = two();
        hostile.changes[0].instruction = "<b>\u{1b}[2J".to_owned();
        hostile.changes[0].set[0].1 = "<i>".to_owned();
        hostile.changes[0].effects[0].station = "<u>".to_owned();
        let page = head(&hostile) + &section(&hostile);
        for tag in ["<b>", "<i>", "<u>", "\u{1b}"] {
            assert!(!page.contains(tag), "{tag:?} in {page}");
        }
        assert!(lines(&hostile, 60, false).iter().all(|line| !line.contains('\u{1b}')));
    }

    #[test]
    fn without_a_change_that_helps_the_head_stays_empty() {
        let mut none = two();
        none.changes[0].is_best = false;
        assert_eq!(head(&none), "");
        assert!(head(&two()).contains("Use a fair queue"));
    }
}
