//! Counts of one station: round trips, workloads, airtime.

use super::super::buffer::{Arrivals, Levels};
use super::super::{AirBin, AirView, Curve, Histogram, LatencyBin, LinkBin, WorkloadView};
use netburn_record::Clock;
use netburn_record::aggregate::{AirSum, Bucketed, Buckets, ByteSum, EvaluatedTime};
use netburn_record::summary::LatencyMs;
use netburn_scenario::{Plan, Station};
use netburn_stats::{P50, P75, P90, P95, P99};
use netburn_units::{Duration, Instant, Probability};
use netburn_workload::Config;

pub(super) struct StationBuilder {
    /// Clock in this run, if it drifts.
    pub(super) clock: Option<Clock>,
    /// Time at which it was lost in this run, in ns of its clock.
    pub(super) lost: Option<i64>,
    pub(super) evaluated: EvaluatedTime,
    pub(super) idle: Histogram<7>,
    pub(super) loaded: Histogram<7>,
    pub(super) workloads: Vec<WorkloadBuilder>,
    /// Content in the run's evaluated time, in bytes × 10⁸ (weighted by the nanoseconds of each 100 ms interval).
    pub(super) moved: u128,
    /// `None` without airtime.
    pub(super) air: Option<AirGathering>,
    pub(super) link: Bucketed<LinkBin>,
}

pub(super) struct WorkloadBuilder {
    pub(super) latency: Histogram<7>,
    pub(super) over_time: Bucketed<Histogram<5>>,
    pub(super) bytes: Bucketed<ByteSum>,
    /// Length of a segment of `dash`.
    pub(super) segment: Option<Duration>,
    pub(super) player: Option<(Arrivals, Levels)>,
}

pub(super) struct AirGathering {
    pub(super) bins: Bucketed<AirSum>,
    /// Within the evaluated time.
    pub(super) evaluated: AirSum,
}

impl StationBuilder {
    pub(super) fn new(station: &Station, plan: &Plan, evaluated: EvaluatedTime, bins: Buckets) -> Self {
        let workloads = station.workloads.iter();
        StationBuilder {
            clock: None,
            lost: None,
            evaluated,
            idle: Histogram::default(),
            loaded: Histogram::default(),
            workloads: workloads.map(|w| WorkloadBuilder::new(&w.config, plan, bins)).collect(),
            moved: 0,
            air: None,
            link: Bucketed::new(bins),
        }
    }

    /// Index of the last bin in which there was an operation, content or airtime.
    pub(super) fn last_bin(&self) -> usize {
        let workloads = self.workloads.iter();
        let moved = workloads.map(|workload| workload.over_time.last().max(workload.bytes.last()));
        let air = self.air.as_ref().map_or(0, |air| air.bins.last());
        moved.fold(air, usize::max)
    }

    /// An instant of its clock by the controller's, in ns.
    pub(super) fn common(&self, at: Instant) -> i64 {
        match &self.clock {
            Some(clock) => clock.to_common(at).as_nanos(),
            None => at.as_nanos(),
        }
    }
}

impl WorkloadBuilder {
    pub(super) fn new(config: &Config, plan: &Plan, bins: Buckets) -> Self {
        WorkloadBuilder {
            latency: Histogram::default(),
            over_time: Bucketed::new(bins),
            bytes: Bucketed::new(bins),
            segment: config.dash().map(|dash| dash.segment),
            player: config
                .playback()
                .map(|player| (Arrivals::new(player, plan.duration), Levels::new(bins))),
        }
    }

    /// `seconds` is the length of a bin, summed over all runs.
    pub(super) fn finish(self, config: &Config, exact: &LatencyMs, bins: usize, seconds: f64) -> WorkloadView {
        let rate = |direction: fn(&ByteSum) -> u64| -> Vec<f64> {
            let bytes = |bin| self.bytes.get(bin).map_or(0, direction);
            (0..bins).map(|bin| bytes(bin) as f64 * 8.0 / 1e6 / seconds).collect()
        };
        let rate_goal = config.goals.iter().filter_map(|goal| goal.rate());
        WorkloadView {
            name: String::new(),
            kind: config.kind().name.to_owned(),
            target: config.target().unwrap_or_default().as_str().to_owned(),
            latency_goal_ms: config.latency_limit().map(|limit| limit.as_nanos() as f64 / 1e6),
            rate_goal_mbps: rate_goal
                .map(|(at_least, _)| at_least)
                .max()
                .map(|rate| rate.as_bps() as f64 / 1e6),
            latency: self.curve(exact),
            over_time: (0..bins)
                .map(|bin| self.over_time.get(bin).and_then(latency_bin))
                .collect(),
            down_mbps: rate(|bytes| bytes.down),
            up_mbps: rate(|bytes| bytes.up),
            buffer: self.player.zip(config.playback()).map(|((_, levels), player)| {
                let mut view = levels.finish(&player);
                view.least_s.truncate(bins);
                view.end_s.truncate(bins);
                view
            }),
        }
    }

    /// The curve through the summary's own percentiles, if both have the same counts.
    pub(super) fn curve(&self, exact: &LatencyMs) -> Curve {
        let known: Vec<(Probability, f64)> = [
            (P50, exact.p50),
            (P75, exact.p75),
            (P90, exact.p90),
            (P95, exact.p95),
            (P99, exact.p99),
        ]
        .into_iter()
        .filter_map(|(level, value)| Some((level, value?)))
        .filter(|_| exact.count == self.latency.count())
        .collect();
        self.latency.curve(&known)
    }
}

fn latency_bin(of: &Histogram<5>) -> Option<LatencyBin> {
    let ms = |nanos: u64| nanos as f64 / 1e6;
    (of.count() > 0).then(|| LatencyBin {
        count: of.count(),
        unbounded: of.unbounded(),
        min_ms: of.range().map(|(least, _)| ms(least)),
        p50_ms: of.supported_ms(P50),
        p95_ms: of.supported_ms(P95),
        max_ms: of.range().map(|(_, most)| ms(most)),
    })
}

impl AirGathering {
    pub(super) fn new(bins: Buckets) -> Self {
        AirGathering {
            bins: Bucketed::new(bins),
            evaluated: AirSum::default(),
        }
    }

    pub(super) fn finish(self, airtime: Option<f64>, bytes: Option<f64>, bins: usize, seconds: f64) -> AirView {
        let bin = |bin| {
            let sum = self.bins.get(bin).copied().unwrap_or_default();
            AirBin {
                airtime: sum.airtime() as f64 / 1e9 / seconds,
                aggregate: sum.mean_aggregate(),
                backlog: sum.max_backlog,
                drops: sum.drops,
            }
        };
        let all = &self.evaluated;
        AirView {
            airtime_share: airtime,
            bytes_share: bytes,
            mean_aggregate: all.mean_aggregate(),
            retry_share: all.retry_share(),
            drops: all.drops,
            marks: all.marks,
            bins: (0..bins).map(bin).collect(),
        }
    }
}
