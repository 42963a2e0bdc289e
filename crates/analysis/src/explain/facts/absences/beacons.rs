//! Delays that end with the beacons of an access point.

use crate::explain::evidence::Arrival;
use std::collections::BTreeMap;

/// Share of the arrivals that must wait, and how closely these follow the beacons.
pub(in crate::explain) const DOZING: f64 = 0.5;
pub(in crate::explain) const LOCKED: f64 = 0.8;
/// Beacon interval that access points have as delivered, in ns (100 TU of 1,024 µs, 802.11-2020 9.4.1.3).
const BEACON: f64 = 102_400_000.0;
/// Part of a run in which the clocks of an access point and of a station drift by less than a hundredth of a beacon
/// interval, in ns: 20 s at 50 ppm.
const DRIFT: i64 = 20_000_000_000;
/// Delay above the smallest one from which an arrival may have waited for a beacon, in ns.
const WAITED: i64 = 5_000_000;
/// Number of such arrivals for a result.
const MIN_WAITED: usize = 20;

/// Degree to which the ends of delayed arrivals follow the beacons of an access point, from 0 (not at all) to 1, and their
/// share of all arrivals. A device that dozes learns from beacons what waits for it (802.11-2020 11.2.3). `None` with too
/// few of them, or if they are due with the beacons.
pub(in crate::explain::facts) fn beacon_locked(arrivals: &[Arrival]) -> Option<(f64, f64)> {
    let mut streams: BTreeMap<(u16, bool), Vec<Arrival>> = BTreeMap::new();
    for arrival in arrivals {
        streams.entry(arrival.stream).or_default().push(*arrival);
    }
    // Packets that the device itself sends wake it, so another stream may not wait.
    let each = streams.values().filter_map(|stream| locked_stream(stream));
    each.max_by(|a, b| (a.0 * a.1).total_cmp(&(b.0 * b.1)))
}

fn locked_stream(arrivals: &[Arrival]) -> Option<(f64, f64)> {
    let least = arrivals.iter().filter_map(|one| Some(one.end? - one.due)).min()?;
    let waited: Vec<(i64, i64)> = arrivals
        .iter()
        .filter_map(|one| Some((one.due, one.end?)))
        .filter(|(due, end)| end - due >= least + WAITED)
        .collect();
    if waited.len() < MIN_WAITED {
        return None;
    }
    let ends = strength(waited.iter().map(|(_, end)| *end));
    let dues = strength(waited.iter().map(|(due, _)| *due));
    // Those that are due at one phase end at one phase with any delay.
    (dues < ends / 2.0).then(|| (ends, waited.len() as f64 / arrivals.len() as f64))
}

/// Length of the mean of the phases in a beacon interval as vectors of length 1 (the circular mean resultant length), in parts
/// of the run, weighted by their numbers.
fn strength(times: impl Iterator<Item = i64>) -> f64 {
    let mut parts: BTreeMap<i64, (f64, f64, f64)> = BTreeMap::new();
    for time in times {
        let angle = (time as f64 / BEACON).rem_euclid(1.0) * std::f64::consts::TAU;
        let part = parts.entry(time.div_euclid(DRIFT)).or_default();
        *part = (part.0 + angle.cos(), part.1 + angle.sin(), part.2 + 1.0);
    }
    let length = parts.values().map(|(x, y, _)| x.hypot(*y)).sum::<f64>();
    let count = parts.values().map(|(_, _, n)| n).sum::<f64>();
    length / count.max(1.0)
}
