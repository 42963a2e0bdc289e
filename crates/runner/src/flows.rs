//! Saturating flows of datagrams between sockets in a lab, one to or from each station.
//!
//! Each `endpoint` is a process inside the lab: the command `netburn flow` runs [`send`] or [`receive`] and prints the
//! counters. A receiver prints [`READY`] before.

mod endpoint;
#[cfg(target_os = "linux")]
mod in_lab;

pub use endpoint::{Received, Sent, receive, send};
#[cfg(target_os = "linux")]
pub use in_lab::{FlowError, FlowIssue, LabFlows, in_lab};

use netburn_network::Endpoint;
use netburn_units::Duration;

/// Length of a packet in bytes.
pub const PACKET: u32 = 1_500;
/// Payload of a packet in bytes (UDP over IPv4).
pub const CONTENT: u64 = 1_472;
/// Time in which queues fill; its packets are not counted.
pub const WARMUP: Duration = Duration::from_secs(1);
/// Line that a receiver prints when its port is open.
pub const READY: &str = "ready";

/// A flow to or from each station; all run at once, each with `rate` packets per second.
#[derive(Debug, Clone, Copy)]
pub struct Flows {
    /// From the stations to the server.
    pub up: bool,
    /// Packets of [`PACKET`] bytes per second and station.
    pub rate: u64,
    /// Measured time, after [`WARMUP`].
    pub span: Duration,
}

impl Flows {
    /// Sender and receiver of the flow of a station.
    #[must_use]
    pub fn ends(&self, station: u16) -> (Endpoint, Endpoint) {
        let station = Endpoint::Station(station);
        if self.up {
            (station, Endpoint::Server)
        } else {
            (Endpoint::Server, station)
        }
    }

    /// Rate of `bytes` in the measured time, in Mbit/s.
    #[must_use]
    pub fn mbps(&self, bytes: u64) -> f64 {
        bytes as f64 * 8.0 / self.span.as_secs_f64() / 1e6
    }
}
