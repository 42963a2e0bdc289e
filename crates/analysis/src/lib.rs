//! Analysis of runs. It returns plain data and text; the crate `report` draws pages and charts.
//!
//! Modules, from the top:
//!
//! - [`explain`](mod@explain): likely causes of missed goals, with evidence.
//! - [`compare`] – comparison of two sets of runs.
//! - [`fitted`] – a model that was fitted to a run, beside the measured values.
//! - [`floor_plan`] – the building of a scenario as plain data, with the coverage of its access points.
//! - [`measurement`] – runs that measured a network for a fit.
//! - [`view`](mod@view): one run as plain data, from which pages and charts are drawn.
//! - [`format`](mod@format): values as text.

pub mod compare;
pub mod explain;
pub mod fitted;
pub mod floor_plan;
pub mod format;
pub mod measurement;
pub mod view;

pub use view::View;
