//! A cause, as plain data.

use serde::{Deserialize, Serialize};

/// A cause of a problem.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Cause {
    /// Rule that found it.
    pub kind: Kind,
    /// Severity.
    pub severity: Severity,
    /// One line. Names in it come from the scenario unchanged.
    pub title: String,
    /// Evidence: one or two sentences with values.
    pub evidence: String,
    /// Suggested remedy.
    pub advice: String,
    /// Affected stations, in the plan's order.
    pub stations: Vec<String>,
    /// Stations that cause the problem, in the plan's order; empty if no station does.
    pub by: Vec<String>,
}

/// Result of an analysis.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Explanation {
    /// The causes, the most severe first.
    pub causes: Vec<Cause>,
    /// Problems of stations that no cause names, neither as affected nor as its origin, in the plan's order.
    pub unexplained: Vec<Unexplained>,
}

/// A station that misses a goal or is slow, and that no cause names.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Unexplained {
    /// The station.
    pub station: String,
    /// Problems, one per workload: `4kstream met …`.
    pub what: Vec<String>,
}

/// The known causes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Kind {
    /// The machine that generated the load was too slow.
    Generator,
    /// The server, or its own link.
    Server,
    /// A station's adapter.
    Adapter,
    /// A slow station of another network uses airtime of the channel.
    SlowCochannel,
    /// Other networks use much of the channel.
    FullBand,
    /// A wireless backhaul needs too much airtime.
    Backhaul,
    /// A slow station uses too much airtime.
    SlowNeighbour,
    /// An upload fills a queue that other stations share.
    UploadBloat,
    /// A download fills a queue that other stations share.
    DownloadBloat,
    /// TCP Small Queues limits aggregation.
    SmallQueues,
    /// Nothing arrives while a station moves between access points.
    Roaming,
    /// A station's signal is too weak for its workloads.
    WeakSignal,
    /// A link is too slow for its workloads.
    SlowLine,
    /// A link loses packets.
    LossyLine,
    /// The round-trip time to the server is too long.
    DistantServer,
    /// The load delays a station on the Wi-Fi.
    WifiDelay,
    /// The load delays a station on the internet line, from the server to the station.
    LineDown,
    /// The load delays a station on the internet line, from the station to the server.
    LineUp,
    /// The load delays a station beyond the internet line.
    RemoteServer,
    /// The load delays a station in the device itself.
    Device,
    /// The provider drops packets above a rate.
    Policer,
    /// The line carries nothing for a time.
    Outage,
    /// A shaper limits the line at the wrong rate: above that of the line, or far below it.
    Shaper,
    /// The processor of an access point or router forwards too little.
    Router,
    /// A station dozes, and packets wait for it.
    PowerSave,
    /// A station scans other channels.
    Scans,
    /// An access point scans other channels.
    #[serde(rename = "access-point-scans")]
    ApScans,
    /// Radios of the scenario share a channel.
    OwnChannel,
    /// A transfer gets its share of the capacity, and too little is left for others.
    FairShare,
    /// Streams, pages and calls together need more than there is.
    Traffic,
}

/// Severity of a cause.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Severity {
    /// A station gets less than it could, but misses no goal.
    Notable,
    /// A goal was failed, or nearly so, because of it.
    Serious,
    /// The cause makes the results themselves unreliable.
    Measurement,
}

impl Explanation {
    /// Returns true if nothing was found.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.causes.is_empty() && self.unexplained.is_empty()
    }
}

impl Unexplained {
    /// One or two sentences.
    #[must_use]
    pub fn sentence(&self) -> String {
        format!("{}: {}. No known cause matches.", self.station, self.what.join("; "))
    }
}

impl Kind {
    /// All kinds: those that a rule finds in the record, in the order of the rules, then those that only a simulation
    /// without them shows.
    pub const ALL: [Kind; 30] = [
        Kind::Generator,
        Kind::Server,
        Kind::Adapter,
        Kind::SlowCochannel,
        Kind::FullBand,
        Kind::Backhaul,
        Kind::SlowNeighbour,
        Kind::UploadBloat,
        Kind::DownloadBloat,
        Kind::SmallQueues,
        Kind::Roaming,
        Kind::WeakSignal,
        Kind::SlowLine,
        Kind::LossyLine,
        Kind::DistantServer,
        Kind::WifiDelay,
        Kind::LineDown,
        Kind::LineUp,
        Kind::RemoteServer,
        Kind::Device,
        Kind::Policer,
        Kind::Outage,
        Kind::Shaper,
        Kind::Router,
        Kind::PowerSave,
        Kind::Scans,
        Kind::ApScans,
        Kind::OwnChannel,
        Kind::FairShare,
        Kind::Traffic,
    ];

    /// Name in documents.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Kind::Generator => "generator",
            Kind::Server => "server",
            Kind::Adapter => "adapter",
            Kind::SlowCochannel => "slow-cochannel",
            Kind::FullBand => "full-band",
            Kind::Backhaul => "backhaul",
            Kind::SlowNeighbour => "slow-neighbour",
            Kind::UploadBloat => "upload-bloat",
            Kind::DownloadBloat => "download-bloat",
            Kind::SmallQueues => "small-queues",
            Kind::Roaming => "roaming",
            Kind::WeakSignal => "weak-signal",
            Kind::SlowLine => "slow-line",
            Kind::LossyLine => "lossy-line",
            Kind::DistantServer => "distant-server",
            Kind::WifiDelay => "wifi-delay",
            Kind::LineDown => "line-down",
            Kind::LineUp => "line-up",
            Kind::RemoteServer => "remote-server",
            Kind::Device => "device",
            Kind::Policer => "policer",
            Kind::Outage => "outage",
            Kind::Shaper => "shaper",
            Kind::Router => "router",
            Kind::PowerSave => "power-save",
            Kind::Scans => "scans",
            Kind::ApScans => "access-point-scans",
            Kind::OwnChannel => "own-channel",
            Kind::FairShare => "fair-share",
            Kind::Traffic => "traffic",
        }
    }
}

impl Severity {
    /// Name in documents.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Severity::Notable => "notable",
            Severity::Serious => "serious",
            Severity::Measurement => "measurement",
        }
    }
}
