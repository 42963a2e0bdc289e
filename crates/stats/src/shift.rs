//! Shift between two sets of runs (Hodges and Lehmann 1963), without an assumption about their
//! distribution.
//!
//! Each interval is an inverted rank test (Lehmann 1963; Tukey 1949; Hollander, Wolfe and Chicken,
//! *Nonparametric Statistical Methods*, sections 4.3 and 3.3). It contains every shift that
//! [`mann_whitney`](crate::mann_whitney) or [`signed_rank`](crate::signed_rank()) would not reject.
//! Its level is exact without equal values. Few runs limit the level: three runs against three
//! reach at most 90 %, three pairs 75 %.

use crate::Interval;
use crate::pairs::subset_sums;
use netburn_units::Probability;

/// Estimated difference between two sets.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Shift {
    /// Median of all differences between a value of the second set and one of the first; for pairs,
    /// of the means of any two differences.
    pub estimate: f64,
    /// Confidence interval of the shift.
    pub interval: Interval,
    /// Confidence level of the interval, 0 to 1: at least the requested level, or the maximum that
    /// so few values permit.
    pub level: f64,
}

/// Maximum number of values of a set, or of pairs, that are evaluated individually; larger sets are
/// thinned evenly.
const MAX_VALUES: usize = 500;

/// Maximum number of values in both sets together for which the level is exact; above, it is that
/// of the normal approximation.
const EXACT: usize = 40;

/// Maximum number of pairs for which the level is exact; above, it is that of the normal
/// approximation.
const EXACT_PAIRS: usize = 100;

/// Shift of `second` relative to `first`, for independent runs. A value may be infinite; two equal
/// infinities have the difference 0. Returns `None` if a set is empty or a value is NaN.
#[must_use]
pub fn shift(first: &[f64], second: &[f64], level: Probability) -> Option<Shift> {
    let unknown = first.iter().chain(second).any(|value| value.is_nan());
    if first.is_empty() || second.is_empty() || unknown {
        return None;
    }
    let (first, second) = (thinned(first), thinned(second));
    let differences = first
        .iter()
        .flat_map(|one| second.iter().map(move |other| apart(*one, *other)));
    let (n, m) = (first.len(), second.len());
    let beyond = beyond(level);
    let left_out = if n + m <= EXACT {
        exact(&ways(n, m), beyond)
    } else {
        let (n, m) = (n as f64, m as f64);
        approximate(n * m / 2.0, n * m * (n + m + 1.0) / 12.0, beyond)
    };
    Some(between(differences.collect(), left_out))
}

/// Shift of the second values of pairs relative to the first, from the differences of all pairs. A
/// difference may be infinite. Returns `None` if there are none or one is NaN.
#[must_use]
pub fn paired_shift(differences: &[f64], level: Probability) -> Option<Shift> {
    if differences.is_empty() || differences.iter().any(|difference| difference.is_nan()) {
        return None;
    }
    let differences = thinned(differences);
    let means = differences
        .iter()
        .enumerate()
        .flat_map(|(place, one)| differences[place..].iter().map(move |other| middle(*one, *other)));
    let count = differences.len();
    let beyond = beyond(level);
    let left_out = if count <= EXACT_PAIRS {
        exact(&subset_sums(&(1..=count).collect::<Vec<_>>()), beyond)
    } else {
        let n = count as f64;
        approximate(n * (n + 1.0) / 4.0, n * (n + 1.0) * (2.0 * n + 1.0) / 24.0, beyond)
    };
    Some(between(means.collect(), left_out))
}

/// Difference `second` − `first`; 0 if both are the same infinity.
pub(crate) fn apart(first: f64, second: f64) -> f64 {
    if first == second { 0.0 } else { second - first }
}

/// Mean of two values; 0 for two opposite infinities.
fn middle(one: f64, other: f64) -> f64 {
    let middle = f64::midpoint(one, other);
    if middle.is_nan() { 0.0 } else { middle }
}

/// Probability with which an interval of this level may miss the true value at either end.
fn beyond(level: Probability) -> f64 {
    (1.0 - level.as_f64()) / 2.0
}

/// Number of values left out at either end, and the probability that the true value is beyond the
/// remaining ones.
struct LeftOut {
    count: usize,
    beyond: f64,
}

/// Median of `values` and the interval between the values left out.
fn between(mut values: Vec<f64>, left_out: LeftOut) -> Shift {
    values.sort_unstable_by(f64::total_cmp);
    let last = values.len() - 1;
    Shift {
        estimate: middle(values[last / 2], values[values.len() / 2]),
        interval: Interval {
            low: values[left_out.count],
            high: values[last - left_out.count],
        },
        level: 1.0 - 2.0 * left_out.beyond,
    }
}

/// At most [`MAX_VALUES`] values of a set, picked evenly by rank.
fn thinned(values: &[f64]) -> Vec<f64> {
    let mut sorted = values.to_vec();
    sorted.sort_unstable_by(f64::total_cmp);
    match sorted.len() {
        count if count > MAX_VALUES => (0..MAX_VALUES)
            .map(|place| sorted[(2 * place + 1) * count / (2 * MAX_VALUES)])
            .collect(),
        _ => sorted,
    }
}

/// Computes it from the weights of the test's statistic, which start at 0. The true value is below
/// the value that follows `count` others if at most `count` of all lie below it. Then the statistic
/// is at most `count`.
fn exact(weights: &[f64], beyond: f64) -> LeftOut {
    let all: f64 = weights.iter().sum();
    let mut left_out = LeftOut {
        count: 0,
        // Not even the last value may be left out: this is the maximum level.
        beyond: weights[0] / all,
    };
    let mut below = 0.0;
    for (statistic, weight) in weights.iter().take(weights.len() / 2).enumerate() {
        below += weight / all;
        if below > beyond {
            break;
        }
        left_out = LeftOut {
            count: statistic,
            beyond: below,
        };
    }
    left_out
}

/// Number of ways to rank two sets for each U, from 0 to n·m.
fn ways(n: usize, m: usize) -> Vec<f64> {
    // The number of ways with sum u is the coefficient of q^u in the Gaussian binomial: Π (1 −
    // q^(m+i)) / (1 − q^i), i = 1..n.
    let most = n * m;
    let mut ways = vec![0.0; most + 1];
    ways[0] = 1.0;
    for i in 1..=n {
        for u in (m + i..=most).rev() {
            ways[u] -= ways[u - m - i];
        }
        for u in i..=most {
            ways[u] += ways[u - i];
        }
    }
    ways
}

/// From the normal approximation of the statistic, with the correction for continuity.
fn approximate(mean: f64, variance: f64, beyond: f64) -> LeftOut {
    let deviation = libm::sqrt(variance);
    // P(statistic ≤ count).
    let below = |count: usize| 0.5 * libm::erfc((mean - count as f64 - 0.5) / (deviation * std::f64::consts::SQRT_2));
    let (mut least, mut most) = (0_usize, mean as usize);
    // The largest count with a small enough probability.
    while least < most {
        let middle = least.midpoint(most) + (most - least) % 2;
        if below(middle) <= beyond {
            least = middle;
        } else {
            most = middle - 1;
        }
    }
    LeftOut {
        count: least,
        beyond: below(least),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// All ways to rank 3 and 2: 10, of which U is 0 to 6 in 1, 1, 2, 2, 2, 1, 1.
    #[test]
    fn ways_by_hand() {
        assert_eq!(ways(3, 2), [1.0, 1.0, 2.0, 2.0, 2.0, 1.0, 1.0]);
        assert_eq!(ways(1, 3), [1.0; 4]);
        // 40 over 20, all of them.
        assert_eq!(ways(20, 20).iter().sum::<f64>(), 137_846_528_820.0);
    }

    #[test]
    fn the_approximation_is_close_to_the_exact_count() {
        let near = |exact: LeftOut, about: LeftOut| {
            assert!(
                exact.count.abs_diff(about.count) <= 1,
                "{} {}",
                exact.count,
                about.count
            );
            assert!((exact.beyond - about.beyond).abs() < 4e-3);
        };
        for (n, m) in [(10_usize, 10_usize), (20, 20), (8, 25)] {
            let (x, y) = (n as f64, m as f64);
            near(
                exact(&ways(n, m), 0.025),
                approximate(x * y / 2.0, x * y * (x + y + 1.0) / 12.0, 0.025),
            );
        }
        for pairs in [20_usize, 60, 100] {
            let n = pairs as f64;
            near(
                exact(&subset_sums(&(1..=pairs).collect::<Vec<_>>()), 0.025),
                approximate(n * (n + 1.0) / 4.0, n * (n + 1.0) * (2.0 * n + 1.0) / 24.0, 0.025),
            );
        }
    }
}
