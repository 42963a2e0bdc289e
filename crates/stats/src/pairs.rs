//! Whether a change moved a value, from pairs of runs that have all else in common.

/// What the signed-rank test came to.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SignedRank {
    /// Wilcoxon's W⁺: the sum of the ranks of the positive differences, ranked by size. Ties share the mean of their ranks.
    pub w: f64,
    /// The number of differences other than 0: the others have no sign and are left out.
    pub count: usize,
    /// The two-sided probability of a W⁺ at least as far from its mean, if each difference were as likely to have the other sign.
    pub p: f64,
    /// Whether `p` counts all ways to give the differences signs (up to [`EXACT`] of them). Otherwise it is the normal
    /// approximation, corrected for ties and for continuity.
    pub exact: bool,
}

/// Up to so many differences other than 0, `p` is exact.
pub const EXACT: usize = 100;

/// The signed-rank test (Wilcoxon 1945; Hollander, Wolfe and Chicken, *Nonparametric Statistical Methods*, section 3.1) of the
/// differences within pairs. A difference may be infinite. `None` when there are none or one is no number.
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
    let p = match exact {
        true => exact_p(&doubled, observed),
        false => normal_p(count as f64, observed as f64 / 2.0, ties),
    };
    let w = observed as f64 / 2.0;
    Some(SignedRank { w, count, p, exact })
}

/// The least `p` that the test can give of so many pairs: all differences have one sign.
#[must_use]
pub fn least_p(pairs: usize) -> f64 {
    // Halving is exact, and nothing is left after some 1,100 times.
    (1..pairs.min(1_100)).fold(1.0, |p, _| p / 2.0)
}

/// The probability of each sum of a random subset of `ranks`, from 0 on: each rank is in it with probability ½.
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

/// The share of all ways to sign `doubled` ranks whose positive sum is at least as far from its mean as `observed`.
fn exact_p(doubled: &[usize], observed: usize) -> f64 {
    let total: usize = doubled.iter().sum();
    // The mean is half of all: compared as 2·sum with total, in integers.
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
    fn the_approximation_comes_near_the_exact_value() {
        // 60 differences of which every third is negative.
        let differences: Vec<f64> = (1..=60)
            .map(|i| if i % 3 == 0 { -f64::from(i) } else { f64::from(i) })
            .collect();
        let test = signed_rank(&differences).unwrap();
        assert!(
            test.exact && (normal_p(60.0, test.w, 0.0) - test.p).abs() < 2e-3,
            "{test:?}"
        );
        // Doubled, so that each size is there twice.
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
