//! Results of a run: the summary of `--format json` and `run.json`, computed only from rows and
//! plan.

pub(crate) mod count;
mod delivery;
mod document;
pub(crate) mod evidence;
mod grades;
mod grading;
mod responsiveness;
mod segments;
pub(crate) mod split;
mod streams;
mod summariser;
mod totals;
pub(crate) mod verdicts;
mod voice;
mod wifi;

pub(crate) use document::verdict;
pub use document::{
    DeliverySummary, FrameSummary, GapSummary, GoalSummary, LatencyMs, PlayerSummary, ProbeCountsSummary, ProbeSummary,
    ResponsivenessSummary, RpmPeriod, SCHEMA, SegmentsSummary, StationSummary, StreamSummary, StreamsSummary, Summary,
    Totals, VideoSummary, VoiceStreamSummary, VoiceSummary, WorkloadSummary, verdict_name,
};
pub use grades::{AimGrade, BufferbloatGrade, Grades, LoadedLatency, Missing, QooGrade};
pub use split::{DelaySummary, SplitSummary};
pub use summariser::Summariser;
pub use totals::WorkloadTotals;
pub use wifi::WifiSummary;
