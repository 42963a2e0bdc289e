//! Calls: streams of datagrams in one or both directions, for `voice` and other workloads whose datagrams are not answered.
//!
//! The client completes the handshake of the echo first. Its requests carry the cookie, so the server
//! sends only to clients that receive datagrams at their address. A request allows the server to send
//! packets up to a number, at most those of the next two seconds. Without further requests the server
//! stops. A request is also one for the arrival times of the client's packets. The report replaces the request, so it is
//! never longer.
//!
//! - [`wire`] – encoding of datagrams.
//! - [`server`] – the server's streams.
//! - [`client`] – the client.
//! - [`offset`] – difference of the clocks of client and server.

pub mod client;
pub mod offset;
pub mod server;
pub mod wire;

pub use client::{CallClient, CallEvent, CallPlan};
pub use server::{CallCounters, CallLimits, CallServer};

#[cfg(test)]
mod tests;
