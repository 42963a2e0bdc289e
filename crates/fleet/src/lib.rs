//! Controller, agents, protocol and clocks: several stations started at one instant.
//!
//! From the top:
//!
//! - [`run_local`]: one round of a plan with all participants as processes on this machine.
//! - [`controller`]: who may say what when, as a state machine; around it the shell with sockets and timers.
//! - [`agent`], [`server`]: the other end: a process that drives stations, and one that is the server.
//! - [`spool`]: what an agent keeps on its own disk until others have it.
//! - [`wifi`]: what a station's Wi-Fi does meanwhile.
//! - [`late`]: the controller's side of results that come when their run is over.
//! - [`launch`]: how participants are started. This machine, for now.
//! - [`ssh`]: why a login over SSH takes as long as it does.
//! - [`protocol`]: the messages. [`transport`]: how they travel.
//! - [`page`]: the station page, which makes any browser a station. [`embedded`](mod@embedded): files in the program itself.
//! - [`clock`]: one clock against another, with an error bound.

pub mod agent;
pub mod assign;
pub mod clock;
pub mod control_client;
pub mod controller;
pub mod controller_session;
pub mod discovery;
mod document;
mod duplex;
pub mod embedded;
pub mod endpoint;
pub mod fleet_run;
#[doc(hidden)]
pub mod fuzz;
pub mod hub;
pub mod interface;
pub mod join;
pub mod join_url;
pub mod late;
pub mod launch;
pub mod local;
pub mod member;
mod own_clock;
pub mod page;
pub mod protocol;
pub mod reachability;
pub mod server;
pub mod spool;
pub mod ssh;
pub mod transport;
pub mod wifi;

pub use join::{Join, agent_main, server_main};
pub use launch::{Child, Launcher, ThisMachine};
pub use local::{FleetError, Options, Outcome, Phase, Watch, run_local};
