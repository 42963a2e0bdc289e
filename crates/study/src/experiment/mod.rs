//! One scenario under several seeds and signals, and what its summaries come to.
//!
//! - [`Grid`]: a scenario, what is changed in it, seeds, and by how much all signals are moved: the runs that follow from that.
//! - [`Formula`]: what is read out of each run, and how that becomes one number.

mod formula;
mod grid;
mod paths;

pub use formula::{Formula, Wrong};
pub use grid::{Grid, GridError, Run};
pub use paths::{Figure, Unit};
