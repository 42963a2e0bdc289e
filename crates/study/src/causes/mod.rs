//! Causes of missed goals by counterfactual: a cause is what makes the difference when it is taken away.
//!
//! 1. [`factors`](netburn_analysis::explain::causes::factors()) lists what can be taken away from a plan: a queue, a rate, a
//!    loss, a scan, the traffic of another station. Each factor is an edit of the plan, with its kind of cause and its words.
//! 2. [`decide()`] simulates the plan without one factor at a time, through the trait [`Model`], and returns the factors
//!    without which missed goals are met. It is a pure function of the plan and of what the model returns.
//! 3. [`explain()`] merges the result with the causes that the rules found in the record, whose evidence it keeps.

mod decide;
mod explain;
mod goal;
mod model;
mod of_run;

pub(crate) use decide::CLEARLY;
pub use decide::{Diagnosis, Finding, Found, Options, decide};
pub use explain::explain;
pub use goal::{GoalState, Outcome, Victim, missed};
pub use model::{Model, ModelStopped, Simulator};
pub use of_run::{diagnose, plan_of, simulated};
