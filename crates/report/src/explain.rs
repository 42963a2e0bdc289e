//! What a run's values suggest, and why: causes, each only from evidence in the record, with the
//! value that says so.
//!
//! - [`explain()`] reads a run folder; [`Evidence`] takes rows as they come, for whoever has them already.
//! - Each cause is a rule in a file of its own: it samples at the evidence and either names itself or keeps silent.
//! - [`lines()`] writes causes for a terminal.
//!
//! A cause is named only where somebody suffers from it or is held back by it, and where the
//! results leave no likelier one: what the rules can't tell, they don't say.

mod analysis;
mod cause;
mod evidence;
mod rules;
mod text;

pub use cause::{Cause, Explanation, Kind, Severity, Unexplained};
pub use evidence::Evidence;
pub use text::lines;

use netburn_record::{Error, Run};

/// What the results of a run suggest. With `--repeat` all its runs are taken together.
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
