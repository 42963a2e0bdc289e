//! What a run comes to: the summary of `--format json` and `run.json`, computed from rows and plan alone.

pub(crate) mod count;
mod document;
pub(crate) mod evidence;
pub(crate) mod judge;
mod summariser;
mod wifi;

pub(crate) use document::verdict;
pub use document::{
    GoalSummary, LatencyMs, PlayerSummary, ProbeSummary, SCHEMA, StationSummary, Summary, Totals, WorkloadSummary,
    verdict_name,
};
pub use summariser::Summariser;
pub use wifi::WifiSummary;
