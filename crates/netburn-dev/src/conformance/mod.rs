//! The same scenarios in the simulator and in the lab, compared: what the model of TCP and of the devices changes.
//!
//! - [`cases`] – scenarios, and known differences. [`grid`]: one TCP connection over a wire, for a grid of settings.
//! - [`datagrams`] – flows of datagrams in the simulator.
//! - [`mod@compare`] – metrics from the summaries of the runs, and their comparison. [`metric`]: tolerances.
//! - [`stored`] – results of the grid in a file.
//! - [`page`] – the results as text and Markdown.
//!
//! This module starts no lab; the command `netburn-dev crosscheck` does.

pub mod cases;
pub mod compare;
pub mod datagrams;
pub mod grid;
pub mod metric;
pub mod page;
pub mod stored;

pub use cases::Case;
pub use compare::{compare, metrics};
pub use metric::{Kind, Metric};
pub use page::{Comparison, MetricResult};
pub use stored::Point;
