//! What every station gets right now, while a run is under way.
//!
//! [`Model`] is pure: rows in, lines out. [`Live`] draws it: a table redrawn in place where standard error is a
//! terminal, else a plain line per station now and then.

mod draw;
mod model;

pub use draw::Live;
pub use model::{Model, Phase};
