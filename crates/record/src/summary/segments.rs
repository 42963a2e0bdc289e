//! Segments of adaptive streaming: counts by bit rate, and their summary.

use super::document::SegmentsSummary;
use netburn_units::BitRate;
use netburn_workload::config::Dash;
use netburn_workload::{Operation, Tally};
use std::collections::BTreeMap;

/// Complete segments of a `dash` workload.
#[derive(Debug, Clone, Default)]
pub(crate) struct SegmentsEvidence {
    /// Number of segments by bit rate.
    by_rate: BTreeMap<BitRate, u64>,
    /// Number of segments with another bit rate than the previous complete one of the run.
    switches: u64,
    /// Bit rate of the previous one.
    last: Option<BitRate>,
    /// Highest bit rate of the ladder.
    highest: Option<BitRate>,
}

impl SegmentsEvidence {
    pub(crate) fn new(dash: &Dash) -> Self {
        SegmentsEvidence {
            highest: Some(dash.highest()),
            ..SegmentsEvidence::default()
        }
    }

    /// Counts a complete segment. One whose size is not of the ladder does not count.
    pub(crate) fn put(&mut self, dash: &Dash, operation: &Operation) {
        let Some(rate) = dash.rate_of(operation.bytes) else {
            return;
        };
        *self.by_rate.entry(rate).or_default() += 1;
        self.switches += u64::from(self.last.is_some_and(|last| last != rate));
        self.last = Some(rate);
    }

    /// Adds the segments of another run.
    pub(crate) fn add(&mut self, other: SegmentsEvidence) {
        for (rate, count) in other.by_rate {
            *self.by_rate.entry(rate).or_default() += count;
        }
        self.switches += other.switches;
    }

    /// Counts the segments with at least this bit rate. `samples` is the number of all segments that were due, complete
    /// or not.
    pub(crate) fn tally(&self, at_least: BitRate, samples: u64) -> Tally {
        let worst = self.by_rate.keys().next();
        Tally {
            samples,
            met: self.by_rate.range(at_least..).map(|(_, count)| count).sum(),
            worst: worst.map(|lowest| at_least.as_bps() as f64 / lowest.as_bps().max(1) as f64),
            ..Tally::default()
        }
    }
}

impl From<SegmentsEvidence> for SegmentsSummary {
    fn from(of: SegmentsEvidence) -> Self {
        let complete: u64 = of.by_rate.values().sum();
        let bits = of
            .by_rate
            .iter()
            .map(|(rate, count)| u128::from(rate.as_bps()) * u128::from(*count));
        let mean = |total: u128| total as f64 / complete as f64 / 1e6;
        let at_highest = of.highest.and_then(|rate| of.by_rate.get(&rate)).copied().unwrap_or(0);
        SegmentsSummary {
            complete,
            mean_mbps: (complete > 0).then(|| mean(bits.sum())),
            lowest_mbps: of.by_rate.keys().next().map(|rate| rate.as_mbps_f64()),
            highest_mbps: of.highest.map_or(0.0, BitRate::as_mbps_f64),
            at_highest_share: (complete > 0).then(|| at_highest as f64 / complete as f64),
            switches: of.switches,
        }
    }
}
