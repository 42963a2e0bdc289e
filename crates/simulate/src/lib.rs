//! Runs of a plan in simulated time. A discrete-event loop passes each input to the models at its due
//! time, and measures their outputs.
//!
//! Modules, from the top:
//!
//! - [`run()`] – a complete plan, from the baseline to the end of the drain. It returns the rows that
//!   every environment records, and on request all packets (`capture`). [`summary()`] returns only its summary.
//! - `world`: the simulation of a plan: workloads, HTTP over modelled TCP, the network, the server.

mod capture;
mod error;
mod run;
mod summary;
mod world;

pub use capture::{CaptureEvent, CapturedPacket, PacketContent};
pub use error::SimulateError;
pub use run::{RunResult, check, in_memory, run, run_with_capture};
pub use summary::summary;
pub use world::Counters;
