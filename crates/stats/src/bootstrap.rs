//! Confidence intervals over repeated runs: the percentile bootstrap (Efron 1979), with a seed.
//!
//! With few runs the interval is narrower than its level claims. For the mean the factor is about
//! √((n − 1)/n) · z/t (Hesterberg 2015), which is 0.63 for 95 % of five runs. It never extends
//! beyond the observed values.

use crate::percentile::rank;
use netburn_units::{Probability, RandomStream, Seed};

/// Interval of a statistic.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Interval {
    /// Lower end.
    pub low: f64,
    /// Upper end.
    pub high: f64,
}

/// Interval that contains the middle share `level` of `statistic` over `draws` resamples of
/// `values`, one value per run. [`mean`] and [`median`] are such statistics. `statistic` receives
/// each resample in the order of drawing and may reorder it.
///
/// The random stream is the seed's `bootstrap`: one seed yields one interval on every platform.
/// Returns `None` with fewer than two values, without draws, or if a value is not finite.
#[must_use]
pub fn interval(
    values: &[f64],
    statistic: impl Fn(&mut [f64]) -> f64,
    level: Probability,
    draws: u32,
    seed: Seed,
) -> Option<Interval> {
    if values.len() < 2 || draws == 0 || values.iter().any(|value| !value.is_finite()) {
        return None;
    }
    let mut stream = seed.stream("bootstrap", 0);
    let mut resample = vec![0.0; values.len()];
    let mut drawn: Vec<f64> = (0..draws)
        .map(|_| {
            draw(values, &mut resample, &mut stream);
            statistic(&mut resample)
        })
        .collect();
    middle(&mut drawn, level)
}

/// Arithmetic mean; 0 for an empty slice.
#[must_use]
pub fn mean(values: &[f64]) -> f64 {
    if values.is_empty() {
        return 0.0;
    }
    // Relative to the first value, so that equal values yield exactly that value.
    let first = values[0];
    first + values.iter().map(|value| value - first).sum::<f64>() / values.len() as f64
}

/// Median: the middle value, or the mean of the two middle values; 0 for an empty slice. Reorders
/// the values.
#[must_use]
pub fn median(values: &mut [f64]) -> f64 {
    if values.is_empty() {
        return 0.0;
    }
    let even = values.len().is_multiple_of(2);
    let half = values.len() / 2;
    let (below, upper, _) = values.select_nth_unstable_by(half, f64::total_cmp);
    let upper = *upper;
    if !even {
        return upper;
    }
    let lower = below.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    f64::midpoint(lower, upper)
}

/// Interval of the middle share `level` of the drawn statistics.
fn middle(drawn: &mut [f64], level: Probability) -> Option<Interval> {
    drawn.sort_unstable_by(f64::total_cmp);
    let below = (Probability::ONE.as_ppb() - level.as_ppb()) / 2;
    let place = rank(Probability::from_ppb(below)?, drawn.len() as u64) as usize;
    Some(Interval {
        low: drawn[place - 1],
        high: drawn[drawn.len() - place],
    })
}

fn draw(values: &[f64], resample: &mut [f64], stream: &mut RandomStream) {
    for place in resample {
        *place = values[stream.below(values.len() as u64) as usize];
    }
}
