//! A cause, as plain data.

use serde::Serialize;

/// Why somebody was not well served.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Cause {
    /// Which rule names it.
    pub kind: Kind,
    /// How much of what people felt it explains.
    pub severity: Severity,
    /// One line: who does what to whom. Names in it come from the scenario as they are.
    pub title: String,
    /// The value that says so: one or two sentences.
    pub evidence: String,
    /// What it suggests to do.
    pub advice: String,
    /// The stations that degraded from it or are held back by it, in the plan's order.
    pub stations: Vec<String>,
    /// The stations that bring it about, in the plan's order; none where it is no station's doing.
    pub by: Vec<String>,
}

/// What a run's facts suggest.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize)]
pub struct Explanation {
    /// The causes, the gravest first.
    pub causes: Vec<Cause>,
    /// What goes wrong at stations for which no known cause matches, in the plan's order.
    pub unexplained: Vec<Unexplained>,
}

/// A station that misses a goal, or is slow, for no cause that is known.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Unexplained {
    /// The station.
    pub station: String,
    /// What goes wrong, a workload each: `4kstream kept …`.
    pub what: Vec<String>,
}

/// The causes that are known.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Kind {
    /// The machine that made the load was itself too slow.
    Generator,
    /// The server, or its own link.
    Server,
    /// A station's adapter.
    Adapter,
    /// A slow station of another network takes the air of the channel.
    SlowCochannel,
    /// Others take much of the band.
    FullBand,
    /// One slow station takes the air of the others.
    SlowNeighbour,
    /// An upload fills a queue that others wait in.
    UploadBloat,
    /// A download fills a queue that others wait in.
    DownloadBloat,
    /// What waits below TCP is too little for frames to be gathered.
    SmallQueues,
    /// Nothing arrives while a station moves between access points.
    Roaming,
    /// A station's signal is too weak for what it demand.
    WeakSignal,
    /// A line is too slow for what is demanded_mbps of it.
    SlowLine,
    /// A line loses packets.
    LossyLine,
    /// The direction to the server and back takes too long.
    DistantServer,
}

/// How much of what people felt a cause explains.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Severity {
    /// Nobody failed because of it, but it holds somebody back.
    Notable,
    /// A goal was failed, or nearly so, because of it.
    Serious,
    /// The facts themselves are in doubt because of it.
    Measurement,
}

impl Explanation {
    /// Returns true if there is nothing to say.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.causes.is_empty() && self.unexplained.is_empty()
    }
}

impl Unexplained {
    /// In a sentence or two.
    #[must_use]
    pub fn sentence(&self) -> String {
        let known = Kind::ALL.len();
        format!(
            "{}: {}. None of the {known} known causes matches.",
            self.station,
            self.what.join("; ")
        )
    }
}

impl Kind {
    /// All of them, in the order in which they are looked for.
    pub const ALL: [Kind; 14] = [
        Kind::Generator,
        Kind::Server,
        Kind::Adapter,
        Kind::SlowCochannel,
        Kind::FullBand,
        Kind::SlowNeighbour,
        Kind::UploadBloat,
        Kind::DownloadBloat,
        Kind::SmallQueues,
        Kind::Roaming,
        Kind::WeakSignal,
        Kind::SlowLine,
        Kind::LossyLine,
        Kind::DistantServer,
    ];

    /// Its name in documents.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Kind::Generator => "generator",
            Kind::Server => "server",
            Kind::Adapter => "adapter",
            Kind::SlowCochannel => "slow-cochannel",
            Kind::FullBand => "full-band",
            Kind::SlowNeighbour => "slow-neighbour",
            Kind::UploadBloat => "upload-bloat",
            Kind::DownloadBloat => "download-bloat",
            Kind::SmallQueues => "small-queues",
            Kind::Roaming => "roaming",
            Kind::WeakSignal => "weak-signal",
            Kind::SlowLine => "slow-line",
            Kind::LossyLine => "lossy-line",
            Kind::DistantServer => "distant-server",
        }
    }
}

impl Severity {
    /// In a word.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Severity::Notable => "notable",
            Severity::Serious => "serious",
            Severity::Measurement => "measurement",
        }
    }
}
