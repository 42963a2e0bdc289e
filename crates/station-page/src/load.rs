//! Workloads of the page.

use netburn_units::Instant;
use netburn_workload::Config;

/// One workload of one station.
#[derive(Debug, Clone)]
pub(crate) struct Load {
    pub(crate) station: u16,
    pub(crate) workload: u16,
    pub(crate) station_name: String,
    pub(crate) name: String,
    pub(crate) config: Config,
    /// Congestion control that the server uses.
    pub(crate) cc: Option<String>,
    pub(crate) start: Instant,
    pub(crate) end: Instant,
    /// End of the drain.
    pub(crate) settle: Instant,
    /// Number of the server's port.
    pub(crate) lane: usize,
}

impl Load {
    /// Number that selects the random streams of the workload.
    pub(crate) fn index(&self) -> u64 {
        u64::from(self.station) << 16 | u64::from(self.workload)
    }
}
