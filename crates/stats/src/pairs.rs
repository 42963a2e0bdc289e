//! Signed-rank test for pairs of runs that differ in one setting only.

/// Result of the signed-rank test.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SignedRank {
    /// Wilcoxon's W⁺: the sum of the ranks of the positive differences, ranked by size. Ties share the mean of their ranks.
    pub w: f64,
    /// Number of non-zero differences; zeros have no sign and are left out.
    pub count: usize,
    /// Two-sided probability of a W⁺ at least as far from its mean if both signs of each difference
    /// are equally likely.
    pub p: f64,
    /// True if `p` enumerates all sign patterns (up to [`EXACT`] differences). Otherwise `p` is the
    /// normal approximation, corrected for ties and for continuity.
    pub exact: bool,
}

/// Maximum number of non-zero differences for which `p` is exact.
pub const EXACT: usize = 100;

/// Signed-rank test (Wilcoxon 1945; Hollander, Wolfe and Chicken, *Nonparametric Statistical
/// Methods*, section 3.1) of the differences within pairs. A difference may be infinite. Returns
/// `None` if there are no differences or one is NaN.
#[must_use]
pub fn signed_rank(differences: &[f64]) -> Option<SignedRank> {
    if differences.is_empty() || differences.iter().any(|difference| difference.is_nan()) {
        return None;
    }
    let mut signed: Vec<f64> = differences
        .iter()
        .copied()
        .filter(|difference| *difference != 0.0)
        .collect();
    signed.sort_unstable_by(|a, b| a.abs().total_cmp(&b.abs()));
    let count = signed.len();
    let (mut doubled, mut ties) = (Vec::with_capacity(count), 0.0);
    for group in signed.chunk_by(|a, b| a.abs() == b.abs()) {
        let before = doubled.len();
        // Twice the mean of the ranks before + 1 to before + length.
        doubled.resize(before + group.len(), 2 * before + group.len() + 1);
        let size = group.len() as f64;
        ties += size * size * size - size;
    }
    let positive = signed.iter().zip(&doubled).filter(|(difference, _)| **difference > 0.0);
    let observed: usize = positive.map(|(_, rank)| *rank).sum();
    let exact = count <= EXACT;
    let p = if exact {
        exact_p(&doubled, observed)
    } else {
        normal_p(count as f64, observed as f64 / 2.0, ties)
    };
    let w = observed as f64 / 2.0;
    Some(SignedRank { w, count, p, exact })
}

/// Minimum `p` of the test for this number of pairs: all differences have one sign.
#[must_use]
pub fn min_p(pairs: usize) -> f64 {
    // Halving is exact, and the result is zero after about 1,100 times.
    (1..pairs.min(1_100)).fold(1.0, |p, _| p / 2.0)
}

/// Probability of each sum of a random subset of `ranks`, from 0 up: each rank is in the subset
/// with probability ½.
pub(crate) fn subset_sums(ranks: &[usize]) -> Vec<f64> {
    let total: usize = ranks.iter().sum();
    let mut probabilities = vec![0.0; total + 1];
    probabilities[0] = 1.0;
    let mut most = 0;
    for rank in ranks {
        most += rank;
        for sum in (0..=most).rev() {
            let with = sum.checked_sub(*rank).map_or(0.0, |without| probabilities[without]);
            probabilities[sum] = f64::midpoint(probabilities[sum], with);
        }
    }
    probabilities
}

/// Share of all sign patterns of `doubled` ranks whose positive sum is at least as far from its
/// mean as `observed`.
fn exact_p(doubled: &[usize], observed: usize) -> f64 {
    let total: usize = doubled.iter().sum();
    // The mean is half of the total: compared as 2·sum with total, in integers.
    let far = |sum: usize| (2 * sum).abs_diff(total);
    let probabilities = subset_sums(doubled);
    let beyond = probabilities
        .iter()
        .enumerate()
        .filter(|(sum, _)| far(*sum) >= far(observed));
    beyond.map(|(_, probability)| probability).sum::<f64>().min(1.0)
}

fn normal_p(count: f64, w: f64, ties: f64) -> f64 {
    let mean = count * (count + 1.0) / 4.0;
    let variance = count * (count + 1.0) * (2.0 * count + 1.0) / 24.0 - ties / 48.0;
    let distance = ((w - mean).abs() - 0.5).max(0.0);
    libm::erfc(distance / libm::sqrt(2.0 * variance)).min(1.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_approximation_is_close_to_the_exact_value() {
        // 60 differences, every third negative.
        let differences: Vec<f64> = (1..=60)
            .map(|i| if i % 3 == 0 { -f64::from(i) } else { f64::from(i) })
            .collect();
        let test = signed_rank(&differences).unwrap();
        assert!(
            test.exact && (normal_p(60.0, test.w, 0.0) - test.p).abs() < 2e-3,
            "{test:?}"
        );
        // Doubled, so that each size occurs twice.
        let twice = [&differences[..40], &differences[..40]].concat();
        let test = signed_rank(&twice).unwrap();
        assert!((normal_p(80.0, test.w, 40.0 * 6.0) - test.p).abs() < 2e-3, "{test:?}");
    }

    /// All subsets of {1, 2, 3}: sums 0, 1, 2, 3, 3, 4, 5, 6.
    #[test]
    fn subset_sums_by_hand() {
        assert_eq!(
            subset_sums(&[1, 2, 3]),
            [1.0, 1.0, 1.0, 2.0, 1.0, 1.0, 1.0].map(|ways| ways / 8.0)
        );
        assert_eq!(subset_sums(&[]), [1.0]);
    }
}
