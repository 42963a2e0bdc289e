//! Client side of datagrams: probes and calls. The server is in `traffic`.
//!
//! - [`wire`] – encoding of datagrams.
//! - [`prober`] – handshake and probes.
//! - [`call`] – streams in both directions.
//! - [`arrivals`] – the DSCP with which packets arrived at both ends.

pub mod arrivals;
pub mod call;
pub mod prober;
pub mod wire;

pub use arrivals::{Arrivals, DscpCounts};
pub use prober::{Event, Prober, Wake};
pub use wire::{MAX_DSCP, MAX_SIZE, MIN_SIZE};
