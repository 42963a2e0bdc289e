//! Simulated changes of a run as text.

use crate::sanitise::{sanitise, wrap};
use crate::style::{Tone, paint};
use netburn_analysis::explain::{Remedies, Remedy, RemedyEffect};
use netburn_record::summary::verdict_name;

/// Number of changes that a text shows: more would hide the best one.
const SHOWN: usize = 3;
/// Number of effects of each change in a text.
const EFFECTS: usize = 4;

/// Number of simulations of each change: `simulated once` or `simulated 8 times`.
pub(crate) fn times(of: &Remedies) -> String {
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
pub(crate) fn effects(of: &Remedy, shown: usize) -> String {
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
pub(crate) mod tests {
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

    /// A change that helps, and one that does not.
    pub(crate) fn two() -> Remedies {
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
    }

    #[test]
    fn foreign_control_characters_are_not_printed() {
        let mut hostile = two();
        hostile.changes[0].instruction = "a\u{1b}[2J".to_owned();
        assert!(lines(&hostile, 60, false).iter().all(|line| !line.contains('\u{1b}')));
    }
}
