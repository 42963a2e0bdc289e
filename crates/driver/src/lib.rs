//! Driver of an agent's workloads, without sockets and clock. Agents on devices and the station page in browsers use it.
//!
//! - [`scheduler`] – decisions: workloads as input, actions and rows as output.
//! - [`report`] – statistics of the driver itself.
//! - [`consent`] – the consent document of a server, and the proof that it belongs to a fleet.
//! - [`channel_offer`] – the answer of a server to a browser's offer of a data channel.
//! - [`datagram`] – the client side of probes and calls, and their encoding.

pub mod channel_offer;
pub mod consent;
pub mod datagram;
pub mod report;
pub mod scheduler;

pub use datagram::call::Arrival;
pub use report::DriveReport;
pub use scheduler::{SavedReport, Scheduler};
