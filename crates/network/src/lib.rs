//! A plan's network as one machine: the server's wired hop, each access point's WAN link and
//! forwarding, its radios, the air, and changes at run time. `simulate` and `lab` use the same
//! machine.
//!
//! ```text
//! server ── link ── wan ── forwarding ── transmit queue ── air ── station      (and back)
//!              └── link of a wired station
//! ```
//!
//! A [`Network`] accepts packets from one [`Endpoint`] to another ([`Network::handle_packet`]), with
//! the time as an argument. It returns deliveries, drops and packets that left a sender's host
//! ([`Network::poll_output`]). [`Network::poll_timeout`] returns the time and the reason of the next
//! timeout. [`hop`] is one direction of a wire; [`queue`] builds transmit queues from their names;
//! [`checksum`] is the Internet checksum of packets. The layout (private) assigns channels, stations and link settings.
//!
//! Packets that a full queue drops, or that are lost on a wire, are reported as outputs.

#![deny(
    clippy::disallowed_macros,
    clippy::disallowed_methods,
    clippy::disallowed_types,
    reason = "a pure crate: clippy.toml lists what it may not use"
)]

mod backhaul;
mod change;
pub mod checksum;
mod delivery_bound;
mod error;
#[cfg(feature = "fuzz")]
pub mod fuzz;
pub mod hop;
mod layout;
mod machine;
mod observe;
mod output;
pub mod queue;
mod small_queues;
mod wired_stations;

pub use change::AppliedChange;
pub use error::NetworkError;
pub use machine::{Network, Wake};
pub use observe::{LinkStats, RadioStats, StationDelta, StationStats, Traffic};
pub use output::{DropSite, Endpoint, Output};
