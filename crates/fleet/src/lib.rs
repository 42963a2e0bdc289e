//! Controller and agents: several stations that start at the same instant.
//!
//! Modules, from the top:
//!
//! - [`run_local`]: one run of a plan, with all agents and the server as processes on this machine.
//! - [`fleet_run`]: one run of a plan on the members of a fleet.
//! - [`controller`]: the controller of one run: a state machine, and its I/O with sockets and timers.
//! - [`agent`], [`server`]: the processes that the controller manages.
//! - [`controller_session`]: their connection to the controller, with reconnects.
//! - [`hub`]: the controller of a fleet between runs. [`member`]: an agent that stays registered with it.
//!   [`control_client`]: commands of the operator.
//! - [`spool`]: rows on an agent's disk until they are delivered. [`late`]: the controller's side of
//!   results that arrive after their run.
//! - [`launch`]: starting of agents and servers.
//! - [`ssh`]: diagnosis of slow SSH logins.
//! - [`page`]: the station page, which makes a browser a station. [`embedded`](mod@embedded): files in the
//!   executable.

pub mod agent;
pub mod assign;
pub mod control_client;
pub mod controller;
pub mod controller_session;
pub mod discovery;
mod document;
pub mod embedded;
pub mod endpoint;
pub mod fleet_run;
#[doc(hidden)]
pub mod fuzz;
pub mod hub;
pub mod join;
pub mod late;
pub mod launch;
pub mod local;
pub mod member;
pub mod page;
pub mod reachability;
pub mod server;
pub mod spool;
pub mod ssh;

pub use join::{Join, agent_main, server_main};
pub use launch::{Child, Launcher, ThisMachine};
pub use local::{FleetError, Options, Outcome, Phase, Watch, run_local};
