//! Simulated changes that may remove the causes of a run's missed goals.
//!
//! 1. [`what_ifs()`] proposes changes to a plan, each as keys and values for `--set`. [`propose()`] does so for a run of
//!    any environment.
//! 2. [`answer()`] simulates the plan without and with each change, with the same seeds, and compares every station's workloads.
//! 3. [`best()`] chooses the change that helps most.
//! 4. [`text()`] and [`json()`] format the results.
//!
//! Both sides of a comparison are simulations, also for a run that was measured in another environment. Its measured values are
//! not compared with simulated ones.

pub use netburn_analysis::explain::causes::{Interventions, WhatIf, what_ifs};

mod answer;
mod best;
mod propose;
mod text;

pub use answer::{Answer, AnswerError, Answers, answer};
pub use best::best;
pub use propose::{Proposal, propose};
pub use text::{json, text};
