//! The controller: who takes part, who may say what when, and the course of one round.
//!
//! - [`coordinator`]: the whole as one state machine. [`roster`]: who is expected. [`session`]: what one connection may say.
//! - [`rate`]: how many messages a participant may send.
//! - [`ports`]: which station a connection belongs to that the server looked at.
//! - [`shell`]: sockets, timers and sinks around it.

pub mod coordinator;
pub mod ports;
pub mod protocol_state;
pub mod rate;
pub mod roster;
mod shell;

pub use coordinator::{Output, RunCoordinator, Setup, Timeouts, Wake};
pub use protocol_state::ConnectionId;
pub use roster::{Device, Expected, Token};
pub(crate) use shell::{Controller, RunIo};
