//! Analysis of runs, without pages and charts.
//!
//! - [`view`](mod@view): one run as plain data, from which pages and charts are drawn.
//! - [`explain`](mod@explain): likely causes with evidence.
//! - [`compare`]: comparisons of runs.
//! - [`format`](mod@format): values as text.

pub mod compare;
pub mod explain;
pub mod format;
pub mod view;

pub use view::View;
