//! Datagrams for the workloads `probe` and `voice`, without use as an amplifier in attacks.
//!
//! The client first sends a hello. The server replies to its source address with a cookie, which only a receiver at
//! this address learns. Probes with a valid cookie are echoed with the server's timestamps. The server stores only
//! rates per client, no reply is longer than its request, and there is no echo without a valid cookie.
//!
//! - [`wire`] – encoding of datagrams.
//! - [`echo`] – the server.
//! - [`machine`] – the interface of the clients to their socket.
//! - [`prober`] – the client.
//! - [`call`] – streams in both directions.
//! - [`arrivals`] – the DSCP with which packets arrived at both ends.

pub mod arrivals;
pub mod call;
pub mod echo;
#[cfg(feature = "fuzz")]
pub mod fuzz;
pub mod machine;
pub mod prober;
pub mod wire;

pub use arrivals::{Arrivals, DscpCounts};
pub use echo::{Counters, Echo, EchoLimits};
pub use machine::DatagramMachine;
pub use prober::{Event, Prober, Wake};
pub use wire::{MAX_SIZE, MIN_SIZE};
