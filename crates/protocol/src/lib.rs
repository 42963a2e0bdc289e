//! Messages between a controller, the agents and server of a run, and the members of a fleet. Also their transport.
//!
//! Modules, from the top:
//!
//! - [`messages`] – the messages of one run, their rows and their JSON Schema.
//! - [`messages::standing`] – the messages between a controller and the members of its fleet.
//! - [`transport`] – framing over WebSockets and byte streams. [`duplex`]: sending and receiving over one channel.
//! - [`clock`] – estimation of the offset between two clocks, with an error bound. [`own_clock`]: the monotonic
//!   clock of this process.
//! - [`token`] – secrets that admit a peer. [`join_url`]: the address with which a member joins a fleet.

pub mod clock;
pub mod duplex;
#[cfg(feature = "fuzz")]
pub mod fuzz;
pub mod join_url;
pub mod messages;
pub mod own_clock;
pub mod token;
pub mod transport;
