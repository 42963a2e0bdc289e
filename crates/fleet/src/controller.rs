//! The controller: who takes part, who may say what when, and the course of one round.
//!
//! - [`round`]: the whole as one state machine. [`roster`]: who is expected. [`session`]: what one connection may say.
//! - [`rate`]: how many messages a participant may send.
//! - [`ports`]: which station a connection belongs to that the server looked at.
//! - [`shell`]: sockets, timers and sinks around it.

pub mod ports;
pub mod rate;
pub mod roster;
pub mod round;
pub mod session;
mod shell;

pub use roster::{Device, Expected, Token};
pub use round::{Output, Patience, Round, Setup, Wake};
pub use session::ConnectionId;
pub(crate) use shell::{Around, Controller};
