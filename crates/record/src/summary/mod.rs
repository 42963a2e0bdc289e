//! Results of a run: the summary of `--format json` and `run.json`, computed only from rows and
//! plan.

mod access_point;
pub(crate) mod count;
mod document;
pub(crate) mod evidence;
mod summariser;
mod totals;
pub(crate) mod verdicts;
mod wifi;

pub use crate::kinds::grades::{AimGrade, BufferbloatGrade, Grades, LoadedLatency, Missing, QooGrade};
pub use crate::kinds::player::PlayerSummary;
pub use crate::kinds::probe::{DelaySummary, ProbeSummary, SplitSummary};
pub use crate::kinds::responsiveness::{ProbeCountsSummary, ResponsivenessSummary, RpmPeriod};
pub use crate::kinds::segments::SegmentsSummary;
pub use crate::kinds::streams::{FrameSummary, GapSummary, StreamSummary, StreamsSummary, VideoSummary};
pub use crate::kinds::voice::{VoiceStreamSummary, VoiceSummary};
pub use crate::kinds::{DeliverySummary, KindResults};
pub use crate::latency_ms::LatencyMs;
pub use crate::verdict::verdict_name;
pub use access_point::{AccessPointSummary, ObservedEvent, ObservedQueue, ObservedRadio, ObservedStation};
pub use document::{GoalSummary, SCHEMA, StationSummary, Summary, Totals, WorkloadSummary};
pub use summariser::Summariser;
pub use totals::WorkloadTotals;
pub use wifi::WifiSummary;
