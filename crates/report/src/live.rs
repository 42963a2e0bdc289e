//! Live view of an active run.
//!
//! [`Model`] is pure: rows in, lines out. [`Live`] draws it: a table that is redrawn in place if
//! standard error is a terminal, otherwise plain lines from time to time.

mod draw;
mod model;

pub use draw::Live;
pub use model::{Model, Phase};
