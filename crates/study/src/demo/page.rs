//! The demonstration as a page.

use super::simulated;
use super::text::{advice, lead, plain};
use crate::whatif::{Answer, Answers};
use netburn_analysis::View;
use netburn_report::compare::html::{BeforeAfter, before_after};

/// The runs before and after the change `applied`, as a page. `links` are the addresses of the pages of both runs, relative to
/// this one.
#[must_use]
pub fn page(runs: [&View; 2], answers: &Answers, applied: &Answer, links: [&str; 2]) -> String {
    let [before, after] = runs;
    before_after(&BeforeAfter {
        title: "A slow neighbour: before and after one change",
        lead: &lead(&before.summary, &after.summary, &applied.what_if.label),
        causes: &before.explanation.causes,
        plain: plain(&before.explanation),
        advice: advice(&before.explanation),
        changes: &simulated(answers, Some(applied)),
        simulated: answers.runs,
        runs,
        pages: links,
    })
}
