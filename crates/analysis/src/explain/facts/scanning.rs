//! Scans that slow a station which misses no goal.

use super::RunFacts;
use super::absences::{Absence, Sharing, absences, beacon_locked, interval_of, is_certain, rhythm, touches};
use super::{LOCKED, MIN_ABSENCES};
use crate::explain::evidence::Arrival;
use std::collections::BTreeMap;

/// Ratio of the 95th percentile of a probe to its median, from which the scans are notable.
pub(in crate::explain) const MANY: f64 = 5.0;
/// Time by which it must exceed the median too, in ns: people do not notice less.
pub(in crate::explain) const NOTABLE: i64 = 30_000_000;

/// Delay of a station's probes with its scans and without them.
#[derive(Debug, Clone, PartialEq)]
pub(in crate::explain) struct SlowScans {
    /// Number of scans or absences.
    pub(in crate::explain) count: usize,
    /// Period of the absences in ns, if they have one.
    pub(in crate::explain) period: Option<f64>,
    /// True if the station's driver reported the scans.
    pub(in crate::explain) is_reported: bool,
    /// Median of the delay, its 95th percentile, and that of the probes outside of the scans, in ns.
    pub(in crate::explain) median: i64,
    pub(in crate::explain) p95: i64,
    pub(in crate::explain) p95_without: i64,
}

impl RunFacts<'_> {
    /// Scans of a station that make the 95th percentile of a probe or of a stream many times its median; `None` if it is also
    /// high at other times, or if the station roams.
    pub(in crate::explain) fn slow_scans(&self, station: usize) -> Option<SlowScans> {
        let seen = &self.evidence.stations[station];
        if !self.may_use_wifi(station) || !seen.roams.is_empty() {
            return None;
        }
        let scan = |(at, length): &(i64, u64)| Absence {
            begin: *at,
            end: at.saturating_add_unsigned(*length),
        };
        let mut scans: Vec<Absence> = seen.scans.iter().map(scan).collect();
        scans.sort_unstable();
        let (period, is_reported) = if scans.len() >= MIN_ABSENCES {
            (None, true)
        } else {
            let found = rhythm(&absences(&seen.arrivals), &seen.arrivals)?;
            let dozes = beacon_locked(&seen.arrivals).is_some_and(|(strength, _)| strength >= LOCKED);
            let is_other = dozes || self.sharing(station, &found.absences) == Sharing::Shared;
            if is_other || !is_certain(&found, &seen.arrivals) {
                return None;
            }
            // An absence began up to an interval before the first that waited was due.
            let interval = interval_of(&seen.arrivals);
            let widened = |one: &Absence| Absence {
                begin: one.begin - interval,
                end: one.end,
            };
            scans = found.absences.iter().map(widened).collect();
            (found.period, false)
        };
        let mut streams: BTreeMap<(u16, bool), Vec<Arrival>> = BTreeMap::new();
        for arrival in &seen.arrivals {
            streams.entry(arrival.stream).or_default().push(*arrival);
        }
        let slow = streams.values().filter_map(|stream| slow_stream(stream, &scans));
        let (median, p95, p95_without) = slow.max_by_key(|(_, p95, _)| *p95)?;
        Some(SlowScans {
            count: scans.len(),
            period,
            is_reported,
            median,
            p95,
            p95_without,
        })
    }
}

/// Median, 95th percentile, and that outside of the scans, of a stream that the scans slow; otherwise `None`.
fn slow_stream(stream: &[Arrival], scans: &[Absence]) -> Option<(i64, i64, i64)> {
    let delay = |one: &Arrival| one.end.map_or(i64::MAX, |end| end - one.due);
    let all: Vec<i64> = stream.iter().map(delay).collect();
    let outside = stream
        .iter()
        .filter(|one| !touches(scans, (one.due, one.end.unwrap_or(one.due))));
    let outside: Vec<i64> = outside.map(delay).collect();
    let (median, p95, p95_without) = (percentile(&all, 50)?, percentile(&all, 95)?, percentile(&outside, 95)?);
    let is_slow = |value: i64| value as f64 >= MANY * median as f64 && value.saturating_sub(median) >= NOTABLE;
    (is_slow(p95) && !is_slow(p95_without) && p95 < i64::MAX).then_some((median, p95, p95_without))
}

/// Nearest rank; `None` with fewer than 20 values, which have no 95th percentile.
fn percentile(values: &[i64], percent: usize) -> Option<i64> {
    let mut sorted = values.to_vec();
    sorted.sort_unstable();
    let rank = (sorted.len() * percent).div_ceil(100);
    sorted.get(rank.checked_sub(1)?).filter(|_| sorted.len() >= 20).copied()
}
