//! Fields of the summary. Scripts read these names: add fields freely, but never rename one without
//! a new schema.
//!
//! Times are in ms, rates in Mbit/s (10⁶ bit/s), shares 0 to 1; unknown values are `null`.

use super::grades::Grades;
use super::split::SplitSummary;
use super::wifi::WifiSummary;
use crate::dscp_arrivals::DscpArrivals;
use crate::goal_kind::GoalKind;
use crate::header::Environment;
use crate::health::SelfCheck;
use crate::quality_issue::QualityIssue;
use netburn_stats::{Distribution, P50, P75, P90, P95, P99};
use netburn_workload::{ProbeTarget, Verdict};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

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
    /// Kind: `pages`, `stream`, `calls`, `download`, `upload`, `probe`, `voice`, `datagrams`, `game`, `cloud-gaming`,
    /// `video-call`, `responsiveness`.
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
    /// Results of the player, for `stream` and `dash`.
    #[serde(default)]
    pub player: Option<PlayerSummary>,
    /// Bit rates, for `dash`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub segments: Option<SegmentsSummary>,
    /// Results of the datagrams, for a probe.
    #[serde(default)]
    pub probe: Option<ProbeSummary>,
    /// Results of a call, for `voice`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub voice: Option<VoiceSummary>,
    /// Grades of other tools, for a probe. They are not verdicts.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub grades: Option<Grades>,
    /// Results of the streams, for `datagrams`, `game`, `cloud-gaming` and `video-call`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub streams: Option<StreamsSummary>,
    /// Results of the probes, for `responsiveness`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub responsiveness: Option<ResponsivenessSummary>,
    /// DSCP with which its datagrams arrived, for each direction, if both ends report it and there were marks.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub dscp: Vec<DscpArrivals>,
    /// Goals, each judged.
    pub goals: Vec<GoalSummary>,
}

/// A distribution of times.
///
/// Operations that never finished rank above all that did: a percentile that falls among them is `null`, like one that
/// the count doesn't support.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
pub struct LatencyMs {
    /// Samples, unbounded ones included.
    pub count: u64,
    /// The shortest.
    pub min: Option<f64>,
    /// 50th percentile; from 6 samples.
    pub p50: Option<f64>,
    /// 75th percentile; from 12.
    pub p75: Option<f64>,
    /// 90th percentile; from 30.
    pub p90: Option<f64>,
    /// 95th percentile; from 60.
    pub p95: Option<f64>,
    /// 99th percentile; from 300.
    pub p99: Option<f64>,
    /// Maximum of those that ended.
    pub max: Option<f64>,
    /// Operations that never ended.
    #[serde(default)]
    pub unbounded: u64,
}

impl From<&Distribution> for LatencyMs {
    /// From a distribution in nanoseconds at the standard percentiles.
    fn from(of: &Distribution) -> Self {
        let ms = |nanos: u64| nanos as f64 / 1e6;
        let at = |level| of.percentile(level).value().map(ms);
        LatencyMs {
            count: of.count,
            min: of.min.map(ms),
            p50: at(P50),
            p75: at(P75),
            p90: at(P90),
            p95: at(P95),
            p99: at(P99),
            max: of.max.map(ms),
            unbounded: of.unbounded,
        }
    }
}

/// Results of a video player.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
pub struct PlayerSummary {
    /// Time from the start of the player to its playback; the longest, with `--repeat`. `null` if it never
    /// played.
    #[serde(default)]
    pub startup_ms: Option<f64>,
    /// Number of stalls in the observed time.
    pub stalls: u64,
    /// Total duration of stalls, within the observed time.
    pub stalled_ms: f64,
    /// Duration of the longest stall, within the observed time.
    pub longest_stall_ms: f64,
    /// Time stalled as a share of the observed time; 0 if the player was not observed.
    pub stalled_share: f64,
}

/// Bit rates of the complete segments of a `dash` workload. With `--repeat`, all runs together.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
pub struct SegmentsSummary {
    /// Number of complete segments.
    pub complete: u64,
    /// Mean bit rate; `null` without segments.
    pub mean_mbps: Option<f64>,
    /// Lowest bit rate; `null` without segments.
    pub lowest_mbps: Option<f64>,
    /// Highest bit rate of the ladder.
    pub highest_mbps: f64,
    /// Share of the segments at the highest bit rate; `null` without segments.
    pub at_highest_share: Option<f64>,
    /// Number of changes of the bit rate.
    pub switches: u64,
}

/// Results of a probe's datagrams.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
pub struct ProbeSummary {
    /// Host that answers: `near`, `line` or `server`. Only in the document if it is not the server.
    #[serde(default, with = "target", skip_serializing_if = "is_server")]
    pub target: ProbeTarget,
    /// Share of the datagrams that were lost.
    pub lost_share: Option<f64>,
    /// Answers that arrived after one that was sent later.
    pub reordered: u64,
    /// One-way delay from station to server above the minimum, that is queueing delay. Only if the
    /// clocks of both ends are known.
    pub queued_up_ms: Option<LatencyMs>,
    /// The same from server to station.
    pub queued_down_ms: Option<LatencyMs>,
}

/// Results of a workload of kind `responsiveness`, in round trips per minute. A score is `null` if there are no probes of a
/// kind, or too few for a percentile. In means, a probe without a response has the time-out as its time. In percentiles its time
/// is unlimited.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct ResponsivenessSummary {
    /// Score of draft-ietf-ippm-responsiveness-09 over the evaluated time: the mean of `foreign_rpm` and `loaded_rpm`. Without
    /// a load of the workload's own it is `foreign_rpm`.
    pub rpm: Option<f64>,
    /// Class of this score in the draft: `poor`, `fair`, `good`, `excellent`.
    pub band: Option<String>,
    /// True if the workload has no load of its own, and so no self probes.
    pub foreign_only: bool,
    /// Rate of foreign probes, from trimmed means of the parts TCP, TLS and HTTP.
    pub foreign_rpm: Option<f64>,
    /// Rate of self probes, from their trimmed mean.
    pub loaded_rpm: Option<f64>,
    /// Score from medians.
    pub median_rpm: Option<f64>,
    /// Score from 90th percentiles.
    pub p90_rpm: Option<f64>,
    /// Score of goresponsiveness, from trimmed means with the share of the draft. `null` without TLS or self probes.
    pub goresponsiveness_rpm: Option<f64>,
    /// TCP handshake of foreign probes.
    pub tcp_ms: Option<LatencyMs>,
    /// TLS handshake of foreign probes; `null` without TLS.
    pub tls_ms: Option<LatencyMs>,
    /// Request and response of foreign probes.
    pub http_ms: Option<LatencyMs>,
    /// Request and response of self probes.
    pub self_ms: Option<LatencyMs>,
    /// Number of foreign probes.
    pub foreign_probes: ProbeCountsSummary,
    /// Number of self probes.
    pub self_probes: ProbeCountsSummary,
    /// Objects of the load that failed or timed out.
    pub load_failures: u64,
    /// Scores of consecutive periods of 5 s, from the start of the evaluated time. Empty with `--repeat`.
    #[serde(default)]
    pub periods: Vec<RpmPeriod>,
}

/// Numbers of probes of one kind in the evaluated time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct ProbeCountsSummary {
    /// Probes that were due.
    pub due: u64,
    /// Probes with a response.
    pub answered: u64,
    /// Probes that failed, timed out, or were not sent because no load connection was open.
    pub lost: u64,
    /// Probes that started 10 ms or more after they were due. They count like all others.
    pub late: u64,
}

/// Scores of one period.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
pub struct RpmPeriod {
    /// Start, in seconds from the start of the run's load.
    pub start_s: f64,
    /// As [`ResponsivenessSummary::rpm`].
    pub rpm: Option<f64>,
    /// As [`ResponsivenessSummary::foreign_rpm`].
    pub foreign_rpm: Option<f64>,
    /// As [`ResponsivenessSummary::loaded_rpm`].
    pub loaded_rpm: Option<f64>,
}

/// Packets of one direction of a call or of a stream of datagrams: losses and times.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
pub struct DeliverySummary {
    /// Packets sent.
    pub packets: u64,
    /// One-way delay of the packets from their due time. Lost packets rank above all others.
    pub delay_ms: Option<LatencyMs>,
    /// Share of the packets that never arrived.
    pub lost_share: Option<f64>,
    /// Longest run of consecutive packets that never arrived.
    pub longest_loss_packets: u64,
    /// Mean length of these runs; `null` without loss.
    pub mean_loss_packets: Option<f64>,
    /// Jitter of RFC 3550, mean over the packets.
    pub jitter_ms: Option<f64>,
}

/// Results of a call.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct VoiceSummary {
    /// Codec for which R and MOS are computed.
    pub codec: String,
    /// From the station to the server.
    pub up: VoiceStreamSummary,
    /// From the server to the station.
    pub down: VoiceStreamSummary,
}

/// One direction of a call. With `--repeat`, `rating`, `buffer_ms`, `late_share`, `mos_flent`,
/// `jitter_ms` and `burst_ratio` are means of the runs, and the other values are those of all runs
/// together.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
pub struct VoiceStreamSummary {
    /// Packets of this direction.
    #[serde(flatten)]
    pub delivery: DeliverySummary,
    /// Rating R of the E-model (ITU-T G.107) with the best fixed playout buffer; `null` if no packet
    /// arrived.
    pub rating: Option<f64>,
    /// Mean opinion score of this rating.
    pub mos: Option<f64>,
    /// That buffer: time from the due time of a packet to its playout.
    pub buffer_ms: Option<f64>,
    /// Share of the packets that arrived after this time.
    pub late_share: Option<f64>,
    /// Burst ratio of the lost and late packets; 1 for random loss.
    pub burst_ratio: Option<f64>,
    /// Mean opinion score by flent's formula, without a playout buffer.
    pub mos_flent: Option<f64>,
    /// Windows of 200 ms in which at least 10 % of the packets were lost or late.
    pub gaps: u64,
    /// Their share of all windows.
    pub gap_share: Option<f64>,
}

/// Results of streams of datagrams.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct StreamsSummary {
    /// From the station to the server, if the workload has this stream.
    pub up: Option<StreamSummary>,
    /// From the server to the station, if the workload has this stream.
    pub down: Option<StreamSummary>,
    /// Round trips of the packets up, for `game` and `cloud-gaming`: the one-way delay of a packet, and
    /// that of its answer. The answer is the first packet or frame down that is due when the packet up
    /// has arrived. Lost packets rank above all others.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub round_trip_ms: Option<LatencyMs>,
    /// Quality of outcome (draft-ietf-ippm-qoo) for `game`, 0 to 100: from the median, p95 and p99 of
    /// the round trips. 100 needs 30, 65 and 100 ms; 0 follows from 150, 200 or 250 ms. `null` if
    /// there are too few samples.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub qoo: Option<f64>,
}

/// One direction of streams of datagrams. With `--repeat`, `jitter_ms` is the mean of the runs, and
/// the other values are those of all runs together.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
pub struct StreamSummary {
    /// Packets of this direction; frames of a `video-call`.
    #[serde(flatten)]
    pub delivery: DeliverySummary,
    /// Gaps, for `game`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub gaps: Option<GapSummary>,
    /// Frames, for the direction down of `cloud-gaming`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub frames: Option<FrameSummary>,
    /// Video, for `video-call`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub video: Option<VideoSummary>,
}

/// Video of one direction of a video call. `delay_ms` of the direction is the frame delay: the time from the due time
/// of a frame to the arrival of its last packet. `lost_share` is the share of the frames that were never complete.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
pub struct VideoSummary {
    /// Number of freezes, as `freezeCount` of WebRTC's statistics.
    pub freezes: u64,
    /// Total duration of the freezes, as `totalFreezesDuration`.
    pub total_freezes_ms: f64,
    /// Duration of the longest freeze; 0 without one.
    pub longest_freeze_ms: f64,
    /// Share of the observed time in freezes; `null` if no time was observed.
    pub frozen_share: Option<f64>,
    /// Mean rate of the complete frames (UDP payload); `null` without frames.
    pub rate_mbps: Option<f64>,
    /// Target rate.
    pub target_mbps: f64,
    /// Share of the frames that were encoded at the target rate and became complete; `null` without frames.
    pub at_target_share: Option<f64>,
}

/// Frames of a stream.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
pub struct FrameSummary {
    /// Frames sent.
    pub frames: u64,
    /// From the due time of a frame to the arrival of its last packet. Incomplete frames rank above all
    /// others.
    pub delay_ms: LatencyMs,
    /// Share of the frames that were complete later than one interval plus the smallest delay of a
    /// packet; `null` without frames.
    pub late_share: Option<f64>,
    /// Share of the frames of which a packet was lost.
    pub incomplete_share: Option<f64>,
    /// Share of the frames that were late or incomplete.
    pub missed_share: Option<f64>,
}

/// Gaps of a stream: times of 100 ms or more between two arrivals.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
pub struct GapSummary {
    /// Number of gaps.
    pub count: u64,
    /// Duration of the longest gap; 0 without one.
    pub longest_ms: f64,
    /// Share of the observed time in gaps.
    pub share: f64,
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

/// A verdict's name in documents.
#[must_use]
pub const fn verdict_name(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::None => "none",
        Verdict::Pass => "pass",
        Verdict::Marginal => "marginal",
        Verdict::Inconclusive => "inconclusive",
        Verdict::Fail => "fail",
    }
}

/// Returns true for the usual target of a probe.
fn is_server(target: &ProbeTarget) -> bool {
    *target == ProbeTarget::Server
}

/// Targets of probes by name.
mod target {
    use netburn_workload::ProbeTarget;
    use serde::{Deserialize, Deserializer, Serializer, de::Error};

    pub(crate) fn serialize<S: Serializer>(target: &ProbeTarget, to: S) -> Result<S::Ok, S::Error> {
        to.serialize_str(target.as_str())
    }

    pub(crate) fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<ProbeTarget, D::Error> {
        let text = std::borrow::Cow::<str>::deserialize(from)?;
        text.parse().map_err(D::Error::custom)
    }
}

/// Verdicts by name.
pub(crate) mod verdict {
    use super::verdict_name;
    use netburn_workload::Verdict;
    use serde::{Deserialize, Deserializer, Serializer, de::Error};

    pub(crate) fn serialize<S: Serializer>(verdict: &Verdict, to: S) -> Result<S::Ok, S::Error> {
        to.serialize_str(verdict_name(*verdict))
    }

    pub(crate) fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Verdict, D::Error> {
        let text = std::borrow::Cow::<str>::deserialize(from)?;
        let named = Verdict::ALL.into_iter().find(|verdict| verdict_name(*verdict) == text);
        named.ok_or_else(|| D::Error::custom(format_args!("unknown verdict `{text}`")))
    }
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
