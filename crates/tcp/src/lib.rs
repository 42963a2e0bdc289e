//! Simulated TCP endpoints: what one end of a connection does, as Linux does it where it shows.
//!
//! - [`config`]: the settings that a scenario can state.
//! - [`Endpoint`]: one end of a connection. Segments, time and the application's bytes go in, segments and events come out;
//!   the sending host gives packets back when they have left it.
//! - [`segment`]: what goes from one endpoint to the other.
//! - [`congestion`]: how much may be in the network, and how fast it goes there.
//!
//! Inside, the sending half knows what is lost (SACK, RACK, tail loss probes, F-RTO), how far to go down for it (PRR) and
//! what may wait in the host (TCP Small Queues); the receiving half puts the stream together, decides when to
//! acknowledge, and lets the window grow.
//!
//! Not modelled: simultaneous open, urgent data, path MTU discovery, fast open, Nagle's delay (as with `TCP_NODELAY`; but
//! while the application waits for room less than a segment isn't sent), the wait in TIME-WAIT, an application that doesn't
//! read. SACK, timestamps and window scaling are always agreed on.

#![deny(
    clippy::disallowed_macros,
    clippy::disallowed_methods,
    clippy::disallowed_types,
    reason = "a pure crate: clippy.toml lists what it may not use"
)]

pub mod config;
pub mod congestion;
mod endpoint;
mod event;
#[doc(hidden)]
pub mod fuzz;
mod gso;
mod info;
mod pacing;
mod receiver;
pub mod segment;
mod sender;
mod tsq;

pub use config::EndpointConfig;
pub use endpoint::Endpoint;
pub use event::{Event, Failure, Timer, Unmodelled};
pub use info::{Info, Limit};
pub use segment::{Packet, Segment, Transmit};
