//! Familiar grades of a path, from the probes of one workload: bufferbloat letters, Quality of Outcome, and Cloudflare's
//! classes. They are not verdicts, and no verdict depends on them.

mod context;

pub(crate) use context::{GradeContext, LoadedRoundTrips, Moved, Variation};

pub(super) use context::qoo_score;

use super::{KindCounter, Shared};
use crate::aggregate::{Counted, LoadDirection};
use netburn_workload::{Config, ProbeTarget};
use serde::{Deserialize, Serialize};
use std::fmt;

/// Grades from the probes of one workload. The idle latency is that of the station before the load.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Grades {
    /// Bufferbloat letters.
    pub bufferbloat: BufferbloatGrade,
    /// Scores of the Quality of Outcome (QoO), one for each profile.
    pub qoo: Vec<QooGrade>,
    /// AIM classes of Cloudflare's speed test, one for each use.
    pub aim: Vec<AimGrade>,
}

/// Bufferbloat letters: for the increase of the mean round-trip time under bulk load.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct BufferbloatGrade {
    /// Name of the scale.
    pub scale: String,
    /// Mean round-trip time before the load.
    pub idle_ms: Option<f64>,
    /// While stations only download.
    pub download: Option<LoadedLatency>,
    /// While stations only upload.
    pub upload: Option<LoadedLatency>,
    /// While stations download and upload at the same time.
    pub both: Option<LoadedLatency>,
    /// Mean of the increases of `download` and `upload`.
    pub increase_ms: Option<f64>,
    /// Letter of this mean.
    pub letter: Option<String>,
    /// Values without which there is no letter.
    pub missing: Vec<Missing>,
}

/// Latency in the times of one direction of the bulk load.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct LoadedLatency {
    /// Probes that returned.
    pub samples: u64,
    /// Mean round-trip time of these probes.
    pub mean_ms: f64,
    /// Increase over the idle mean; 0 if it fell.
    pub increase_ms: f64,
    /// Letter of this increase.
    pub letter: String,
}

/// Quality of Outcome of a use, from the round trips of all probes that count.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct QooGrade {
    /// Name of the use.
    pub profile: String,
    /// Program that defines the requirements.
    pub source: String,
    /// `round trip`: the requirements are for round trips, as the probes are.
    pub path: String,
    /// Score, 0 to 100.
    pub score: Option<f64>,
    /// Values without which there is no score.
    pub missing: Vec<Missing>,
}

/// AIM class of a use.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct AimGrade {
    /// Name of the use.
    pub name: String,
    /// Sum of the points.
    pub points: Option<u32>,
    /// Class of this sum: `bad`, `poor`, `average`, `good` or `great`.
    pub class: Option<String>,
    /// Values without which there is no class.
    pub missing: Vec<Missing>,
}

/// A value that the run does not have. Bulk load counts if it moved data, and if six probes returned during it. Its
/// stations need not be the station of the probes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Missing {
    /// Six probes before the load.
    Idle,
    /// Bulk load in any direction.
    Load,
    /// A time in which stations only download.
    DownloadAlone,
    /// A time in which stations only upload.
    UploadAlone,
    /// A download, alone or beside an upload.
    Download,
    /// An upload, alone or beside a download.
    Upload,
    /// A download of the station itself.
    OwnDownload,
    /// Enough probes for a percentile.
    Probes {
        /// Number of probes that the percentile needs.
        needed: u64,
        /// Number of probes that count.
        found: u64,
    },
}

impl fmt::Display for Missing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Missing::Idle => "6 probes before the load",
            Missing::Load => "6 probes while a station downloads or uploads",
            Missing::DownloadAlone => "6 probes while stations only download",
            Missing::UploadAlone => "6 probes while stations only upload",
            Missing::Download => "6 probes while a station downloads",
            Missing::Upload => "6 probes while a station uploads",
            Missing::OwnDownload => "a download of the same station",
            Missing::Probes { needed, found } => return write!(f, "{needed} probes (found {found})"),
        })
    }
}

impl KindCounter for LoadedRoundTrips {
    type Summary = Grades;

    fn new(config: &Config, _tls: bool) -> Option<Self> {
        (config.target() == Some(ProbeTarget::Server)).then(LoadedRoundTrips::default)
    }

    fn operation(&mut self, _config: &Config, counted: &Counted<'_>, load: Option<LoadDirection>) {
        if let (Some(load), Some(latency)) = (load, counted.latency) {
            self.put(load, latency.as_nanos());
        }
    }

    fn add(&mut self, other: Self) {
        self.extend(other);
    }

    fn summarise(self, of: &Shared<'_>) -> Grades {
        of.grades.grades(&self, of.latency, of.counts.lost_share())
    }
}
