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
    /// The figure that says so: one or two sentences.
    pub figure: String,
    /// What it suggests to do.
    pub advice: String,
    /// The stations that suffer from it or are held back by it, in the plan's order.
    pub stations: Vec<String>,
    /// The stations that bring it about, in the plan's order; none where it is no station's doing.
    pub by: Vec<String>,
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
}

/// How much of what people felt a cause explains.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Severity {
    /// Nobody failed because of it, but it holds somebody back.
    Notable,
    /// A goal was failed, or nearly so, because of it.
    Serious,
    /// The figures themselves are in doubt because of it.
    Doubt,
}

impl Kind {
    /// All of them, in the order in which they are looked for.
    pub const ALL: [Kind; 9] = [
        Kind::Generator,
        Kind::Server,
        Kind::Adapter,
        Kind::FullBand,
        Kind::SlowNeighbour,
        Kind::UploadBloat,
        Kind::DownloadBloat,
        Kind::SmallQueues,
        Kind::Roaming,
    ];

    /// Its name in documents.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Kind::Generator => "generator",
            Kind::Server => "server",
            Kind::Adapter => "adapter",
            Kind::FullBand => "full-band",
            Kind::SlowNeighbour => "slow-neighbour",
            Kind::UploadBloat => "upload-bloat",
            Kind::DownloadBloat => "download-bloat",
            Kind::SmallQueues => "small-queues",
            Kind::Roaming => "roaming",
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
            Severity::Doubt => "doubt",
        }
    }
}
