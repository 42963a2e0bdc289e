//! Wires of a plan.
//!
//! - [`backhaul`] – the wired path of the Wi-Fi stations: the server's hop, WAN links, forwarding
//! - [`stations`] – the wired stations
//! - [`small_queues`] – TCP Small Queues of the server

pub(crate) mod backhaul;
pub(crate) mod small_queues;
pub(crate) mod stations;
