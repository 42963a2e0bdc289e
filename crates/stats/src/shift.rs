//! By how much one set of runs lies higher than another (Hodges and Lehmann 1963), without assuming how the values are spread.
//!
//! The interval is the rank test turned round (Lehmann 1963; Hollander and Wolfe, *Nonparametric Statistical Methods*, section 4.3): it
//! holds every shift that [`mann_whitney`](crate::mann_whitney) would not reject. Its level is exact where no values are equal, and it is
//! no narrower than a handful of runs warrants: of three runs against three it can't be more than 90 % sure.

use crate::Interval;
use netburn_units::Probability;

/// A difference between two sets.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Shift {
    /// The median of all differences between a value of the second set and one of the first.
    pub estimate: f64,
    /// Where the shift lies.
    pub interval: Interval,
    /// How sure that is, 0 to 1: at least what was asked for, or as much as so few values can give.
    pub level: f64,
}

/// The most differences that are looked at one by one: beyond, the sets are thinned evenly.
const MOST: usize = 250_000;

/// Up to so many values in both sets together the level is exact; above, it is that of the normal approximation.
const EXACT: usize = 40;

/// By how much `second` lies above `first`. `None` when a set is empty or a value is not finite.
#[must_use]
pub fn shift(first: &[f64], second: &[f64], level: Probability) -> Option<Shift> {
    let finite = first.iter().chain(second).all(|value| value.is_finite());
    if first.is_empty() || second.is_empty() || !finite {
        return None;
    }
    let (first, second) = (thinned(first), thinned(second));
    let mut differences: Vec<f64> = first
        .iter()
        .flat_map(|one| second.iter().map(move |other| other - one))
        .collect();
    differences.sort_unstable_by(f64::total_cmp);
    let (n, m) = (first.len(), second.len());
    let beyond = (1.0 - level.as_f64()) / 2.0;
    let (left_out, below) = if n + m <= EXACT {
        exact(n, m, beyond)
    } else {
        approximate(n as f64, m as f64, beyond)
    };
    let last = differences.len() - 1;
    Some(Shift {
        estimate: crate::bootstrap::median(&mut differences.clone()),
        interval: Interval {
            low: differences[left_out],
            high: differences[last - left_out],
        },
        level: 1.0 - 2.0 * below,
    })
}

/// So many values of a set that both together make no more than [`MOST`] differences, evenly picked by rank.
fn thinned(values: &[f64]) -> Vec<f64> {
    const EACH: usize = 500;
    const _: () = assert!(EACH * EACH == MOST);
    let mut sorted = values.to_vec();
    sorted.sort_unstable_by(f64::total_cmp);
    match sorted.len() {
        count if count > EACH => (0..EACH)
            .map(|place| sorted[(2 * place + 1) * count / (2 * EACH)])
            .collect(),
        _ => sorted,
    }
}

/// How many of the differences may be left out at either end so that the true shift is among those left out there with at most the
/// probability `beyond`, and that probability. It is what U of the rank test is at most that number less one has.
fn exact(n: usize, m: usize, beyond: f64) -> (usize, f64) {
    let ways = ways(n, m);
    let all: f64 = ways.iter().sum();
    let mut below = 0.0;
    for (u, count) in ways.iter().enumerate() {
        let more = below + count / all;
        // Those left out are 0 to u: one more than u.
        if more > beyond || 2 * (u + 1) >= n * m {
            return match u {
                // Not even the last one may be left out: this is as sure as it gets.
                0 => (0, count / all),
                _ => (u, below),
            };
        }
        below = more;
    }
    (0, 0.0)
}

/// How many ways to rank two sets give each U, from 0 to n·m.
fn ways(n: usize, m: usize) -> Vec<f64> {
    // The number with sum u is the coefficient of q^u in the Gaussian binomial: Π (1 − q^(m+i)) / (1 − q^i), i = 1..n.
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

fn approximate(n: f64, m: f64, beyond: f64) -> (usize, f64) {
    let deviation = libm::sqrt(n * m * (n + m + 1.0) / 12.0);
    // P(U ≤ u) with the correction for continuity.
    let below = |u: f64| 0.5 * libm::erfc((n * m / 2.0 - u - 0.5) / (deviation * std::f64::consts::SQRT_2));
    let (mut least, mut most) = (0_usize, (n * m / 2.0) as usize);
    // The largest count whose probability is still small enough.
    while least < most {
        let middle = least.midpoint(most) + (most - least) % 2;
        if below(middle as f64 - 1.0) <= beyond {
            least = middle;
        } else {
            most = middle - 1;
        }
    }
    (least, below(least as f64 - 1.0))
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
    fn the_approximation_comes_near_the_exact_count() {
        for (n, m) in [(10, 10), (20, 20), (8, 25)] {
            let ((left, below), (near, about)) = (exact(n, m, 0.025), approximate(n as f64, m as f64, 0.025));
            assert!(left.abs_diff(near) <= 1, "{n} {m}: {left} {near}");
            assert!((below - about).abs() < 4e-3, "{n} {m}: {below} {about}");
        }
    }
}
