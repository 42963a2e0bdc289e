//! Division of a station's delay into Wi-Fi, internet line and server.
//!
//! Each probe to a farther host is compared with the probe to the nearer one that was due closest to it. The difference
//! is the delay of the part between the two hosts at that time. Percentiles are those of the differences: differences
//! of percentiles would mix different times.

use netburn_stats::bootstrap::mean;
use netburn_stats::percentile::{rank, supported};
use netburn_stats::{P50, P95};
use netburn_units::{Duration, Probability};
use netburn_workload::ProbeTarget;
use serde::{Deserialize, Serialize};

/// Round trips of a station by the part of the path in which they take place.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
pub struct SplitSummary {
    /// Between the station and its access point, or the default gateway: the round trip of the probe `near`.
    pub wifi: DelaySummary,
    /// Between the access point and the first hop beyond the router: `line` minus `near`. With a probe to `line`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub line: Option<DelaySummary>,
    /// Beyond that hop: `server` minus `line`. With probes to both.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub server: Option<DelaySummary>,
    /// Line and server together: `server` minus `near`. With a probe to the server and none to `line`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub line_and_server: Option<DelaySummary>,
    /// One-way delay from the station to the server that the load adds on all parts together, in ms: median in the
    /// evaluated time minus median before the load. With a probe to the server, and if the clocks of both ends are known.
    #[serde(default)]
    pub added_up_ms: Option<f64>,
    /// The same from the server to the station.
    #[serde(default)]
    pub added_down_ms: Option<f64>,
}

/// Round-trip times of one part of the path, in ms.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
pub struct DelaySummary {
    /// Compared probes of the evaluated time.
    pub count: u64,
    /// Median before the load; for a difference, the difference of the medians. `null` without a baseline.
    pub idle_ms: Option<f64>,
    /// Median in the evaluated time; from 6 samples.
    pub p50_ms: Option<f64>,
    /// 95th percentile; from 60.
    pub p95_ms: Option<f64>,
}

impl DelaySummary {
    /// Median above the idle value, in ms: the delay that the load adds.
    #[must_use]
    pub fn added_p50_ms(&self) -> Option<f64> {
        Some(self.p50_ms? - self.idle_ms?)
    }

    /// 95th percentile above the idle value, in ms.
    #[must_use]
    pub fn added_p95_ms(&self) -> Option<f64> {
        Some(self.p95_ms? - self.idle_ms?)
    }
}

/// Samples of a station's split, in ns.
#[derive(Debug, Clone, Default)]
pub(crate) struct SplitEvidence {
    /// True if the station has a probe to its access point.
    is_known: bool,
    idle_near: Vec<u64>,
    idle_line: Vec<u64>,
    /// Copy of the idle round trips to the server.
    idle_server: Vec<u64>,
    near: Vec<i64>,
    line: Option<Vec<i64>>,
    server: Option<Vec<i64>>,
    line_and_server: Option<Vec<i64>>,
    /// Added one-way delay of each run.
    added_up_ms: Vec<f64>,
    added_down_ms: Vec<f64>,
}

/// Answered probes to one host: due time and latency in ns, in the order of due times.
pub(crate) type Answers<'a> = &'a [(i64, u64)];

impl SplitEvidence {
    /// Counts an idle round trip to a host other than the server.
    pub(crate) fn idle(&mut self, target: ProbeTarget, latency: Duration) {
        match target {
            ProbeTarget::Near => self.idle_near.push(latency.as_nanos()),
            ProbeTarget::Line => self.idle_line.push(latency.as_nanos()),
            ProbeTarget::Server => {}
        }
    }

    /// Sets the probes of the evaluated time, by host; `None` without such probes. `within`: maximum time between two
    /// probes that are compared, in ns.
    pub(crate) fn set(
        &mut self,
        idle_server: &[u64],
        near: Answers<'_>,
        line: Option<Answers<'_>>,
        server: Option<Answers<'_>>,
        within: u64,
    ) {
        self.is_known = true;
        self.idle_server = idle_server.to_vec();
        self.near = near.iter().map(|(_, latency)| *latency as i64).collect();
        self.line = line.map(|line| differences(line, near, within));
        (self.server, self.line_and_server) = match (server, line) {
            (None, _) => (None, None),
            (Some(server), Some(line)) => (Some(differences(server, line, within)), None),
            (Some(server), None) => (None, Some(differences(server, near, within))),
        };
    }

    /// Sets the one-way delays, up and down, of probes to the server before the load and in the evaluated time, in ns.
    /// The offset of the clocks may be unknown: it is in both.
    pub(crate) fn set_one_way(&mut self, idle: &[(i64, i64)], loaded: &[(i64, i64)]) {
        let added = |direction: fn(&(i64, i64)) -> i64| {
            let median = |delays: &[(i64, i64)]| percentile(&delays.iter().map(direction).collect::<Vec<_>>(), P50);
            Some(median(loaded)? - median(idle)?)
        };
        self.added_up_ms = added(|(up, _)| *up).into_iter().collect();
        self.added_down_ms = added(|(_, down)| *down).into_iter().collect();
    }

    pub(crate) fn add(&mut self, other: SplitEvidence) {
        self.is_known |= other.is_known;
        self.idle_near.extend(other.idle_near);
        self.idle_line.extend(other.idle_line);
        self.idle_server.extend(other.idle_server);
        self.near.extend(other.near);
        self.added_up_ms.extend(other.added_up_ms);
        self.added_down_ms.extend(other.added_down_ms);
        for (of, other) in [
            (&mut self.line, other.line),
            (&mut self.server, other.server),
            (&mut self.line_and_server, other.line_and_server),
        ] {
            if let Some(other) = other {
                of.get_or_insert_default().extend(other);
            }
        }
    }

    /// The summary; `None` without a probe to the access point.
    pub(crate) fn summary(&self) -> Option<SplitSummary> {
        let idle = |samples: &[u64]| percentile(&samples.iter().map(|nanos| *nanos as i64).collect::<Vec<_>>(), P50);
        let [near, line, server] = [&self.idle_near, &self.idle_line, &self.idle_server].map(|samples| idle(samples));
        let part = |samples: &Option<Vec<i64>>, far: Option<f64>, close: Option<f64>| {
            let idle = far.zip(close).map(|(far, close)| far - close);
            samples.as_ref().map(|samples| delays(samples, idle))
        };
        self.is_known.then(|| SplitSummary {
            wifi: delays(&self.near, near),
            line: part(&self.line, line, near),
            server: part(&self.server, server, line),
            line_and_server: part(&self.line_and_server, server, near),
            added_up_ms: mean_of(&self.added_up_ms),
            added_down_ms: mean_of(&self.added_down_ms),
        })
    }
}

/// Latency of each far probe minus that of the near probe that was due closest to it, if that is at most `within` away.
fn differences(far: Answers<'_>, near: Answers<'_>, within: u64) -> Vec<i64> {
    let mut next = 0;
    let closest = |(due, latency): &(i64, u64)| {
        // The later one of two that are equally close.
        while near
            .get(next + 1)
            .is_some_and(|(at, _)| at.abs_diff(*due) <= near[next].0.abs_diff(*due))
        {
            next += 1;
        }
        let (at, other) = near.get(next)?;
        (at.abs_diff(*due) <= within).then(|| *latency as i64 - *other as i64)
    };
    far.iter().filter_map(closest).collect()
}

fn delays(samples: &[i64], idle_ms: Option<f64>) -> DelaySummary {
    DelaySummary {
        count: samples.len() as u64,
        idle_ms,
        p50_ms: percentile(samples, P50),
        p95_ms: percentile(samples, P95),
    }
}

fn mean_of(runs: &[f64]) -> Option<f64> {
    (!runs.is_empty()).then(|| mean(runs))
}

/// Percentile in ms, by the nearest rank; `None` if the number of samples does not support it.
fn percentile(samples: &[i64], level: Probability) -> Option<f64> {
    let count = samples.len() as u64;
    if !supported(level, count) {
        return None;
    }
    let mut samples = samples.to_vec();
    let (_, value, _) = samples.select_nth_unstable(rank(level, count) as usize - 1);
    Some(*value as f64 / 1e6)
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: u64 = 1_000_000;

    /// `count` probes, one each 50 ms from `first` ms, which all take `latency` ms.
    fn answers(first: i64, count: i64, latency: u64) -> Vec<(i64, u64)> {
        let due = |number: i64| (first + 50 * number) * MS as i64;
        (0..count).map(|number| (due(number), latency * MS)).collect()
    }

    fn idle(split: &mut SplitEvidence, target: ProbeTarget, latency: u64) {
        (0..10).for_each(|_| split.idle(target, Duration::from_millis(latency)));
    }

    fn rounded(of: DelaySummary) -> (u64, Option<i64>, Option<i64>, Option<i64>) {
        let whole = |value: Option<f64>| value.map(|value| value.round() as i64);
        (of.count, whole(of.idle_ms), whole(of.p50_ms), whole(of.p95_ms))
    }

    /// Idle: 2, 12 and 20 ms; loaded: 30, 100 and 108 ms. The line has 12 − 2 and 100 − 30 ms, the server 8 ms in both.
    #[test]
    fn three_targets_give_three_parts() {
        let mut split = SplitEvidence::default();
        idle(&mut split, ProbeTarget::Near, 2);
        idle(&mut split, ProbeTarget::Line, 12);
        let (near, line, server) = (answers(0, 100, 30), answers(13, 100, 100), answers(31, 100, 108));
        split.set(&[20 * MS; 10], &near, Some(&line), Some(&server), 50 * MS);
        let summary = split.summary().unwrap();
        assert_eq!(rounded(summary.wifi), (100, Some(2), Some(30), Some(30)));
        assert_eq!(rounded(summary.line.unwrap()), (100, Some(10), Some(70), Some(70)));
        assert_eq!(rounded(summary.server.unwrap()), (100, Some(8), Some(8), Some(8)));
        assert_eq!(summary.line_and_server, None);
        assert_eq!(summary.wifi.added_p50_ms(), Some(28.0));
        assert_eq!(summary.line.unwrap().added_p95_ms(), Some(60.0));
    }

    #[test]
    fn without_a_probe_to_the_line_the_rest_is_one_part() {
        let mut split = SplitEvidence::default();
        idle(&mut split, ProbeTarget::Near, 2);
        split.set(
            &[20 * MS; 10],
            &answers(0, 60, 5),
            None,
            Some(&answers(0, 60, 45)),
            50 * MS,
        );
        let summary = split.summary().unwrap();
        assert_eq!((summary.line, summary.server), (None, None));
        assert_eq!(
            rounded(summary.line_and_server.unwrap()),
            (60, Some(18), Some(40), Some(40))
        );
    }

    #[test]
    fn a_station_without_a_near_probe_has_no_split() {
        assert_eq!(SplitEvidence::default().summary(), None);
    }

    /// Near probes at 0, 50 and 100 ms take 1, 2 and 3 ms. The far one at 30 ms is closer to that at 50 ms, the one at
    /// 75 ms is equally close to both neighbours, and the one at 200 ms is too late for a comparison.
    #[test]
    fn each_probe_is_compared_with_the_closest_one() {
        let near = [(0, MS), (50 * MS as i64, 2 * MS), (100 * MS as i64, 3 * MS)];
        let far = [30, 75, 200].map(|due: i64| (due * MS as i64, 10 * MS));
        let found = differences(&far, &near, 50 * MS);
        assert_eq!(found, [8 * MS as i64, 7 * MS as i64]);
        assert_eq!(differences(&far, &[], 50 * MS), [0_i64; 0]);
    }

    /// The clocks differ by 1 s. Idle 5 ms in each direction; loaded 5 ms up and 75 ms down.
    #[test]
    fn the_offset_of_the_clocks_has_no_effect() {
        let delays = |up: i64, down: i64| vec![((up + 1_000) * MS as i64, (down - 1_000) * MS as i64); 10];
        let mut split = SplitEvidence::default();
        split.set(&[], &[], None, None, MS);
        assert_eq!(split.summary().unwrap().added_up_ms, None);
        split.set_one_way(&delays(5, 5), &delays(5, 75));
        let summary = split.summary().unwrap();
        assert_eq!((summary.added_up_ms, summary.added_down_ms), (Some(0.0), Some(70.0)));
    }

    #[test]
    fn runs_are_pooled() {
        let mut one = SplitEvidence::default();
        idle(&mut one, ProbeTarget::Near, 2);
        one.set(
            &[20 * MS; 10],
            &answers(0, 3, 5),
            None,
            Some(&answers(0, 3, 45)),
            50 * MS,
        );
        assert_eq!(
            one.summary().unwrap().wifi.p50_ms,
            None,
            "three samples support no median"
        );
        one.add(one.clone());
        assert_eq!(rounded(one.summary().unwrap().wifi), (6, Some(2), Some(5), None));
    }
}
