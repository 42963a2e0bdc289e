//! Models in simulated time: a discrete-event loop that feeds inputs at their due time and measures
//! outputs.
//!
//! - [`run()`]: a complete plan: workloads, HTTP over modelled TCP, the network, the air. The
//!   results are the rows of every environment, and on request all packets.
//! - [`datagrams`]: flows of datagrams at a constant rate, saturating, or probes.

mod capture;
pub mod datagrams;
mod error;
mod run;
mod world;

pub use capture::{CaptureEvent, CapturedPacket, PacketContent};
pub use error::SimulateError;
pub use run::{RunResult, run, run_with_capture};
pub use world::Counters;
