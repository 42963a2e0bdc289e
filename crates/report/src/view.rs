//! One run as plain data for showing: what the page, the charts, comparisons and the dashboard draw from.
//!
//! A [`View`] is gathered in one pass over a record's rows, in memory that doesn't grow with their number: time is cut
//! into bins, and of each bin the least, the largest and the number of its samples are kept exactly, its percentiles to
//! within 1.6 %; a whole run's percentiles to within 0.4 %, and exactly where the summary has them.
//!
//! Times are in ms, rates in Mbit/s (10⁶ bit/s), shares 0 to 1, as in the summary; instants in seconds since the load
//! began, by the controller's clock.

mod bins;
mod buffer;
mod builder;
mod histogram;

pub use histogram::Histogram;

use crate::explain::Explanation;
use netburn_record::summary::{StationSummary, WorkloadSummary};
use netburn_record::{Clock, Health, Host, LabHealth, RunStatus, Summary};
use serde::Serialize;

/// One run, or several of one scenario pooled.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct View {
    /// What it came to: verdicts, goals, self-check, totals.
    pub summary: Summary,
    /// How it ended.
    pub status: RunStatus,
    /// netburn's version that recorded it.
    pub version: String,
    /// When it began (RFC 3339); `None` where nothing depends on it (simulate).
    pub started: Option<String>,
    /// The controller's machine.
    pub host: Host,
    /// What the participants said of their own measuring.
    pub health: Vec<Health>,
    /// What the lab said of its own work; `None` where none carried the packets.
    pub lab: Option<LabHealth>,
    /// Their clocks against the controller's.
    pub clocks: Vec<Clock>,
    /// The resolved scenario, itself a scenario file in JSON.
    pub scenario: serde_json::Value,
    /// What the scenario takes for granted.
    pub assumptions: Vec<String>,
    /// The beginning of the load that isn't judged, in s.
    pub warmup_s: f64,
    /// The runs that were pooled: 1 without `--repeat`. Counts and shares over time are means over them.
    pub runs: u32,
    /// Their folders within this one's, with `--repeat`.
    pub run_dirs: Vec<String>,
    /// The width of a bin in s: at least 0.1. Bin `i` begins at `i` × this.
    pub bin_s: f64,
    /// Number of bins there are.
    pub bins: usize,
    /// The stations, in the plan's order.
    pub stations: Vec<StationView>,
    /// What happened, by time: at most [`MAX_MARKS`].
    pub marks: Vec<Mark>,
    /// Number of more there were.
    pub more_marks: u64,
    /// What the results suggest.
    pub explanation: Explanation,
    /// What could not be read, in plain sentences: what is here is without it.
    pub missing: Vec<String>,
}

/// Maximum number of marks that are kept; stalls are the first to go, then rates.
pub const MAX_MARKS: usize = 400;

/// One station.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct StationView {
    /// Its name.
    pub name: String,
    /// Round trips before the load.
    pub idle: Curve,
    /// Smoothed round trips of its TCP connections under load (TCP_INFO, sampled over time), where there were any.
    pub loaded: Option<Curve>,
    /// What it did.
    pub workloads: Vec<WorkloadView>,
    /// What it had of the modelled channel; `None` where that is unknown.
    pub air: Option<AirView>,
    /// Its link over time, one per bin; empty where there was none.
    pub link: Vec<LinkBin>,
}

/// One workload of a station.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct WorkloadView {
    /// Its name.
    pub name: String,
    /// Its kind: `pages`, `stream`, `calls`, `download`, `upload`, `probe`.
    pub kind: String,
    /// The strictest latency goal, in ms.
    pub latency_goal_ms: Option<f64>,
    /// The highest rate goal, in Mbit/s.
    pub rate_goal_mbps: Option<f64>,
    /// From the instant an operation was due to its end, of those that are judged.
    pub latency: Curve,
    /// The same over time, by the instant it was due, warm-up included; `None` where nothing was due.
    pub over_time: Vec<Option<LatencyBin>>,
    /// Content towards the station in each bin, in Mbit/s.
    pub down_mbps: Vec<f64>,
    /// Content away from it.
    pub up_mbps: Vec<f64>,
    /// What the player held in each bin, for a stream.
    pub buffer: Option<BufferView>,
}

/// A distribution of times, by percentile.
#[derive(Debug, Clone, PartialEq, Default, Serialize)]
pub struct Curve {
    /// Samples, those that never ended included.
    pub count: u64,
    /// Those that never ended: they rank above all others.
    pub unbounded: u64,
    /// The least, in ms.
    pub min_ms: Option<f64>,
    /// The largest that ended.
    pub max_ms: Option<f64>,
    /// Percentiles by rising level, each supported by the count ([`netburn_stats::percentile::supported`]).
    pub points: Vec<Point>,
}

/// One percentile.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Point {
    /// Its level, 0 to 1.
    pub level: f64,
    /// Its value; `None` when it falls among those that never ended.
    pub ms: Option<f64>,
}

/// The operations that was due in one bin.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct LatencyBin {
    /// How many, those that never ended included.
    pub count: u64,
    /// Those that never ended.
    pub unbounded: u64,
    /// The least, exactly.
    pub min_ms: Option<f64>,
    /// The median, from 6 operations on.
    pub p50_ms: Option<f64>,
    /// The 95th percentile, from 60.
    pub p95_ms: Option<f64>,
    /// The largest that ended, exactly.
    pub max_ms: Option<f64>,
}

/// A player's buffer over time, as far as tenths of a second of bytes tell.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct BufferView {
    /// Maximum number of that it holds, in s.
    pub holds_s: f64,
    /// What it needs to begin and to go on, in s.
    pub starts_with_s: f64,
    /// The least in each bin, in s of media; of pooled runs the least of all. `None` while it wasn't watched.
    pub least_s: Vec<Option<f64>>,
    /// What it held at each bin's end; of pooled runs the mean.
    pub end_s: Vec<Option<f64>>,
}

/// A station's part of the modelled channel.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct AirView {
    /// Its share of the airtime of all stations, in the evaluated time.
    pub airtime_share: Option<f64>,
    /// Its share of the content that all stations moved, in the evaluated time.
    pub bytes_share: Option<f64>,
    /// MPDUs in a data PPDU on average; `None` without any.
    pub mean_aggregate: Option<f64>,
    /// Of the MPDUs, the share that had been sent before.
    pub retry_share: Option<f64>,
    /// Packets dropped.
    pub drops: u64,
    /// Packets marked (ECN CE).
    pub marks: u64,
    /// Over time.
    pub bins: Vec<AirBin>,
}

/// One bin of a station's part of the air.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize)]
pub struct AirBin {
    /// Time for which its data held the air, as a share of the time.
    pub airtime: f64,
    /// MPDUs in a data PPDU on average; `None` without any.
    pub aggregate: Option<f64>,
    /// Maximum number of packets that waited for it and at it.
    pub backlog: u64,
    /// Packets dropped.
    pub drops: u64,
}

/// One bin of a station's link.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize)]
pub struct LinkBin {
    /// The weakest signal in dBm.
    pub signal_dbm: Option<f64>,
    /// The slowest rate to the station.
    pub rx_mbps: Option<f64>,
    /// The slowest rate from it.
    pub tx_mbps: Option<f64>,
}

/// Something that happened.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Mark {
    /// When it began, in s.
    pub at_s: f64,
    /// Time for which it took, in s; 0 for a moment.
    pub length_s: f64,
    /// What.
    pub kind: MarkKind,
    /// The station's place among [`View::stations`]; `None` for the whole run.
    pub station: Option<usize>,
    /// In which of the pooled runs, from 1; `None` without `--repeat`.
    pub run: Option<u32>,
    /// More, for people.
    pub text: String,
}

/// The kinds of mark.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum MarkKind {
    /// A timed change of the scenario took effect.
    Change,
    /// A station moved to another access point's radio.
    Roam,
    /// An agent or the run's server was lost, or a station's results are incomplete.
    Lost,
    /// A player had nothing to play.
    Stall,
    /// A station's rate fell far.
    Rate,
    /// Something that the reader should know.
    Warning,
}

impl MarkKind {
    /// As people read it.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            MarkKind::Change => "change",
            MarkKind::Roam => "roam",
            MarkKind::Lost => "lost",
            MarkKind::Stall => "stall",
            MarkKind::Rate => "rate fell",
            MarkKind::Warning => "warning",
        }
    }
}

impl View {
    /// The instants at which the bins begin, in s.
    pub fn times(&self) -> impl Iterator<Item = f64> + '_ {
        (0..self.bins).map(|bin| bin as f64 * self.bin_s)
    }

    /// Each station with its part of the summary.
    pub fn judged(&self) -> impl Iterator<Item = (&StationView, &StationSummary)> {
        self.stations.iter().zip(&self.summary.stations)
    }
}

impl StationView {
    /// Each workload with its part of the summary.
    pub fn judged<'a>(
        &'a self,
        of: &'a StationSummary,
    ) -> impl Iterator<Item = (&'a WorkloadView, &'a WorkloadSummary)> {
        self.workloads.iter().zip(&of.workloads)
    }

    /// What it got in each bin over all its workloads, towards it and away from it, in Mbit/s.
    #[must_use]
    pub fn throughput_mbps(&self, bin: usize) -> f64 {
        let of = |rates: &[f64]| rates.get(bin).copied().unwrap_or(0.0);
        let sums = self.workloads.iter().map(|w| of(&w.down_mbps) + of(&w.up_mbps));
        sums.sum()
    }
}

impl Curve {
    /// The percentile at `level`, where the curve has that point; the inner `None` for one among those that never ended.
    #[must_use]
    pub fn at(&self, level: f64) -> Option<Option<f64>> {
        let found = self.points.iter().find(|point| (point.level - level).abs() < 1e-9);
        found.map(|point| point.ms)
    }
}
