//! Settings of SQM (smart queue management) for a measured internet line.
//!
//! [`measure`](measure::measure) plays the [stages](stage::Stage) of a measurement: round trips without load, TCP in each
//! direction, and streams of datagrams of several sizes that fill the line. The caller plays a stage: the simulator, a lab or
//! sockets. [`Report::new`](report::Report::new) infers from the [samples] where packets wait, the rate at which the
//! queue moves, and the bytes that the line adds to each packet. It gives the reason if something is not visible.
//!
//! Modules, from the top:
//!
//! - [`report`]: the result as text, as JSON, and as settings of OpenWrt and tc.
//! - [`settings`]: the settings of both directions. [`verdict`]: one direction, or the reason for which it has no settings.
//! - [`mod@measure`]: the order of the stages. [`stage`]: phases as a scenario. [`samples`]: rows as samples of phases.
//! - [`fit`]: overhead and framing from service times. [`service`]: service time of packets of one size.
//! - [`capacity`]: the rate for a line whose capacity varies. [`layer`]: bytes of a packet on a line.
//! - [`lines`]: lines whose truth is known, for checks.
//!
//! There is no clock and no socket, and each result follows from the samples alone.

pub mod capacity;
pub mod fit;
pub mod layer;
pub mod lines;
pub mod measure;
pub mod report;
pub mod samples;
pub mod service;
pub mod settings;
pub mod stage;
pub mod verdict;

pub use measure::{Measured, measure};
pub use report::Report;
