//! The demonstration: one access point before and after the change that helps most.
//!
//! 1. [`document()`] is the scenario: a distant tablet downloads, and a laptop browses.
//! 2. [`text`] formats the problem and its cause, the simulated changes, and both runs side by side. [`page()`] is the same as a
//!    page.
//!
//! The caller runs the scenario, simulates the changes with [`answer`](crate::whatif::answer()), chooses one with
//! [`best`](crate::whatif::best()), and runs the scenario [with it](changed).

mod page;
pub mod text;

pub use page::page;

use crate::whatif::{Answer, Answers, WhatIf};
use netburn_report::before_after::Change;
use netburn_scenario::{Document, ScenarioError, load};

/// Number of simulations of each change: enough for the changes of this scenario to be significant.
pub const SIMULATIONS: u16 = 8;

/// Keys in which the demonstration differs from the built-in scenario, so that two runs have less than a minute of load.
pub const SETTINGS: [(&str, &str); 2] = [("duration", "27 s"), ("station.tablet.start", "6 s")];

/// The built-in scenario `slow-neighbour` with [`SETTINGS`], and with this seed if there is one.
///
/// # Errors
/// The seed is too large for a scenario.
pub fn document(seed: Option<u64>) -> Result<Document, ScenarioError> {
    let mut document = load("slow-neighbour")?;
    for (key, value) in SETTINGS {
        document.set(key, value)?;
    }
    if let Some(seed) = seed {
        document.set("seed", &seed.to_string())?;
    }
    Ok(document)
}

/// The scenario with a change.
///
/// # Errors
/// The change has an unknown key or an invalid value.
pub fn changed(document: &Document, what_if: &WhatIf) -> Result<Document, ScenarioError> {
    let mut document = document.clone();
    for (key, value) in &what_if.set {
        document.set(key, value)?;
    }
    Ok(document)
}

/// The simulated changes for a table. `chosen` is one of them.
fn simulated<'a>(answers: &'a Answers, chosen: Option<&Answer>) -> Vec<Change<'a>> {
    let change = |answer: &'a Answer| Change {
        label: &answer.what_if.label,
        set: &answer.what_if.set,
        verdict: answer.verdict,
        comparison: &answer.comparison,
        is_chosen: chosen.is_some_and(|chosen| chosen.what_if == answer.what_if),
    };
    answers.answers.iter().map(change).collect()
}

#[cfg(test)]
mod tests;
