//! Figures of a summary by their paths.

use netburn_record::summary::{StationSummary, Summary, WorkloadSummary};
use netburn_workload::Verdict;

/// A figure of a summary.
///
/// | path | |
/// |---|---|
/// | `verdict` | the run's |
/// | `totals.throughput_mbps`, `totals.airtime_jain` | all stations together |
/// | `station.NAME.verdict`, `.throughput_mbps`, `.airtime_share`, `.idle_ms` | one station |
/// | `station.NAME.WORKLOAD.verdict`, `.throughput_mbps`, `.operations`, `.goal_misses`, `.failures` | one workload |
/// | `station.NAME.WORKLOAD.min_ms`, `.p50_ms`, `.p75_ms`, `.p90_ms`, `.p95_ms`, `.p99_ms`, `.max_ms` | its latency |
/// | `station.NAME.WORKLOAD.met`, `.excess` | its first goal |
/// | `station.NAME.WORKLOAD.stalls`, `.stalled_ms`, `.lost_share` | its player, its datagrams |
///
/// A verdict is a number: fail 0, inconclusive 1, marginal 2, pass 3; without goals there is none.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Figure {
    /// The run's.
    Run(&'static str),
    /// A station's.
    Station(String, &'static str),
    /// A workload's of a station.
    Workload(String, String, &'static str),
}

/// What a figure is in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Unit {
    /// Milliseconds.
    Ms,
    /// 10⁶ bit/s.
    Mbps,
    /// A share, or a ratio.
    Share,
    /// A number.
    Count,
}

const OF_RUN: [&str; 3] = ["verdict", "totals.throughput_mbps", "totals.airtime_jain"];
const OF_STATION: [&str; 4] = ["verdict", "throughput_mbps", "airtime_share", "idle_ms"];
const OF_WORKLOAD: [&str; 17] = [
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
];

/// The verdicts by name, and the numbers that stand for them.
pub(super) const VERDICTS: [(&str, f64); 4] = [("fail", 0.0), ("inconclusive", 1.0), ("marginal", 2.0), ("pass", 3.0)];

impl Figure {
    /// Reads a path.
    ///
    /// # Errors
    /// What would be right.
    pub fn parse(path: &str) -> Result<Self, String> {
        let known = |names: &'static [&'static str], name: &str| names.iter().find(|known| **known == name).copied();
        if let Some(name) = known(&OF_RUN, path) {
            return Ok(Figure::Run(name));
        }
        let parts: Vec<&str> = path.split('.').collect();
        let wrong = |names: &[&str]| format!("`{path}`: there are {}", names.join(", "));
        match parts.as_slice() {
            ["station", station, name] => known(&OF_STATION, name)
                .map(|name| Figure::Station((*station).to_owned(), name))
                .ok_or_else(|| wrong(&OF_STATION)),
            ["station", station, workload, name] => known(&OF_WORKLOAD, name)
                .map(|name| Figure::Workload((*station).to_owned(), (*workload).to_owned(), name))
                .ok_or_else(|| wrong(&OF_WORKLOAD)),
            _ => Err(format!(
                "`{path}`: there are {}, `station.NAME.FIGURE` and `station.NAME.WORKLOAD.FIGURE`",
                OF_RUN.join(", ")
            )),
        }
    }

    /// What it is in.
    #[must_use]
    pub fn unit(&self) -> Unit {
        let (Figure::Run(name) | Figure::Station(_, name) | Figure::Workload(_, _, name)) = self;
        match *name {
            _ if name.ends_with("_ms") => Unit::Ms,
            _ if name.ends_with("_mbps") => Unit::Mbps,
            "totals.airtime_jain" | "airtime_share" | "met" | "lost_share" | "excess" => Unit::Share,
            _ => Unit::Count,
        }
    }

    /// The station and the workload that it is about.
    #[must_use]
    pub fn about(&self) -> (Option<&str>, Option<&str>) {
        match self {
            Figure::Run(_) => (None, None),
            Figure::Station(station, _) => (Some(station), None),
            Figure::Workload(station, workload, _) => (Some(station), Some(workload)),
        }
    }

    /// Its value; `None` where there is none.
    #[must_use]
    pub fn of(&self, summary: &Summary) -> Option<f64> {
        let station = |name: &str| summary.stations.iter().find(|station| station.name == name);
        match self {
            Figure::Run(name) => match *name {
                "verdict" => rank(summary.verdict),
                "totals.throughput_mbps" => Some(summary.totals.throughput_mbps),
                _ => summary.totals.airtime_jain,
            },
            Figure::Station(of, name) => of_station(station(of)?, name),
            Figure::Workload(of, workload, name) => {
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
        assert_eq!(Figure::parse("verdict"), Ok(Figure::Run("verdict")));
        let p95 = Figure::parse("station.fast-1.voip.p95_ms").unwrap();
        assert_eq!(p95.unit(), Unit::Ms);
        assert_eq!(p95.about(), (Some("fast-1"), Some("voip")));
        assert!(
            Figure::parse("station.tv.p95_ms")
                .unwrap_err()
                .contains("airtime_share")
        );
        assert!(Figure::parse("station.tv.film.p96_ms").unwrap_err().contains("p95_ms"));
        assert!(
            Figure::parse("throughput")
                .unwrap_err()
                .contains("totals.throughput_mbps")
        );
    }
}
