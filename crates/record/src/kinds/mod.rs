//! Results that only some kinds of workloads have, each with all that belongs to it in one file or folder: how rows are
//! counted, how runs are pooled, the goals that it decides, its part of the summary, and its metrics.
//!
//! The rest of the crate counts what all kinds have, and passes the rows on. It does not ask for the kind.
//!
//! - `player`, `segments`, `probe`, `voice`, `grades`, `streams`, `responsiveness` – the results.
//! - `packets`, `delivery` – parts of `voice` and `streams`.

mod delivery;
pub(crate) mod grades;
mod packets;
pub(crate) mod player;
pub(crate) mod probe;
pub(crate) mod responsiveness;
pub(crate) mod segments;
pub(crate) mod streams;
pub(crate) mod voice;

pub use delivery::DeliverySummary;

use crate::aggregate::{Counted, Counts, EvaluatedTime, LoadDirection};
use crate::quantity::{Measured, Metric, Quantity};
use crate::row::EventRow;
use grades::{GradeContext, Grades, LoadedRoundTrips};
use netburn_stats::Distribution;
use netburn_workload::{Config, Tally};
use player::{Player, PlayerSummary};
use probe::{Answers, Clocks, ProbeSummary};
use responsiveness::{Probes, ResponsivenessSummary};
use segments::{Segments, SegmentsSummary};
use serde::{Deserialize, Serialize};
use std::fmt::Debug;
use streams::{Streams, StreamsSummary};
use voice::{Voice, VoiceSummary};

/// Counts the rows of a workload for results that only some kinds have. The counts of several runs can be added.
///
/// **Call order:** for each run [`new`](Self::new), any number of rows, [`finish`](Self::finish). Then
/// [`add`](Self::add) the other runs, and [`summarise`](Self::summarise).
pub(crate) trait KindCounter: Debug + Clone + Sized {
    /// Part of the summary.
    type Summary;

    /// Counter of a workload; `None` if its kind does not have these results. `tls`: connections to the server use TLS.
    fn new(config: &Config, tls: bool) -> Option<Self>;

    /// Counts an operation of the evaluated time. `load` is the bulk load of the network when it was due.
    fn operation(&mut self, _config: &Config, _counted: &Counted<'_>, _load: Option<LoadDirection>) {}

    /// Counts a stall or the startup of the player.
    fn event(&mut self, _row: &EventRow) {}

    /// Ends the run. Replaces the tallies of those goals that these results decide.
    fn finish(&mut self, _of: &End<'_>, _goals: &mut [Tally]) {}

    /// Adds the counts of another run.
    fn add(&mut self, other: Self);

    /// Part of the summary.
    fn summarise(self, of: &Shared<'_>) -> Self::Summary;
}

/// A workload at the end of a run.
#[derive(Debug)]
pub(crate) struct End<'a> {
    pub(crate) config: &'a Config,
    /// Evaluated parts of the windows in which the workload runs.
    pub(crate) active: &'a [EvaluatedTime],
    /// The same, each from the first due time in its window on. Packets that are not answered have one.
    pub(crate) judged: &'a [EvaluatedTime],
    pub(crate) clocks: Clocks<'a>,
    /// Operations that count.
    pub(crate) operations: u64,
}

/// Results that all kinds have.
#[derive(Debug)]
pub(crate) struct Shared<'a> {
    pub(crate) config: &'a Config,
    pub(crate) counts: Counts,
    pub(crate) latency: &'a Distribution,
    /// Values of the station for grades.
    pub(crate) grades: &'a GradeContext,
}

/// Registers results in the order of the summary: name, counter, part of the summary, and metrics.
macro_rules! results {
    ($($(#[doc = $about:literal])+ $(#[serde($($serde:tt)+)])+ $name:ident: $counter:ty => $summary:ty, [$($metrics:path),*];)+) => {
        /// Results of one workload that only some kinds have. In documents they are fields of the workload.
        #[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
        pub struct KindResults {
            $($(#[doc = $about])+ $(#[serde($($serde)+)])+ pub $name: Option<$summary>,)+
        }

        /// Counters of one workload.
        #[derive(Debug, Clone, Default)]
        pub(crate) struct KindCounters {
            $($name: Option<$counter>,)+
        }

        impl KindCounters {
            pub(crate) fn new(config: &Config, tls: bool) -> Self {
                KindCounters {
                    $($name: <$counter>::new(config, tls),)+
                }
            }

            pub(crate) fn operation(&mut self, config: &Config, counted: &Counted<'_>, load: Option<LoadDirection>) {
                $(if let Some(counter) = &mut self.$name {
                    counter.operation(config, counted, load);
                })+
            }

            pub(crate) fn event(&mut self, row: &EventRow) {
                $(if let Some(counter) = &mut self.$name {
                    counter.event(row);
                })+
            }

            pub(crate) fn finish(&mut self, of: &End<'_>, goals: &mut [Tally]) {
                $(if let Some(counter) = &mut self.$name {
                    counter.finish(of, goals);
                })+
            }

            pub(crate) fn add(&mut self, other: KindCounters) {
                $(if let (Some(counter), Some(other)) = (&mut self.$name, other.$name) {
                    counter.add(other);
                })+
            }

            pub(crate) fn summarise(self, of: &Shared<'_>) -> KindResults {
                KindResults {
                    $($name: self.$name.map(|counter| counter.summarise(of)),)+
                }
            }
        }

        impl KindResults {
            /// Values of the metrics.
            pub(crate) fn measure(&self) -> Vec<Measured> {
                let mut all = Vec::new();
                $({
                    const METRICS: &[&[Metric<$summary>]] = &[$($metrics),*];
                    let metrics = METRICS.iter().copied().flatten();
                    let measure = |results| metrics.clone().filter_map(move |metric| metric.measure(results, None));
                    all.extend(self.$name.iter().flat_map(measure));
                })+
                all
            }

            /// Descriptions of the metrics of all kinds.
            pub(crate) fn quantities() -> Vec<&'static Quantity> {
                let mut all = Vec::new();
                $($(all.extend($metrics.iter().map(|metric| &metric.quantity));)*)+
                all
            }
        }
    };
}

results! {
    /// Results of the player, for `stream` and `dash`.
    #[serde(default)]
    player: Player => PlayerSummary, [player::METRICS];
    /// Bit rates, for `dash`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    segments: Segments => SegmentsSummary, [segments::METRICS];
    /// Results of the datagrams, for a probe.
    #[serde(default)]
    probe: Answers => ProbeSummary, [probe::METRICS];
    /// Results of a call, for `voice`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    voice: Voice => VoiceSummary, [voice::METRICS];
    /// Grades of other tools, for a probe. They are not verdicts.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    grades: LoadedRoundTrips => Grades, [];
    /// Results of the streams, for `datagrams`, `game`, `cloud-gaming` and `video-call`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    streams: Streams => StreamsSummary, [streams::UP, streams::DOWN, streams::BOTH];
    /// Results of the probes, for `responsiveness`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    responsiveness: Probes => ResponsivenessSummary, [responsiveness::METRICS];
}
