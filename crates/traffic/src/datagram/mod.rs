//! Datagrams for the workloads `probe` and `voice`, without use as an amplifier in attacks.
//!
//! The client first sends a hello. The server replies to its source address with a cookie, which only a receiver at
//! this address learns. Probes with a valid cookie are echoed with the server's timestamps. The server stores only
//! rates per client, no reply is longer than its request, and there is no echo without a valid cookie.
//!
//! - [`wire`] – encoding of datagrams.
//! - [`echo`] – the server.
//! - [`DatagramMachine`] – the interface of the clients to their socket. [`Prober`]: a client.
//! - [`call`] – streams in both directions.

pub mod call;
pub mod echo;
#[cfg(feature = "fuzz")]
pub mod fuzz;
#[cfg(test)]
mod prober_tests;

pub use echo::{Counters, Echo, EchoLimits};
pub use netburn_driver::datagram::{Arrivals, DatagramMachine, Event, MAX_SIZE, MIN_SIZE, Prober, Wake, wire};
