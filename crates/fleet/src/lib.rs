//! A fleet: devices that stay registered between runs, and the runs on them.
//!
//! Modules, from the top:
//!
//! - [`fleet_run`] – one run of a plan on the members of a fleet. [`assign`]: a member for each station.
//! - [`hub`] – the controller of a fleet between runs. [`member`]: an agent that stays registered with it.
//!   [`control_client`]: commands of the operator.
//! - [`endpoint`] – connections to the controller. [`discovery`]: controllers on the local network.
//!   [`reachability`]: probe of a server before a run.
//! - [`late`] – the controller's side of results that arrive after their run.
//! - [`page`] – the station page, which makes a browser a station. [`embedded`](mod@embedded): files in the
//!   executable.

pub mod assign;
pub mod control_client;
pub mod discovery;
pub mod embedded;
pub mod endpoint;
pub mod fleet_run;
#[cfg(feature = "fuzz")]
pub mod fuzz;
pub mod hub;
pub mod late;
pub mod member;
pub mod page;
pub mod reachability;
