//! Bit rates of the segments of adaptive streaming, for `dash`.

use super::{End, KindCounter, Shared};
use crate::aggregate::{Counted, LoadDirection};
use crate::quantity::{Metric, Unit, count};
use netburn_stats::metric_change::{Better, Tolerance};
use netburn_units::BitRate;
use netburn_workload::{Config, Goal, Tally};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

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

pub(super) static METRICS: &[Metric<SegmentsSummary>] = &[
    Metric::new("bit_rate_mbps", Unit::Mbps, |of: &SegmentsSummary| Some(of.mean_mbps))
        .gauge(
            "netburn_media_bit_rate_bits_per_second",
            "Mean bit rate of the complete segments of adaptive streaming.",
        )
        .at("segments.mean_mbps")
        .compared(
            "video Mbit/s",
            "mean bit rate of adaptive streaming",
            Better::Higher,
            Tolerance::RATE,
        ),
    Metric::new("at_highest_share", Unit::Share, |of: &SegmentsSummary| {
        Some(of.at_highest_share)
    })
    .gauge(
        "netburn_media_at_highest_bit_rate_ratio",
        "Share of the segments at the highest bit rate.",
    )
    .at("segments.at_highest_share"),
    Metric::new("switches", Unit::Count, |of: &SegmentsSummary| count(of.switches))
        .gauge("netburn_media_bit_rate_switches", "Number of changes of the bit rate.")
        .at("segments.switches"),
];

/// Complete segments.
#[derive(Debug, Clone, Default)]
pub(crate) struct Segments {
    /// Number of segments by bit rate.
    by_rate: BTreeMap<BitRate, u64>,
    /// Number of segments with another bit rate than the previous complete one of the run.
    switches: u64,
    /// Bit rate of the previous one.
    last: Option<BitRate>,
    /// Highest bit rate of the ladder.
    highest: Option<BitRate>,
}

impl KindCounter for Segments {
    type Summary = SegmentsSummary;

    fn new(config: &Config, _tls: bool) -> Option<Self> {
        config.dash().map(|dash| Segments {
            highest: Some(dash.highest()),
            ..Segments::default()
        })
    }

    /// Counts a complete segment. One whose size is not of the ladder does not count.
    fn operation(&mut self, config: &Config, counted: &Counted<'_>, _load: Option<LoadDirection>) {
        let dash = config.dash().filter(|_| counted.latency.is_some());
        let Some(rate) = dash.and_then(|dash| dash.rate_of(counted.operation.bytes)) else {
            return;
        };
        *self.by_rate.entry(rate).or_default() += 1;
        self.switches += u64::from(self.last.is_some_and(|last| last != rate));
        self.last = Some(rate);
    }

    fn finish(&mut self, of: &End<'_>, goals: &mut [Tally]) {
        for (goal, tally) in of.config.goals.iter().zip(goals) {
            if let Goal::Rate { at_least, .. } = goal {
                *tally = self.tally(*at_least, of.operations);
            }
        }
    }

    fn add(&mut self, other: Self) {
        for (rate, count) in other.by_rate {
            *self.by_rate.entry(rate).or_default() += count;
        }
        self.switches += other.switches;
    }

    fn summarise(self, _of: &Shared<'_>) -> SegmentsSummary {
        let complete: u64 = self.by_rate.values().sum();
        let bits = self
            .by_rate
            .iter()
            .map(|(rate, count)| u128::from(rate.as_bps()) * u128::from(*count));
        let mean = |total: u128| total as f64 / complete as f64 / 1e6;
        let at_highest = self
            .highest
            .and_then(|rate| self.by_rate.get(&rate))
            .copied()
            .unwrap_or(0);
        SegmentsSummary {
            complete,
            mean_mbps: (complete > 0).then(|| mean(bits.sum())),
            lowest_mbps: self.by_rate.keys().next().map(|rate| rate.as_mbps_f64()),
            highest_mbps: self.highest.map_or(0.0, BitRate::as_mbps_f64),
            at_highest_share: (complete > 0).then(|| at_highest as f64 / complete as f64),
            switches: self.switches,
        }
    }
}

impl Segments {
    /// Counts the segments with at least this bit rate. `samples` is the number of all segments that were due, complete
    /// or not.
    fn tally(&self, at_least: BitRate, samples: u64) -> Tally {
        let worst = self.by_rate.keys().next();
        Tally {
            samples,
            met: self.by_rate.range(at_least..).map(|(_, count)| count).sum(),
            worst: worst.map(|lowest| at_least.as_bps() as f64 / lowest.as_bps().max(1) as f64),
            ..Tally::default()
        }
    }
}
