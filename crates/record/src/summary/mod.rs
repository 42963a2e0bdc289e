//! What a run comes to: the summary of `--format json` and `run.json`, computed from rows and plan alone.

mod document;

pub use document::{
    GoalSummary, LatencyMs, PlayerSummary, ProbeSummary, SCHEMA, StationSummary, Summary, Totals, WorkloadSummary,
    verdict_name,
};
