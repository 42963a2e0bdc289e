//! Runs a plan in an environment and records the results: one plan, several environments, one record.
//!
//! A [`RunEnvironment`] executes one run of a plan and passes its rows to a sink. [`record`] writes these rows to a folder.
//! [`repeat`] records all runs of a plan, and [`interleave`] the runs of several plans in alternation. A [`RunControl`] stops
//! runs and receives their progress and warnings. This crate prints nothing and handles no signals.
//!
//! Modules, from the top:
//!
//! - [`recorded`] – runs that are recorded to folders.
//! - [`choice`] – the environment of a scenario for which none was requested.
//! - [`environment`] – the trait of all environments.
//! - [`simulation`], [`lab`], [`local`], [`fleet`]: the environments. Each has a value of
//!   [`netburn_scenario::Environment`], which names the environment in files and arguments.
//! - [`open_lab`](mod@open_lab): opening of labs.
//! - `agents`: the common part of the environments in real time: a controller and agents.
//! - [`control`] – progress and warnings. [`error`]: errors of runs.

mod agents;
pub mod choice;
pub mod control;
pub mod environment;
pub mod error;
pub mod fleet;
#[cfg_attr(not(target_os = "linux"), path = "lab/unsupported.rs")]
pub mod lab;
pub mod local;
#[cfg_attr(not(target_os = "linux"), path = "open_lab/unsupported.rs")]
pub mod open_lab;
pub mod recorded;
pub mod simulation;

pub use choice::{Choice, Reason, choose, preferred};
pub use control::{Event, RunControl};
pub use environment::{PreparedRun, RunEnvironment};
pub use error::{RunError, Unsupported};
pub use fleet::Fleet;
pub use lab::Lab;
pub use local::Local;
pub use netburn_parallel::{Cancel, pool};
pub use open_lab::{LabError, OpenLab, open_lab};
pub use recorded::{Recorded, interleave, record, repeat};
pub use simulation::Simulation;
