//! The controller of a fleet: it knows the registered devices between runs, and runs plans on them.
//!
//! Modules, from the top:
//!
//! - [`fleet_run`] – one run of a plan on the members of a fleet. [`assign`]: a member for each station.
//! - [`hub`] – the controller of a fleet between runs. [`control_client`]: commands of the operator.
//! - [`late`] – the controller's side of results that arrive after their run.
//! - [`page`] – the station page, which makes a browser a station. [`embedded`](mod@embedded): files in the
//!   executable.

pub mod assign;
pub mod control_client;
pub mod embedded;
pub mod fleet_run;
#[cfg(feature = "fuzz")]
pub mod fuzz;
pub mod hub;
pub mod late;
pub mod page;
