//! Models through virtual time: what is due is put in, what comes out is measured, and the clock jumps to what happens next.
//!
//! - [`run()`]: a whole plan: workloads, HTTP over modelled TCP, the network, the air. What comes out are the rows that every environment leaves, and on request
//!   every packet that was seen.
//! - [`datagrams`]: flows of datagrams at a constant rate or as fast as they are taken, and probes.

pub mod datagrams;
mod error;
mod run;
mod seen;
mod world;

pub use error::SimulateError;
pub use run::{Done, run, run_seen};
pub use seen::{Carries, Seen, SeenPacket};
pub use world::Counted;
