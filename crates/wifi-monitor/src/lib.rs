//! Recording of a station's Wi-Fi link during a run: one row per second, roams with their interruption,
//! rate collapses, and a warning if the link has changed by the end.
//!
//! - [`link`]: the state machine: samples, events and counters in, rows out. Pure. [`sample`]: samples of a
//!   link; `rates`: detection of rate collapses; [`replay`](mod@replay): rows of a recorded link.
//! - [`adapter`]: the interface of the traffic, and the thread that samples it.
//! - [`interface`]: network interfaces of this device, by name.

pub mod adapter;
pub mod interface;
pub mod link;
mod rates;
pub mod replay;
pub mod sample;

pub use adapter::{Adapter, AdapterMonitor};

#[cfg(feature = "fuzz")]
pub mod fuzz;
#[cfg(test)]
mod tests;
