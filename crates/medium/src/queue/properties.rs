//! Properties of a queue discipline.

use crate::config::QueueLimit;

/// Properties of a discipline, which the scenario, the causes and the what-ifs read.
#[derive(Debug)]
pub struct Properties {
    /// Name in scenario files.
    pub name: &'static str,
    /// Description for the manual, without a period at its end.
    pub summary: &'static str,
    /// Limit of a queue without another one. Wires and WAN links have no key for another one. CAKE
    /// has a limit of its own.
    pub default_limit: QueueLimit,
    /// Where a scenario can use it.
    pub places: &'static [Place],
    /// Packets that wait behind each other.
    pub sharing: Sharing,
    /// True if it can mark ECN-capable packets.
    pub marks_ecn: bool,
    /// True if each station has CoDel parameters of its own.
    pub has_station_codel: bool,
    /// True if it shares airtime between the stations, with weights and airtime queue limits.
    pub shares_airtime: bool,
}

/// Place of a queue.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Place {
    /// Above a Wi-Fi radio, of an access point or a station.
    Radio,
    /// Above the Ethernet device of a station.
    Wire,
    /// In front of a WAN link.
    Line,
}

/// Packets that share a queue of a discipline.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Sharing {
    /// All packets, or all of a priority.
    All,
    /// All packets to a station.
    Station,
    /// The packets of a flow.
    Flow,
    /// The packets of a flow to a station, and the stations take turns.
    StationFlow,
}

impl Sharing {
    /// Returns true if each flow has a queue.
    #[must_use]
    pub const fn is_by_flow(self) -> bool {
        matches!(self, Sharing::Flow | Sharing::StationFlow)
    }
}
