//! Counts of one station: round trips, workloads, airtime.

use super::super::bins::Bins;
use super::super::buffer::{Arrivals, Levels};
use super::super::{AirBin, AirView, Curve, Histogram, LatencyBin, LinkBin, WorkloadView};
use netburn_record::summary::LatencyMs;
use netburn_record::{AirRow, Clock};
use netburn_scenario::{Plan, Station};
use netburn_stats::{P50, P75, P90, P95, P99};
use netburn_units::{Instant, Probability};
use netburn_workload::{Config, Goal};

pub(super) struct StationBuilder {
    /// Clock in this run, if it drifts.
    pub(super) clock: Option<Clock>,
    /// Time at which it was lost in this run, in ns of its clock.
    pub(super) lost: Option<i64>,
    /// Begin of its evaluated time, in ns.
    pub(super) from: i64,
    pub(super) idle: Histogram<7>,
    pub(super) loaded: Histogram<7>,
    pub(super) workloads: Vec<WorkloadBuilder>,
    pub(super) air: Option<AirGathering>,
    pub(super) link: Vec<LinkBin>,
}

pub(super) struct WorkloadBuilder {
    pub(super) latency: Histogram<7>,
    pub(super) bins: Vec<Histogram<5>>,
    pub(super) down: Vec<u64>,
    pub(super) up: Vec<u64>,
    pub(super) player: Option<(Arrivals, Levels)>,
}

pub(super) struct AirGathering {
    pub(super) bins: Vec<AirCount>,
    /// Within the evaluated time.
    pub(super) all: AirCount,
}

#[derive(Clone, Copy, Default)]
pub(super) struct AirCount {
    pub(super) airtime: u64,
    pub(super) transmissions: u64,
    pub(super) mpdus: u64,
    pub(super) retries: u64,
    pub(super) backlog: u64,
    pub(super) drops: u64,
    pub(super) marks: u64,
}

impl StationBuilder {
    pub(super) fn new(station: &Station, plan: &Plan, bins: Bins) -> Self {
        let workloads = station.workloads.iter();
        StationBuilder {
            clock: None,
            lost: None,
            from: plan.warmup.max(station.start).min(plan.duration).as_nanos() as i64,
            idle: Histogram::default(),
            loaded: Histogram::default(),
            workloads: workloads.map(|w| WorkloadBuilder::new(&w.config, plan, bins)).collect(),
            air: None,
            link: Vec::new(),
        }
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
    pub(super) fn new(config: &Config, plan: &Plan, bins: Bins) -> Self {
        WorkloadBuilder {
            latency: Histogram::default(),
            bins: vec![Histogram::default(); bins.count],
            down: vec![0; bins.count],
            up: vec![0; bins.count],
            player: config
                .player
                .map(|player| (Arrivals::new(player, plan.duration), Levels::new(bins))),
        }
    }

    /// `seconds`: how long a bin is, over all runs.
    pub(super) fn finish(self, config: &Config, exact: &LatencyMs, bins: usize, seconds: f64) -> WorkloadView {
        let rate = |bytes: &[u64]| -> Vec<f64> {
            let rates = bytes.iter().take(bins).map(|bytes| *bytes as f64 * 8.0 / 1e6 / seconds);
            rates.collect()
        };
        let latency_goal = config.goals.iter().filter_map(|goal| match goal {
            Goal::Latency { limit } => Some(*limit),
            Goal::Rate { .. } | Goal::NoStall => None,
        });
        let rate_goal = config.goals.iter().filter_map(|goal| match goal {
            Goal::Rate { at_least, .. } => Some(*at_least),
            Goal::Latency { .. } | Goal::NoStall => None,
        });
        WorkloadView {
            name: String::new(),
            kind: config.kind.as_str().to_owned(),
            latency_goal_ms: latency_goal.min().map(|limit| limit.as_nanos() as f64 / 1e6),
            rate_goal_mbps: rate_goal.max().map(|rate| rate.as_bps() as f64 / 1e6),
            latency: self.curve(exact),
            over_time: self.bins.iter().take(bins).map(latency_bin).collect(),
            down_mbps: rate(&self.down),
            up_mbps: rate(&self.up),
            buffer: self.player.zip(config.player).map(|((_, levels), player)| {
                let mut view = levels.finish(&player);
                view.least_s.truncate(bins);
                view.end_s.truncate(bins);
                view
            }),
        }
    }

    /// The curve through the summary's own percentiles, where both counted the same.
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

impl AirCount {
    pub(super) fn add(&mut self, row: &AirRow) {
        let airtime = row.airtime_down.as_nanos().saturating_add(row.airtime_up.as_nanos());
        self.airtime = self.airtime.saturating_add(airtime);
        self.transmissions = self.transmissions.saturating_add(row.transmissions);
        self.mpdus = self.mpdus.saturating_add(row.mpdus);
        self.retries = self.retries.saturating_add(row.retries);
        self.backlog = self.backlog.max(row.backlog);
        self.drops = self.drops.saturating_add(row.drops);
        self.marks = self.marks.saturating_add(row.marks);
    }

    pub(super) fn aggregate(&self) -> Option<f64> {
        (self.transmissions > 0).then(|| self.mpdus as f64 / self.transmissions as f64)
    }
}

impl AirGathering {
    pub(super) fn finish(self, airtime: Option<f64>, bytes: Option<f64>, bins: usize, seconds: f64) -> AirView {
        let bin = |count: &AirCount| AirBin {
            airtime: count.airtime as f64 / 1e9 / seconds,
            aggregate: count.aggregate(),
            backlog: count.backlog,
            drops: count.drops,
        };
        let all = &self.all;
        AirView {
            airtime_share: airtime,
            bytes_share: bytes,
            mean_aggregate: all.aggregate(),
            retry_share: (all.mpdus > 0).then(|| all.retries as f64 / all.mpdus as f64),
            drops: all.drops,
            marks: all.marks,
            bins: self.bins.iter().take(bins).map(bin).collect(),
        }
    }
}
