//! Likely causes of a run's problems, each with evidence from the record.
//!
//! - [`explain()`] reads a run folder; [`Evidence`] takes rows as they arrive.
//! - Each cause has a rule in a file of its own, which examines the evidence.
//! - [`lines()`] writes causes for a terminal.
//!
//! A cause is reported only if it affects a station, and if the evidence leaves no more likely
//! cause.

mod analysis;
mod cause;
mod evidence;
mod rules;
mod text;

pub use cause::{Cause, Explanation, Kind, Severity, Unexplained};
pub use evidence::Evidence;
pub use text::lines;

use netburn_record::{Error, Run};

/// Likely causes of a run's problems. The runs of a run set are analysed together.
///
/// # Errors
/// When the columns can't be read.
pub fn explain(run: &Run) -> Result<Explanation, Error> {
    let mut evidence = Evidence::new(&run.header().plan, run.header().environment);
    run.rows(&mut |row| evidence.row(&row))?;
    Ok(evidence.explain(run.summary(), run.health()))
}

#[cfg(test)]
#[path = "explain/tests.rs"]
mod tests;
