//! One run as plain data, from which pages, charts, comparisons and the dashboard are drawn.
//!
//! A [`View`] is computed in one pass over a record's rows, in bounded memory. Time is divided into
//! bins. Minimum, maximum and number of samples of each bin are exact, its percentiles accurate to
//! 1.6 %. Percentiles of a whole run are accurate to 0.4 %, and exact where the summary has them.
//!
//! Times are in ms, rates in Mbit/s (10⁶ bit/s), shares from 0 to 1, as in the summary. Instants are in seconds since
//! the load began, by the controller's clock.

mod bins;
mod buffer;
mod builder;
mod floor;
mod histogram;
mod home;
mod observed;

pub use floor::{FloorView, Misses};
pub use histogram::Histogram;
pub use home::HomeView;
pub use observed::{ObservedCurve, ObservedKind};

use crate::explain::{Explanation, Remedies};
use crate::fitted::FittedView;
use crate::measurement::MeasurementView;
use netburn_record::summary::{StationSummary, WorkloadSummary};
use netburn_record::{Clock, Health, Host, LabHealth, LinkChange, RunStatus, Summary};
use serde::Serialize;

/// One run, or several pooled runs of one scenario.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct View {
    /// Results: verdicts, goals, self-check, totals.
    pub summary: Summary,
    /// Status at the end.
    pub status: RunStatus,
    /// Version of the netburn that recorded the run.
    pub version: String,
    /// Start time (RFC 3339); `None` on simulate.
    pub started: Option<String>,
    /// The controller's machine.
    pub host: Host,
    /// Health reports of agents and servers.
    pub health: Vec<Health>,
    /// Health report of the lab; `None` without a lab.
    pub lab: Option<LabHealth>,
    /// Their clocks compared with the controller's.
    pub clocks: Vec<Clock>,
    /// The resolved scenario, itself a scenario file in JSON.
    pub scenario: serde_json::Value,
    /// Assumptions of the scenario.
    pub assumptions: Vec<String>,
    /// Warm-up at the beginning of the load that is not evaluated, in s.
    pub warmup_s: f64,
    /// Number of pooled runs: 1 without `--repeat`. Counts and shares over time are means over them.
    pub runs: u32,
    /// The runs' folders within this run's folder, with `--repeat`.
    pub run_dirs: Vec<String>,
    /// The width of a bin in s: at least 0.1. Bin `i` begins at `i` × this.
    pub bin_s: f64,
    /// Number of bins.
    pub bins: usize,
    /// The stations, in the plan's order.
    pub stations: Vec<StationView>,
    /// Events by time: at most [`MAX_MARKS`].
    pub marks: Vec<Mark>,
    /// Number of further events that are not in `marks`.
    pub more_marks: u64,
    /// The devices of the home with the stations that joined them; `None` if nothing is known about them.
    #[serde(skip)]
    pub home: Option<HomeView>,
    /// The building; `None` without positions, or if no model moved the stations.
    #[serde(skip)]
    pub floor: Option<FloorView>,
    /// Reports of observed access points over time. Several pooled runs have none.
    #[serde(skip)]
    pub observed: Vec<ObservedCurve>,
    /// Likely causes. Those of a measurement for a fit are only those that make it unreliable.
    pub explanation: Explanation,
    /// Simulated changes that are stored with the run; `None` without them.
    pub remedies: Option<Remedies>,
    /// Model that was fitted to the run; `None` without one.
    pub fitted: Option<FittedView>,
    /// The measurement for a fit that the run is; `None` for other runs.
    pub measurement: Option<MeasurementView>,
    /// Messages about data that could not be read and is missing.
    pub missing: Vec<String>,
}

/// Maximum number of marks; stalls are dropped first, then rates.
pub const MAX_MARKS: usize = 400;

/// One station.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct StationView {
    /// Name.
    pub name: String,
    /// Round trips before the load.
    pub idle: Curve,
    /// Smoothed round trips of its TCP connections under load (TCP_INFO, sampled over time), if it had
    /// connections.
    pub loaded: Option<Curve>,
    /// Workloads.
    pub workloads: Vec<WorkloadView>,
    /// Modelled airtime; `None` if unknown.
    pub air: Option<AirView>,
    /// Link over time, one entry per bin; empty without link samples.
    pub link: Vec<LinkBin>,
}

/// One workload of a station.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct WorkloadView {
    /// Name.
    pub name: String,
    /// Kind: `pages`, `stream`, `calls`, `download`, `upload`, `probe`, `voice`, `datagrams`, `game`, `cloud-gaming`,
    /// `video-call`, `responsiveness`.
    pub kind: String,
    /// Host that answers a probe: `near`, `line`, `server`. `server` for all other kinds.
    pub target: String,
    /// The strictest latency goal, in ms.
    pub latency_goal_ms: Option<f64>,
    /// The highest rate goal, in Mbit/s.
    pub rate_goal_mbps: Option<f64>,
    /// From the due time to the end, for evaluated operations.
    pub latency: Curve,
    /// The same over time, by due time, warm-up included; `None` if nothing was due.
    pub over_time: Vec<Option<LatencyBin>>,
    /// Content towards the station in each bin, in Mbit/s.
    pub down_mbps: Vec<f64>,
    /// Content away from it.
    pub up_mbps: Vec<f64>,
    /// Buffer of the player in each bin, for a stream.
    pub buffer: Option<BufferView>,
}

/// A distribution of times, by percentile.
#[derive(Debug, Clone, PartialEq, Default, Serialize)]
pub struct Curve {
    /// Number of samples, including operations that never ended.
    pub count: u64,
    /// Number of operations that never ended. They rank above all others.
    pub unbounded: u64,
    /// Minimum, in ms.
    pub min_ms: Option<f64>,
    /// Maximum of those that ended, in ms.
    pub max_ms: Option<f64>,
    /// Percentiles in increasing order of level, each supported by the count
    /// ([`netburn_stats::percentile::supported`]).
    pub points: Vec<Point>,
}

/// One percentile.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Point {
    /// Level, 0 to 1.
    pub level: f64,
    /// Value; `None` if it falls among operations that never ended.
    pub ms: Option<f64>,
}

/// The operations that were due in one bin.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct LatencyBin {
    /// Number of operations, with those that never ended.
    pub count: u64,
    /// Operations that never ended.
    pub unbounded: u64,
    /// Exact minimum.
    pub min_ms: Option<f64>,
    /// The median, from 6 operations on.
    pub p50_ms: Option<f64>,
    /// The 95th percentile, from 60.
    pub p95_ms: Option<f64>,
    /// Exact maximum of those that ended.
    pub max_ms: Option<f64>,
}

/// A player's buffer over time, computed from the bytes of each 100 ms.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct BufferView {
    /// Maximum buffer, in s.
    pub holds_s: f64,
    /// Buffer at which playback starts and continues, in s.
    pub starts_with_s: f64,
    /// Minimum in each bin, in s of media; for pooled runs, the minimum over all. `None` while the player was
    /// not observed.
    pub least_s: Vec<Option<f64>>,
    /// Buffer at each bin's end; for pooled runs the mean.
    pub end_s: Vec<Option<f64>>,
}

/// A station's part of the modelled channel.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct AirView {
    /// Share of the airtime of all stations, in the run's evaluated time.
    pub airtime_share: Option<f64>,
    /// Share of the content of all stations, in the run's evaluated time; `None` without content.
    pub bytes_share: Option<f64>,
    /// MPDUs in a data PPDU on average; `None` without any.
    pub mean_aggregate: Option<f64>,
    /// Share of retransmissions among the MPDUs.
    pub retry_share: Option<f64>,
    /// Packets dropped.
    pub drops: u64,
    /// Packets marked (ECN CE).
    pub marks: u64,
    /// Over time.
    pub bins: Vec<AirBin>,
}

/// One bin of a station's airtime.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize)]
pub struct AirBin {
    /// Airtime share of its data.
    pub airtime: f64,
    /// MPDUs in a data PPDU on average; `None` without any.
    pub aggregate: Option<f64>,
    /// Maximum number of packets queued for it and at it.
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

/// An event.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Mark {
    /// Start, in s.
    pub at_s: f64,
    /// Duration in s; 0 for an instant.
    pub length_s: f64,
    /// Kind of event.
    pub kind: MarkKind,
    /// Index in [`View::stations`]; `None` for the whole run.
    pub station: Option<usize>,
    /// Number of the pooled run, from 1; `None` without `--repeat`.
    pub run: Option<u32>,
    /// Description of the event.
    pub text: String,
    /// The event of a Wi-Fi link; `None` for other events.
    #[serde(skip)]
    pub change: Option<LinkChange>,
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
    /// A player's buffer was empty.
    Stall,
    /// A station's rate fell far.
    Rate,
    /// A station scanned other channels.
    Scan,
    /// An access point asked a station to move or disassociated it, or the station answered.
    Steering,
    /// A path of a mesh was found, changed or lost, or a link of the mesh opened or closed.
    Path,
    /// A warning for the reader.
    Warning,
}

// In the order of a chart's note.
netburn_units::variants! {
    pub MarkKind:
        Change = "change",
        Roam = "roam",
        Scan = "scan",
        Steering = "steering",
        Path = "path",
        Lost = "lost",
        Rate = "rate fell",
        Stall = "stall",
        Warning = "warning",
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

    /// Throughput of all its workloads in a bin, in both directions, in Mbit/s.
    #[must_use]
    pub fn throughput_mbps(&self, bin: usize) -> f64 {
        let of = |rates: &[f64]| rates.get(bin).copied().unwrap_or(0.0);
        let sums = self.workloads.iter().map(|w| of(&w.down_mbps) + of(&w.up_mbps));
        sums.sum()
    }
}

impl Curve {
    /// The percentile at `level`, if the curve has that point. The inner `None`: it falls among those that never ended.
    #[must_use]
    pub fn at(&self, level: f64) -> Option<Option<f64>> {
        let found = self.points.iter().find(|point| (point.level - level).abs() < 1e-9);
        found.map(|point| point.ms)
    }
}
