//! One run: its controller, its agents and its server, in one process or in several.
//!
//! Modules, from the top:
//!
//! - [`local`] – one run of a plan, with all agents and the server as processes on this machine.
//! - [`controller`] – the controller of one run: a state machine, and its I/O with sockets and timers.
//! - [`process`] – main functions of the processes of a run on one machine. [`agent`], [`server`]: an agent and a
//!   server. [`controller_session`]: their connection to the controller. Agents and servers of a fleet reconnect.
//! - [`row_queue`] – storage of rows on a separate thread. [`disk_queue`]: queue to a thread for disk I/O.
//! - [`launch`] – starting of agents and servers. [`join`]: the connection parameters that they get.
//! - [`spool`] – rows on an agent's disk until they are delivered. [`document`]: plans in messages.
//! - [`timer`] – timers of the loops that drive a session.
//! - [`progress`] – phases and outcome of a run. [`error`](mod@error): errors of the controller and of agents.

pub mod agent;
pub mod controller;
pub mod controller_session;
pub mod disk_queue;
pub mod document;
pub mod error;
#[cfg(feature = "fuzz")]
pub mod fuzz;
pub mod join;
pub mod launch;
pub mod local;
pub mod process;
pub mod progress;
pub mod row_queue;
pub mod server;
pub mod spool;
pub mod timer;

pub use error::{AgentError, ConnectionError, ControllerError};
pub use join::Join;
pub use launch::{Child, Launcher, ThisMachine};
pub use local::{Options, run_local};
pub use process::{agent_main, server_main, take_part};
pub use progress::{Outcome, Phase, ProgressObserver};
pub use row_queue::{RowQueue, with_writer};
