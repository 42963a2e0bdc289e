//! Metrics of a summary by path.

use netburn_record::summary::{DeliverySummary, StationSummary, Summary, VideoSummary, WorkloadSummary};
use netburn_workload::{Direction, Verdict};

/// Path of a metric in a summary.
///
/// | path | |
/// |---|---|
/// | `verdict` | of the run |
/// | `totals.throughput_mbps`, `totals.airtime_jain` | all stations together |
/// | `station.NAME.verdict`, `.throughput_mbps`, `.airtime_share`, `.idle_ms` | one station |
/// | `station.NAME.WORKLOAD.verdict`, `.throughput_mbps`, `.operations`, `.goal_misses`, `.failures` | one workload |
/// | `station.NAME.WORKLOAD.min_ms`, `.p50_ms`, `.p75_ms`, `.p90_ms`, `.p95_ms`, `.p99_ms`, `.max_ms` | its latency |
/// | `station.NAME.WORKLOAD.met`, `.excess` | its first goal |
/// | `station.NAME.WORKLOAD.stalls`, `.stalled_ms`, `.lost_share` | its player, its datagrams |
/// | `station.NAME.WORKLOAD.freezes_up`, `.frozen_up_share`, `.rate_up_mbps`, `.at_target_up_share`; `down` alike | its video |
/// | `station.NAME.WORKLOAD.bit_rate_mbps`, `.at_highest_share`, `.switches` | its segments |
/// | `station.NAME.WORKLOAD.rpm`, `.foreign_rpm`, `.loaded_rpm`, `.p90_rpm` | its round trips per minute |
///
/// A verdict is a number: fail 0, inconclusive 1, marginal 2, pass 3; without goals there is none.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum MetricPath {
    /// A metric of the run.
    Run(&'static str),
    /// A metric of a station.
    Station(String, &'static str),
    /// A metric of a station's workload.
    Workload(String, String, &'static str),
}

/// Unit of a metric.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Unit {
    /// Milliseconds.
    Ms,
    /// 10⁶ bit/s.
    Mbps,
    /// A share, or a ratio.
    Share,
    /// A count.
    Count,
}

const OF_RUN: [&str; 3] = ["verdict", "totals.throughput_mbps", "totals.airtime_jain"];
const OF_STATION: [&str; 4] = ["verdict", "throughput_mbps", "airtime_share", "idle_ms"];
const OF_WORKLOAD: [&str; 44] = [
    "verdict",
    "throughput_mbps",
    "operations",
    "goal_misses",
    "failures",
    "min_ms",
    "p50_ms",
    "p75_ms",
    "p90_ms",
    "p95_ms",
    "p99_ms",
    "max_ms",
    "met",
    "excess",
    "stalls",
    "stalled_ms",
    "lost_share",
    "bit_rate_mbps",
    "at_highest_share",
    "switches",
    "rating_up",
    "rating_down",
    "lost_up_share",
    "lost_down_share",
    "delay_up_p50_ms",
    "delay_up_p95_ms",
    "delay_down_p50_ms",
    "delay_down_p95_ms",
    "round_trip_p50_ms",
    "round_trip_p95_ms",
    "qoo",
    "missed_frames_share",
    "freezes_up",
    "freezes_down",
    "frozen_up_share",
    "frozen_down_share",
    "rate_up_mbps",
    "rate_down_mbps",
    "at_target_up_share",
    "at_target_down_share",
    "rpm",
    "foreign_rpm",
    "loaded_rpm",
    "p90_rpm",
];

/// Verdicts by name, with their numbers.
pub(super) const VERDICTS: [(&str, f64); 4] = [("fail", 0.0), ("inconclusive", 1.0), ("marginal", 2.0), ("pass", 3.0)];

impl MetricPath {
    /// Parses a path.
    ///
    /// # Errors
    /// The path is unknown.
    pub fn parse(path: &str) -> Result<Self, String> {
        let known = |names: &'static [&'static str], name: &str| names.iter().find(|known| **known == name).copied();
        if let Some(name) = known(&OF_RUN, path) {
            return Ok(MetricPath::Run(name));
        }
        let parts: Vec<&str> = path.split('.').collect();
        let wrong = |names: &[&str]| format!("unknown metric `{path}`; expected one of {}", names.join(", "));
        match parts.as_slice() {
            ["station", station, name] => known(&OF_STATION, name)
                .map(|name| MetricPath::Station((*station).to_owned(), name))
                .ok_or_else(|| wrong(&OF_STATION)),
            ["station", station, workload, name] => known(&OF_WORKLOAD, name)
                .map(|name| MetricPath::Workload((*station).to_owned(), (*workload).to_owned(), name))
                .ok_or_else(|| wrong(&OF_WORKLOAD)),
            _ => Err(format!(
                "unknown metric `{path}`; expected {}, `station.NAME.METRIC` or `station.NAME.WORKLOAD.METRIC`",
                OF_RUN.join(", ")
            )),
        }
    }

    /// Returns the unit of the metric.
    #[must_use]
    pub fn unit(&self) -> Unit {
        let (MetricPath::Run(name) | MetricPath::Station(_, name) | MetricPath::Workload(_, _, name)) = self;
        match *name {
            _ if name.ends_with("_ms") => Unit::Ms,
            _ if name.ends_with("_mbps") => Unit::Mbps,
            "totals.airtime_jain" | "met" | "excess" => Unit::Share,
            _ if name.ends_with("_share") => Unit::Share,
            _ => Unit::Count,
        }
    }

    /// Returns the station and the workload of the metric.
    #[must_use]
    pub fn about(&self) -> (Option<&str>, Option<&str>) {
        match self {
            MetricPath::Run(_) => (None, None),
            MetricPath::Station(station, _) => (Some(station), None),
            MetricPath::Workload(station, workload, _) => (Some(station), Some(workload)),
        }
    }

    /// Returns the value in a summary, if it has one.
    #[must_use]
    pub fn value(&self, summary: &Summary) -> Option<f64> {
        let station = |name: &str| summary.stations.iter().find(|station| station.name == name);
        match self {
            MetricPath::Run(name) => match *name {
                "verdict" => rank(summary.verdict),
                "totals.throughput_mbps" => Some(summary.totals.throughput_mbps),
                _ => summary.totals.airtime_jain,
            },
            MetricPath::Station(of, name) => of_station(station(of)?, name),
            MetricPath::Workload(of, workload, name) => {
                let known = station(of)?.workloads.iter().find(|known| known.name == *workload)?;
                of_workload(known, name)
            }
        }
    }
}

fn of_station(station: &StationSummary, name: &str) -> Option<f64> {
    match name {
        "verdict" => rank(station.verdict),
        "throughput_mbps" => Some(station.throughput_mbps),
        "airtime_share" => station.airtime_share,
        _ => station.idle_latency_ms,
    }
}

/// Packets of a direction of a call or of a stream of datagrams.
fn delivery(workload: &WorkloadSummary, direction: Direction) -> Option<&DeliverySummary> {
    if let Some(voice) = &workload.voice {
        return match direction {
            Direction::Up => Some(&voice.up.delivery),
            Direction::Down => Some(&voice.down.delivery),
        };
    }
    let streams = workload.streams.as_ref()?;
    let stream = match direction {
        Direction::Up => streams.up.as_ref()?,
        Direction::Down => streams.down.as_ref()?,
    };
    Some(&stream.delivery)
}

/// Video of a direction of a video call.
fn video(workload: &WorkloadSummary, direction: Direction) -> Option<VideoSummary> {
    let streams = workload.streams.as_ref()?;
    let stream = match direction {
        Direction::Up => streams.up,
        Direction::Down => streams.down,
    };
    stream?.video
}

fn of_workload(workload: &WorkloadSummary, name: &str) -> Option<f64> {
    let latency = &workload.latency_ms;
    match name {
        "verdict" => rank(workload.verdict),
        "throughput_mbps" => Some(workload.throughput_mbps),
        "operations" => Some(workload.operations as f64),
        "goal_misses" => Some(workload.goal_misses as f64),
        "failures" => Some(workload.failures as f64),
        "min_ms" => latency.min,
        "p50_ms" => latency.p50,
        "p75_ms" => latency.p75,
        "p90_ms" => latency.p90,
        "p95_ms" => latency.p95,
        "p99_ms" => latency.p99,
        "max_ms" => latency.max,
        "met" => workload.goals.first()?.met,
        "excess" => workload.goals.first()?.excess,
        "stalls" => Some(workload.player?.stalls as f64),
        "stalled_ms" => Some(workload.player?.stalled_ms),
        "bit_rate_mbps" => workload.segments?.mean_mbps,
        "at_highest_share" => workload.segments?.at_highest_share,
        "switches" => Some(workload.segments?.switches as f64),
        "rating_up" => workload.voice.as_ref()?.up.rating,
        "rating_down" => workload.voice.as_ref()?.down.rating,
        "lost_up_share" => delivery(workload, Direction::Up)?.lost_share,
        "lost_down_share" => delivery(workload, Direction::Down)?.lost_share,
        "delay_up_p50_ms" => delivery(workload, Direction::Up)?.delay_ms?.p50,
        "delay_up_p95_ms" => delivery(workload, Direction::Up)?.delay_ms?.p95,
        "delay_down_p50_ms" => delivery(workload, Direction::Down)?.delay_ms?.p50,
        "delay_down_p95_ms" => delivery(workload, Direction::Down)?.delay_ms?.p95,
        "round_trip_p50_ms" => workload.streams.as_ref()?.round_trip_ms?.p50,
        "round_trip_p95_ms" => workload.streams.as_ref()?.round_trip_ms?.p95,
        "qoo" => workload.streams.as_ref()?.qoo,
        "missed_frames_share" => workload.streams.as_ref()?.down?.frames?.missed_share,
        "freezes_up" => Some(video(workload, Direction::Up)?.freezes as f64),
        "freezes_down" => Some(video(workload, Direction::Down)?.freezes as f64),
        "frozen_up_share" => video(workload, Direction::Up)?.frozen_share,
        "frozen_down_share" => video(workload, Direction::Down)?.frozen_share,
        "rate_up_mbps" => video(workload, Direction::Up)?.rate_mbps,
        "rate_down_mbps" => video(workload, Direction::Down)?.rate_mbps,
        "at_target_up_share" => video(workload, Direction::Up)?.at_target_share,
        "at_target_down_share" => video(workload, Direction::Down)?.at_target_share,
        "rpm" => workload.responsiveness.as_ref()?.rpm,
        "foreign_rpm" => workload.responsiveness.as_ref()?.foreign_rpm,
        "loaded_rpm" => workload.responsiveness.as_ref()?.loaded_rpm,
        "p90_rpm" => workload.responsiveness.as_ref()?.p90_rpm,
        _ => workload.probe?.lost_share,
    }
}

fn rank(verdict: Verdict) -> Option<f64> {
    match verdict {
        Verdict::None => None,
        Verdict::Fail => Some(0.0),
        Verdict::Inconclusive => Some(1.0),
        Verdict::Marginal => Some(2.0),
        Verdict::Pass => Some(3.0),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_checked() {
        assert_eq!(MetricPath::parse("verdict"), Ok(MetricPath::Run("verdict")));
        let p95 = MetricPath::parse("station.fast-1.voip.p95_ms").unwrap();
        assert_eq!(p95.unit(), Unit::Ms);
        assert_eq!(p95.about(), (Some("fast-1"), Some("voip")));
        assert!(
            MetricPath::parse("station.tv.p95_ms")
                .unwrap_err()
                .contains("airtime_share")
        );
        assert!(
            MetricPath::parse("station.tv.film.p96_ms")
                .unwrap_err()
                .contains("p95_ms")
        );
        assert!(
            MetricPath::parse("throughput")
                .unwrap_err()
                .contains("totals.throughput_mbps")
        );
    }
}
