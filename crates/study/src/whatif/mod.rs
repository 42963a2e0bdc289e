//! What would change if something were otherwise: for the causes that a run's figures suggest, changes that the simulator can run, and
//! what each brings.
//!
//! 1. [`what_ifs()`] proposes changes to a plan, each as keys and values that `--set` takes.
//! 2. [`answer()`] simulates the plan as it is and with each change, under the same seeds, and judges every station's uses.
//! 3. [`text()`] and [`json()`] write what came of it.
//!
//! What is compared is one simulation with another, also where the run was measured elsewhere: its own figures are not held against them.

mod answer;
mod changes;
mod text;

pub use answer::{Answer, Answers, AnswerError, answer};
pub use changes::{Interventions, WhatIf, what_ifs};
pub use text::{json, text};
