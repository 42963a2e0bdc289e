//! Random plans in netburn's simulator and in ns-3, compared.
//!
//! - [`plan`] – the space. [`home`]: the wired parts of a home, whose plans `home_plan` chooses. [`generate`]: the plan of a number.
//! - [`scenario`] – the plan as a scenario of netburn and as input of the program around ns-3.
//! - [`simulated`] – the plan in the simulator.
//! - [`collect`] – values from the rows of a run.
//! - [`results`] – stored values of both.
//! - [`mod@compare`] – values that disagree beyond the tolerance, ordered by size.
//! - [`metric`] – compared metrics. [`known`]: causes of disagreements.
//! - [`page`] – the outcome as a page.
//! - [`speed`] – plans whose processor time is compared.
//!
//! This module starts no program; the command `netburn-dev crosscheck` does.

pub mod collect;
pub mod compare;
pub mod generate;
pub mod home;
mod home_plan;
pub mod known;
pub mod metric;
pub mod page;
pub mod plan;
pub mod results;
pub mod scenario;
pub mod simulated;
pub mod speed;

pub use collect::Collector;
pub use compare::{Comparison, Disagreement, compare};
pub use metric::Metric;
pub use plan::CrosscheckPlan;
pub use results::{PlanResult, Values};
