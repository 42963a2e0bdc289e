//! The period with which absences return.

use super::gaps::{Absence, MIN_ABSENCES, interval_of, median};
use crate::explain::evidence::Arrival;

/// Absences that return with a period.
#[derive(Debug, Clone, PartialEq)]
pub(in crate::explain) struct Rhythm {
    /// Period in ns; `None` if the absences are so long that they need none.
    pub(in crate::explain) period: Option<f64>,
    /// Median length in ns.
    pub(in crate::explain) length: i64,
    /// Those that fit the period.
    pub(in crate::explain) absences: Vec<Absence>,
}

/// Length from which an absence is more than a delay, in ns.
pub(in crate::explain) const LONG: i64 = 1_000_000_000;
/// Number of absences that are compared with a period at once: a bound of the work.
const PART: usize = 200;
/// Number of parts in which a period is sought at most.
const MAX_SEARCHES: usize = 4;
/// Share of the absences that must fit the period.
pub(super) const FITTING: f64 = 0.8;
/// Largest part of the period within which the ends of these lie.
const ARC: f64 = 0.25;
/// Natural logarithm of the probability, below which chance is no explanation: one in 1,000.
const CHANCE: f64 = -6.9;
/// Periods are tried in steps by which the phase of the last absence moves this part of a period.
const STEP: f64 = 0.1;
/// Number of periods that are tried at most: a bound of the work.
const MAX_PERIODS: f64 = 20_000.0;
/// Shortest period as a multiple of the interval of the probes. A shorter one looks like the interval itself.
pub(super) const MIN_INTERVALS: i64 = 4;

/// The period with which absences return; `None` if chance explains them.
///
/// The absences are divided into parts of at most [`PART`]. The period is sought in a few parts, and all parts are compared
/// with it. Each part has its own phase, because clocks drift in a long run, and a device may restart.
pub(in crate::explain::facts) fn rhythm(absences: &[Absence], arrivals: &[Arrival]) -> Option<Rhythm> {
    let size = absences.len().div_ceil(absences.len().div_ceil(PART).max(1)).max(1);
    let parts: Vec<&[Absence]> = absences.chunks(size).collect();
    let searches = parts.len().min(MAX_SEARCHES);
    let interval = interval_of(arrivals);
    let mut sought = (0..searches).map(|n| parts[n * parts.len() / searches]);
    let period = sought.find_map(|part| search(part, interval, searches))?;
    let (mut periods, mut lengths, mut fitting) = (Vec::new(), Vec::new(), Vec::new());
    for part in parts {
        let Some((period, own)) = fitting_to(part, period) else {
            continue;
        };
        periods.push(period);
        lengths.extend(part.iter().map(|absence| absence.end - absence.begin));
        fitting.extend(own);
    }
    periods.sort_by(f64::total_cmp);
    Some(Rhythm {
        period: Some(*periods.get(periods.len() / 2)?),
        length: median(lengths.into_iter())?,
        absences: fitting,
    })
}

/// The period of a part; `None` if chance explains its absences.
///
/// The ends of `k` of `n` absences lie within a part `w` of a period by chance with a probability of at most
/// C(n, k) · k · w^(k−1), for each period that is tried.
fn search(absences: &[Absence], interval: i64, searches: usize) -> Option<f64> {
    if absences.len() < MIN_ABSENCES {
        return None;
    }
    let ends = ends(absences);
    let length = median(absences.iter().map(|absence| absence.end - absence.begin))?;
    let span = ends[ends.len() - 1] - ends[0];
    let shortest = (MIN_INTERVALS * interval).max(2 * length) as f64;
    let shortest = shortest.max(span / STEP / MAX_PERIODS);
    if span < 3.0 * shortest {
        return None;
    }
    let longest = span / 3.0;
    let step = STEP / span;
    let count = ((1.0 / shortest - 1.0 / longest) / step) as usize;
    // Periods that differ by a step less than the arc are not independent of each other.
    let tried = ((count as f64) * STEP).max(1.0).ln() + (searches as f64).ln();
    let periods = (0..=count).map(|place| 1.0 / (1.0 / longest + place as f64 * step));
    let scored = periods.map(|period| (score(&ends, period).0, period));
    let (_, coarse) = scored.min_by(|a, b| a.0.total_cmp(&b.0))?;
    let period = refined(&ends, coarse);
    let (chance, _, width) = score(&ends, period);
    // A narrower arc has more independent places and periods.
    (chance + tried - width.max(1e-4).ln() <= CHANCE).then_some(period)
}

/// The absences of a part that fit a known period, and the period that fits them best; `None` if chance explains them.
fn fitting_to(absences: &[Absence], known: f64) -> Option<(f64, Vec<Absence>)> {
    let ends = ends(absences);
    let period = refined(&ends, known);
    let (chance, from, width) = score(&ends, period);
    if chance - width.max(1e-4).ln() > CHANCE {
        return None;
    }
    let fits = |absence: &&Absence| (absence.end as f64 / period - from).rem_euclid(1.0) <= width;
    Some((period, absences.iter().filter(fits).copied().collect()))
}

fn ends(absences: &[Absence]) -> Vec<f64> {
    absences.iter().map(|absence| absence.end as f64).collect()
}

/// Absences that are too rare for a period, but each of a second or more; `None` with fewer than two.
pub(super) fn long(absences: &[Absence], interval: i64) -> Option<Rhythm> {
    let long: Vec<Absence> = absences
        .iter()
        .filter(|absence| absence.end - absence.begin >= LONG.max(MIN_INTERVALS * interval))
        .copied()
        .collect();
    let length = median(long.iter().map(|absence| absence.end - absence.begin))?;
    (long.len() >= 2).then_some(Rhythm {
        period: None,
        length,
        absences: long,
    })
}

/// Natural logarithm of the probability that chance puts the ends into the best arc, with the arc's begin and width as
/// parts of the period.
fn score(ends: &[f64], period: f64) -> (f64, f64, f64) {
    let mut phases: Vec<f64> = ends.iter().map(|end| (end / period).rem_euclid(1.0)).collect();
    phases.sort_by(f64::total_cmp);
    let n = phases.len();
    let least = (FITTING * n as f64).ceil() as usize;
    let mut best = (0.0, 0.0, 1.0);
    let mut choices = 0.0_f64;
    for k in (least..=n).rev() {
        let arcs = (0..n).map(|first| {
            let last = first + k - 1;
            let turn = if last >= n { 1.0 } else { 0.0 };
            (phases[last % n] + turn - phases[first], phases[first])
        });
        let Some((width, from)) = arcs.min_by(|a, b| a.0.total_cmp(&b.0)) else {
            continue;
        };
        let width = width.max(1e-6);
        let chance = choices + (k as f64).ln() + (k - 1) as f64 * width.ln();
        if width <= ARC && chance < best.0 {
            best = (chance, from, width);
        }
        // C(n, k − 1) = C(n, k) · k / (n − k + 1).
        choices += (k as f64 / (n - k + 1) as f64).ln();
    }
    best
}

/// A period by least squares through the ends that fit a first estimate.
fn refined(ends: &[f64], coarse: f64) -> f64 {
    let mut period = coarse;
    for _ in 0..3 {
        let (_, from, width) = score(ends, period);
        let phase = |end: f64| end / period - from;
        let fitting = ends.iter().copied().filter(|end| phase(*end).rem_euclid(1.0) <= width);
        let points: Vec<(f64, f64)> = fitting.map(|end| (phase(end).floor(), end)).collect();
        let n = points.len() as f64;
        let (mean_cycle, mean_end) = (
            points.iter().map(|(cycle, _)| cycle).sum::<f64>() / n,
            points.iter().map(|(_, end)| end).sum::<f64>() / n,
        );
        let both = points
            .iter()
            .map(|(cycle, end)| (cycle - mean_cycle) * (end - mean_end));
        let square = points.iter().map(|(cycle, _)| (cycle - mean_cycle).powi(2));
        let (both, square) = (both.sum::<f64>(), square.sum::<f64>());
        if square > 0.0 && both > 0.0 {
            period = both / square;
        }
    }
    period
}
