//! Driver of an agent's workloads, without sockets and clock. Agents on devices and the station page in browsers use it.
//!
//! - [`scheduler`] – decisions: workloads as input, actions and rows as output.
//! - [`report`] – statistics of the driver itself.
//! - [`datagram`] – the client side of probes and calls, and their encoding.

pub mod datagram;
pub mod report;
pub mod scheduler;

pub use datagram::call::Arrival;
pub use report::DriveReport;
pub use scheduler::{SavedReport, Scheduler};
