//! Delay of a station under load: part of the path, direction and measurement.

use super::Direction;

/// A part of the path.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(in crate::explain) enum Part {
    /// From the station to the access point and back.
    Wifi,
    /// From there to the first hop beyond the router and back. Without a probe to that hop: to the server and back.
    Line,
    /// Beyond that hop.
    Server,
}

/// Delay that the load adds for a station.
#[derive(Debug, Clone, PartialEq)]
pub(in crate::explain) struct VictimDelay {
    /// Part of the path in which it arises; `None` if unknown.
    pub(in crate::explain) part: Option<Part>,
    /// Direction in which most of it arises; `None` if unknown.
    pub(in crate::explain) direction: Option<Direction>,
    /// Delay that the load adds to the median, in ms.
    pub(in crate::explain) added_ms: f64,
    /// Its measurement.
    pub(in crate::explain) source: DelaySource,
}

/// Measurement of a delay.
#[derive(Debug, Clone, PartialEq)]
pub(in crate::explain) enum DelaySource {
    /// Probes to hosts on the path.
    Probes,
    /// The same, in the parts of the run in which a goal was missed.
    Windows,
    /// One-way delays of the packets of a workload (`voice`, `datagrams`, `game`, `cloud-gaming`), or frame delays of a
    /// `video-call`.
    Packets {
        /// Name of the workload.
        workload: String,
        /// The delays are those of frames.
        are_frames: bool,
        /// Median in ms.
        median_ms: f64,
        /// Smallest delay in ms.
        least_ms: f64,
    },
}

impl VictimDelay {
    /// Returns true if the one-way delays of packets show it.
    pub(in crate::explain) fn is_of_packets(&self) -> bool {
        matches!(self.source, DelaySource::Packets { .. })
    }
}
