//! Recording of a station's Wi-Fi link during a run: one row per second, roams with their interruption, and
//! rate collapses. At the end, a warning if the link has changed.
//!
//! Modules, from the top:
//!
//! - [`adapter`] – the interface of the traffic, and the thread that samples it.
//! - [`link`] – the state machine: samples, events and counters in, rows out. Pure.
//! - `rates`: detection of rate collapses.

pub mod adapter;
pub mod link;
mod rates;

pub use adapter::{Adapter, AdapterMonitor};

#[cfg(feature = "fuzz")]
pub mod fuzz;
#[cfg(test)]
mod tests;
