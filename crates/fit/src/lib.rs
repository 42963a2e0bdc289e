//! Fits a model of a network to a measured run.
//!
//! [`Measurement::of_run`] reads what a run shows: goodput and latency of each phase of a [`Schedule`], and the links that
//! the stations recorded. [`fit`] finds the models that predict the same, with their uncertainty. [`Fit::scenario`] is the
//! result as a scenario file. Only the workloads, the rows and the names of stations are read from the run, so that the
//! simulator can play an unknown network.
//!
//! Modules, from the top:
//!
//! - [`result`]: estimates with their intervals, and the scenario.
//! - [`models`]: models with their probabilities, and their scenarios.
//! - `infer`: the ensembles. `assimilate`: ES-MDA.
//! - [`home`]: the model, its parameters and their priors.
//! - [`measurement`]: observations of a run, or the reason for which there are too few. [`evidence`]: goodput and latency. [`links`]: rates
//!   and signals.
//! - [`difference`]: what a device of the run has, and no model of it: a slow adapter, power save, a poor link.
//! - [`schedule`]: the measurement made for fitting. [`houses`]: random networks whose parameters are known, for checks.
//!
//! There is no clock, and the random numbers are streams of a seed. So the result is the same on any number of threads.

pub mod assimilate;
pub mod difference;
pub mod evidence;
pub mod home;
pub mod houses;
mod infer;
pub mod links;
pub mod measurement;
pub mod models;
pub mod result;
pub mod schedule;

pub use difference::Difference;
pub use infer::{Map, Predicted, Settings, SimulationError, model_variance, simulated};
pub use measurement::{CannotFit, Measurement};
pub use models::{Draw, InvalidModels, Models};
pub use result::{Estimate, Fit, METHOD, fit};
pub use schedule::Schedule;
