//! Simulated changes that may remove the causes of a run's missed goals.
//!
//! 1. [`what_ifs()`] proposes changes to a plan, each as keys and values for `--set`. [`propose()`] does so for a run of
//!    any environment.
//! 2. [`answer()`] simulates the plan without and with each change, with the same seeds, and compares every station's workloads.
//!    With several equally likely plans, it does so for each of them.
//! 3. [`best()`] chooses the change that helps most. For several plans, [`effects()`] also shows in how many of them it helps.
//! 4. [`text()`] and [`json()`] format the results, and [`advice()`] the effects on several plans. [`remedies()`] keeps them for
//!    the reports of the run.
//!
//! Both sides of a comparison are simulations, also for a run that was measured in another environment. Its measured values are
//! not compared with simulated ones.

pub use netburn_analysis::explain::causes::{Interventions, WhatIf, what_ifs};

mod advice;
mod answer;
mod best;
mod change;
mod effects;
mod plain;
mod propose;
mod remedies;
mod text;

pub use advice::{advice, advice_json};
pub use answer::{Answer, AnswerError, Answers, answer};
pub use best::best;
pub use change::{Change, changed, repeated, with_limits};
pub use effects::{Effect, Effects, Value, effects};
pub use propose::{Proposal, propose};
pub use remedies::remedies;
pub use text::{json, text};
