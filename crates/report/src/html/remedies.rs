//! Simulated changes of a run: the best one for the head of its page, and all of them as a section.

use super::{badge, cell_text, escaped, with_code};
use crate::remedies::{effects, times};
use crate::table::Badge;
use netburn_analysis::explain::Remedies;
use netburn_record::summary::verdict_name;
use std::fmt::Write as _;

/// The best change for the head of a page; empty if none helps.
pub(super) fn head(of: &Remedies) -> String {
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
pub(super) fn section(of: &Remedies) -> String {
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
            if change.effects.is_empty() {
                String::new()
            } else {
                format!("<p>{}.</p>", cell_text(&effects(change, usize::MAX)))
            },
            change.effort.words(),
            with_code(&format!("Try it with {settings}."))
        );
    }
    out.push_str("</ol>\n");
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::remedies::tests::two;

    /// A stored file can come from another machine, as a part of an archive.
    #[test]
    fn a_page_has_no_foreign_markup() {
        let mut hostile = two();
        hostile.changes[0].instruction = "<b>\u{1b}[2J".to_owned();
        hostile.changes[0].set[0].1 = "<i>".to_owned();
        hostile.changes[0].effects[0].station = "<u>".to_owned();
        let page = head(&hostile) + &section(&hostile);
        for tag in ["<b>", "<i>", "<u>", "\u{1b}"] {
            assert!(!page.contains(tag), "{tag:?} in {page}");
        }
    }

    #[test]
    fn without_a_change_that_helps_the_head_stays_empty() {
        let mut none = two();
        none.changes[0].is_best = false;
        assert_eq!(head(&none), "");
        assert!(head(&two()).contains("Use a fair queue"));
        none.changes.clear();
        assert_eq!(section(&none), "");
    }
}
