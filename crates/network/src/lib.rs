//! A plan's network as one machine: the server's wired hop, each access point's line and forwarding, its radios, the air, and what
//! changes while it runs. `simulate` and `lab` drive the same.
//!
//! ```text
//! server ── link ── wan ── forwarding ── transmit queue ── air ── station      (and back)
//!              └── a station's own wire
//! ```
//!
//! A [`Network`] takes packets from one [`Endpoint`] for another ([`Network::handle_packet`]), with the time as an argument, and gives
//! out deliveries, drops and what has left a sender's host ([`Network::poll_output`]); [`Network::poll_timeout`] says when to come back and why.
//! [`hop`] is a wire; [`queue`] makes transmit queues from their names; the layout (private) decides who is on which channel, who
//! joins which radio and how each link sends.
//!
//! What comes in at a hop whose queue is full is dropped, and told. What gets lost on a wire is told, too.

#![deny(
    clippy::disallowed_macros,
    clippy::disallowed_methods,
    clippy::disallowed_types,
    reason = "a pure crate: clippy.toml lists what it may not use"
)]

mod change;
mod error;
mod foresee;
#[doc(hidden)]
pub mod fuzz;
pub mod hop;
mod layout;
mod machine;
mod observe;
mod output;
pub mod queue;
mod sockets;
mod wired;
mod wires;

pub use change::Changed;
pub use error::NetworkError;
pub use machine::{Network, Wake};
pub use observe::{LinkSeen, RadioSeen, StationGain, StationSeen, Traffic};
pub use output::{Dropper, Endpoint, Output};
