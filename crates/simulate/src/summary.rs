//! The summary of a simulated run, without its rows.

use crate::error::SimulateError;
use crate::run::run;
use netburn_record::summary::Summariser;
use netburn_record::{Header, RunStatus, Sink as _, Summary};
use netburn_scenario::Plan;
use netburn_units::Instant;
use std::ops::ControlFlow;

/// Simulates a plan and returns its summary. `name` is the path of the run in the summary. Calls `each` after every 0.1 s of
/// simulated time; if it returns `Break`, the simulation ends without a summary.
///
/// # Errors
/// The simulator rejects the plan.
pub fn summary(
    plan: &Plan,
    name: &str,
    each: &mut dyn FnMut(Instant) -> ControlFlow<()>,
) -> Result<Option<Summary>, SimulateError> {
    let mut summariser = Summariser::new(Header::simulated(plan.clone()));
    let done = run(plan, |now, rows| {
        for row in &rows {
            summariser.put(row).expect("a summariser accepts every row");
        }
        each(now)
    })?;
    Ok((!done.interrupted).then(|| summariser.finish(name, &RunStatus::Complete)))
}
