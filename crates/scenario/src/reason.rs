//! Reasons why keys have no effect.

/// Reason why a key has no effect.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Reason {
    /// The air is real.
    RealAir,
    /// The environment has no Wi-Fi.
    NoAir,
    /// Hosts are real, and the key describes a modelled host.
    RealHosts,
    /// The settings of the operating systems apply.
    SystemSettings,
    /// The path to the server is real, except for its rate.
    RealPath,
    /// Only runs on a fleet observe a real access point.
    RealAccessPoint,
    /// Settings cannot change during a run.
    NoChanges,
    /// The key selects an agent of a fleet.
    FleetOnly,
    /// The key applies to sent traffic, and the station only receives.
    OnlyReceives,
    /// The queue never marks packets.
    NeverMarks,
    /// The queue has no CoDel per station.
    NoStationCodel,
    /// The queue does not schedule by airtime.
    NotByAirtime,
    /// Only the airtime queue limits bound a station's data in the hardware, and they are the same for all stations
    /// (as in Linux).
    LimitedAlike,
    /// The hardware accepts all packets at once, so that the scheduler has none to choose from.
    NothingWaits,
    /// The access point's forwarding rate is unlimited.
    ForwardsAll,
}

impl Reason {
    /// The reason as text, for a note.
    #[must_use]
    pub const fn text(self) -> &'static str {
        match self {
            Reason::RealAir => "the air is real",
            Reason::NoAir => "local has no Wi-Fi",
            Reason::RealHosts => "the hosts are real; only simulate models it",
            Reason::SystemSettings => "the settings of the operating systems apply",
            Reason::RealPath => "the path to the server is real; only its rate can be limited",
            Reason::RealAccessPoint => "only runs on a fleet observe a real access point",
            Reason::NoChanges => "only simulate and lab change keys during a run",
            Reason::FleetOnly => "it selects an agent of a fleet",
            Reason::OnlyReceives => {
                "the station only receives; traffic to it follows `server.cc` or the `cc` of its workload"
            }
            Reason::NeverMarks => "this queue never marks packets; `fq-codel`, `fq-mac` and `airtime` do",
            Reason::NoStationCodel => "this queue has no CoDel per station; `fq-mac` and `airtime` do",
            Reason::NotByAirtime => "its access point does not schedule by airtime (`queue = \"airtime\"`)",
            Reason::LimitedAlike => {
                "with `hardware_queue = \"unlimited\"`, only the airtime queue limits apply, and they are the same for all stations"
            }
            Reason::NothingWaits => {
                "with `hardware_queue = \"unlimited\"`, all packets enter the hardware at once, so the scheduler has no choice"
            }
            Reason::ForwardsAll => "without `forwarding` no packet is queued there",
        }
    }
}
