//! What a station's Wi-Fi does during a run: a row a second, roams with the gap that they tore, rates that collapsed, and a warning
//! when the link at the end isn't the link of the beginning.
//!
//! - [`link`]: the state machine: looks, events and counters in, rows out. Pure. [`sample`]: what is looked at; [`rates`]: when a rate has
//!   collapsed.
//! - [`adapter`]: which interface carries the traffic, and the thread that looks at it.

pub mod adapter;
pub mod link;
mod rates;
pub mod sample;

pub use adapter::{Adapter, AdapterMonitor};

#[doc(hidden)]
pub mod fuzz;
#[cfg(test)]
mod tests;
