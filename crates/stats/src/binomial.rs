//! Tail of the binomial distribution, exact.

/// Probability that at least `from` of `count` independent trials succeed, each with `probability`.
/// It is the sum of C(n, k) pᵏ (1 − p)ⁿ⁻ᵏ for k from `from` to `count`.
///
/// A success rate below `probability` is excluded with confidence 1 − α if the result is at most α
/// (Clopper and Pearson, *The use of confidence or fiducial limits*, 1934).
///
/// `probability` is from 0 to 1. The error is below 10⁻⁹ for up to 10⁶ trials. The time is proportional to the
/// number of terms that matter, which is about the square root of `count`.
#[must_use]
pub fn at_least(from: u64, count: u64, probability: f64) -> f64 {
    if from == 0 || probability >= 1.0 {
        return if from <= count { 1.0 } else { 0.0 };
    }
    if from > count || probability <= 0.0 {
        return 0.0;
    }
    let mean = count as f64 * probability;
    if (from as f64) <= mean {
        // On this side of the mean the terms of the other tail decrease, so that the sum can end early.
        return 1.0 - at_least(count - from + 1, count, 1.0 - probability);
    }
    let odds = probability / (1.0 - probability);
    let (n, k) = (count as f64, from as f64);
    let choices = libm::lgamma(n + 1.0) - libm::lgamma(k + 1.0) - libm::lgamma(n - k + 1.0);
    let mut term = libm::exp(choices + k * libm::log(probability) + (n - k) * libm::log1p(-probability));
    let mut sum = 0.0;
    for successes in from..=count {
        sum += term;
        if term <= sum * 1e-15 {
            break;
        }
        term *= (count - successes) as f64 / (successes + 1) as f64 * odds;
    }
    sum
}

#[cfg(test)]
mod tests {
    use super::*;

    /// By hand: 0.95⁵⁹ is 0.0485, and 0.95⁵⁸ is 0.0510. Of two coins at least one is heads with 3/4. At most 16 of 20 with 0.95 each
    /// are at least 4 misses with 0.05 each: 0.0159 in tables of the cumulative binomial distribution; 17 of 20: 0.0755.
    #[test]
    fn tails_are_those_of_tables() {
        for (from, count, probability, expected, within) in [
            (59, 59, 0.95, 0.048_495, 1e-6),
            (58, 58, 0.95, 0.051_047, 1e-6),
            (1, 2, 0.5, 0.75, 1e-12),
            (0, 5, 0.2, 1.0, 0.0),
            (6, 5, 0.2, 0.0, 0.0),
            (4, 20, 0.05, 0.0159, 5e-5),
            (3, 20, 0.05, 0.0755, 5e-5),
            (99, 100, 0.95, 0.0371, 5e-5),
            (1, 3, 0.0, 0.0, 0.0),
            (3, 3, 1.0, 1.0, 0.0),
        ] {
            let found = at_least(from, count, probability);
            assert!((found - expected).abs() <= within, "{found} is not {expected}");
        }
    }

    /// Half of the sum of a symmetric distribution with an odd number of trials, and both tails together.
    #[test]
    fn many_trials_have_a_tail_as_well() {
        let half = at_least(500_001, 1_000_001, 0.5);
        assert!((half - 0.5).abs() < 1e-9, "{half}");
        for from in [1, 40_000, 50_000, 50_218, 51_000, 900_000] {
            let both = at_least(from, 1_000_000, 0.05) + at_least(1_000_001 - from, 1_000_000, 0.95);
            assert!((both - 1.0).abs() < 1e-9, "{both} from {from} on");
        }
    }
}
