//! The controller of one run: agents, allowed messages and phases.
//!
//! - [`setup`] – input of a run.
//! - [`coordinator`] – the whole run as one state machine. [`roster`]: expected agents and their sessions.
//!   [`protocol_state`]: allowed messages of one session.
//! - [`rate`] – limit on the message rate.
//! - [`ports`] – assignment of the server's connection samples to stations.
//! - `shell`: sockets and timers.

pub mod coordinator;
pub mod ports;
pub mod protocol_state;
pub mod rate;
pub mod roster;
pub mod setup;
mod shell;

pub use coordinator::{Output, RunCoordinator, Wake};
pub use protocol_state::ConnectionId;
pub use setup::{Device, Expected, Setup, Timeouts, UNCAPPED};
pub use shell::{Controller, RunIo};
