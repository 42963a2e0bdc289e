//! Fields of the summary. Scripts read these names: add fields freely, but never rename one without
//! a new schema.
//!
//! Times are in ms, rates in Mbit/s (10⁶ bit/s), shares 0 to 1; unknown values are `null`.

use super::access_point::AccessPointSummary;
use super::wifi::WifiSummary;
use crate::dscp_arrivals::DscpArrivals;
use crate::goal_kind::GoalKind;
use crate::header::Environment;
use crate::health::SelfCheck;
use crate::kinds::KindResults;
use crate::kinds::probe::SplitSummary;
use crate::latency_ms::LatencyMs;
use crate::quality_issue::QualityIssue;
use crate::verdict;
use netburn_workload::Verdict;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::ops::Deref;

/// The summary's schema.
pub const SCHEMA: &str = "netburn.summary/1";

/// Results of a run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Summary {
    /// [`SCHEMA`].
    pub schema: String,
    /// The run's folder, as it was given.
    pub run: String,
    /// The scenario's name.
    pub scenario: String,
    /// The scenario's title.
    #[serde(default)]
    pub title: Option<String>,
    /// Question that the scenario answers.
    #[serde(default)]
    pub question: Option<String>,
    /// Environment of the run.
    pub environment: Environment,
    /// Seed of all random numbers.
    pub seed: u64,
    /// Time for which the load was planned to run, in seconds.
    pub duration_s: f64,
    /// The worst station's verdict; inconclusive when it could not be measured, unless a station fails.
    #[serde(with = "verdict")]
    pub verdict: Verdict,
    /// True if there are too few samples to be sure of the verdict.
    pub provisional: bool,
    /// Reasons for which the run as a whole is inconclusive, as an interruption or a failure.
    /// Stations have their own.
    #[serde(default)]
    pub reasons: Vec<QualityIssue>,
    /// True if the results are reliable.
    pub self_check: SelfCheck,
    /// All stations together.
    pub totals: Totals,
    /// The stations, in the plan's order.
    pub stations: Vec<StationSummary>,
    /// Observed access points.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub access_points: Vec<AccessPointSummary>,
    /// With `--repeat`: one summary per run.
    pub repeats: Vec<Summary>,
    /// With `--repeat`: a value's path (`stations.laptop.throughput_mbps`) to `[low, high]`, 95 %.
    pub intervals: BTreeMap<String, [f64; 2]>,
}

/// All stations together.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Totals {
    /// Content moved in the evaluated time. Stations that report more than the run's server counted
    /// for them are left out.
    pub throughput_mbps: f64,
    /// Jain's index of the airtime shares of all stations with a workload. `null` if there is no
    /// airtime (local), if it is unknown (fleet), or if none was used.
    pub airtime_jain: Option<f64>,
    /// Operations that count.
    #[serde(default)]
    pub operations: u64,
    /// Sum of the goal misses of all workloads.
    #[serde(default)]
    pub goal_misses: u64,
    /// Operations that failed or timed out.
    #[serde(default)]
    pub failures: u64,
    /// Operations still in progress after the drain.
    #[serde(default)]
    pub unfinished: u64,
}

/// One station.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct StationSummary {
    /// Name.
    pub name: String,
    /// Verdict of the worst goal; inconclusive if there are `reasons`.
    #[serde(with = "verdict")]
    pub verdict: Verdict,
    /// True if there are too few samples to be sure.
    #[serde(default)]
    pub provisional: bool,
    /// Reasons for which it is inconclusive: problems found by the self-check, or goals without
    /// samples.
    #[serde(default)]
    pub reasons: Vec<QualityIssue>,
    /// Problems found by the self-check that can only have made its results worse. Its goals were met in
    /// spite of them, so the verdict holds.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<QualityIssue>,
    /// Content moved in the evaluated time, both directions.
    pub throughput_mbps: f64,
    /// Share of the airtime of all stations that its data used in the run's evaluated time; shares
    /// sum to 1. `null` if there is no airtime (local), it is unknown (fleet), or none was used.
    pub airtime_share: Option<f64>,
    /// Median round trip before the load.
    pub idle_latency_ms: Option<f64>,
    /// Its Wi-Fi link, if its driver reported one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub wifi: Option<WifiSummary>,
    /// Its delay, divided into Wi-Fi, internet line and server, if it has a probe to the access point.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub split: Option<SplitSummary>,
    /// Workloads.
    pub workloads: Vec<WorkloadSummary>,
}

/// One workload of a station.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct WorkloadSummary {
    /// Name.
    pub name: String,
    /// Name of its kind.
    pub kind: String,
    /// Verdict of the worst goal, as measured.
    #[serde(with = "verdict")]
    pub verdict: Verdict,
    /// True if there are too few samples to be sure.
    pub provisional: bool,
    /// Operations that count: finished, failed, timed out, not started, unfinished.
    pub operations: u64,
    /// Samples that did not meet the goal that was missed most often: operations, packets, windows, or 100 ms of
    /// stall. The verdict counts the same. Without a goal, the operations that never started.
    pub goal_misses: u64,
    /// Operations that failed or timed out.
    pub failures: u64,
    /// Operations still in progress after the drain, and older than their goal.
    pub unfinished: u64,
    /// Failures that timed out.
    #[serde(default)]
    pub timeouts: u64,
    /// Operations that never started because too many were running.
    #[serde(default)]
    pub not_started: u64,
    /// Content moved in the evaluated time, both directions.
    pub throughput_mbps: f64,
    /// From the due time of an operation to its end; for kinds whose packets are not answered (`voice`, `datagrams`,
    /// `game`, `cloud-gaming`) the one-way delay in both directions, for `video-call` the frame delay.
    pub latency_ms: LatencyMs,
    /// From the start of an operation until its last new connection was ready.
    #[serde(default)]
    pub dial_ms: Option<LatencyMs>,
    /// From the due time of an operation to its first byte.
    #[serde(default)]
    pub first_byte_ms: Option<LatencyMs>,
    /// Results that only some kinds have.
    #[serde(flatten)]
    pub results: KindResults,
    /// DSCP with which its datagrams arrived, for each direction, if both ends report it and there were marks.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub dscp: Vec<DscpArrivals>,
    /// Goals, each judged.
    pub goals: Vec<GoalSummary>,
}

/// The results of its kind are read like its own fields.
impl Deref for WorkloadSummary {
    type Target = KindResults;

    fn deref(&self) -> &KindResults {
        &self.results
    }
}

/// One goal, judged.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct GoalSummary {
    /// Text of the goal: `page load ≤ 500 ms`.
    pub goal: String,
    /// Kind of the goal.
    pub kind: GoalKind,
    /// Share of its samples within the limit.
    pub met: Option<f64>,
    /// The worst sample divided by the limit; `null` without samples, or if a window had no data.
    pub excess: Option<f64>,
    /// The verdict.
    #[serde(with = "verdict")]
    pub verdict: Verdict,
    /// True if there are too few samples to be sure.
    #[serde(default)]
    pub provisional: bool,
    /// Number of samples: operations, round trips, frames, or windows; for a player and for gaps the tenths of
    /// a second that were observed.
    #[serde(default)]
    pub samples: u64,
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The example of the summary's contract.
    const EXAMPLE: &str = r#"
{ "schema": "netburn.summary/1", "run": "runs/2026-11-21T18-30-00Z-archer-c7-one-ssid", "scenario": "archer-c7-one-ssid",
  "environment": "simulate", "seed": 1, "duration_s": 300.0, "verdict": "fail", "provisional": false,
  "self_check": { "ok": true, "timer_lateness_us": { "p99": 40.0 }, "reasons": [] },
  "totals": { "throughput_mbps": 156.8, "airtime_jain": 0.52 },
  "stations": [
    { "name": "laptop", "verdict": "fail", "throughput_mbps": 3.4, "airtime_share": 0.03, "idle_latency_ms": 2.1,
      "workloads": [
        { "name": "browsing", "kind": "pages", "verdict": "fail", "provisional": true,
          "operations": 100, "goal_misses": 12, "failures": 0, "unfinished": 1, "throughput_mbps": 3.4,
          "latency_ms": { "count": 100, "min": 0.0, "p50": 0.0, "p75": 0.0, "p90": 0.0, "p95": 0.0, "p99": null, "max": 0.0 },
          "goals": [ { "goal": "page load ≤ 500 ms", "kind": "latency", "met": 0.88, "excess": 4.1, "verdict": "fail" } ] } ] } ],
  "repeats": [], "intervals": {} }"#;

    #[test]
    fn the_example_of_the_schema_is_a_summary() {
        let summary: Summary = serde_json::from_str(EXAMPLE).unwrap();
        assert_eq!(summary.environment, Environment::Simulate);
        assert_eq!(summary.verdict, Verdict::Fail);
        assert_eq!(summary.stations[0].workloads[0].latency_ms.p99, None);
        assert_eq!(summary.stations[0].idle_latency_ms, Some(2.1));
    }

    #[test]
    fn every_field_of_the_example_is_written_under_its_name() {
        fn keep(example: &serde_json::Value, ours: &serde_json::Value, path: &str) {
            match (example, ours) {
                (serde_json::Value::Object(example), serde_json::Value::Object(ours)) => {
                    for (name, value) in example {
                        let path = format!("{path}.{name}");
                        keep(
                            value,
                            ours.get(name).unwrap_or_else(|| panic!("{path} is missing")),
                            &path,
                        );
                    }
                }
                (serde_json::Value::Array(example), serde_json::Value::Array(ours)) => {
                    assert_eq!(example.len(), ours.len(), "{path}");
                    for (index, (a, b)) in example.iter().zip(ours).enumerate() {
                        keep(a, b, &format!("{path}[{index}]"));
                    }
                }
                _ => assert_eq!(example, ours, "{path}"),
            }
        }
        let summary: Summary = serde_json::from_str(EXAMPLE).unwrap();
        keep(
            &serde_json::from_str(EXAMPLE).unwrap(),
            &serde_json::to_value(&summary).unwrap(),
            "",
        );
    }
}
