//! Confidence interval of the median of a few values, from their ranks. It is exact for every
//! continuous distribution (Hollander, Wolfe and Chicken, *Nonparametric Statistical Methods*, 2013,
//! section 3.6).

/// Confidence interval of a median.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct MedianInterval {
    /// Lower end: one of the values.
    pub low: f64,
    /// Upper end: one of the values.
    pub high: f64,
    /// Confidence level, 0.95 or more.
    pub level: f64,
}

/// Minimum number of values. Of five, the least and the greatest enclose the median with a
/// probability of 0.9375.
pub const MIN_VALUES: usize = 6;

/// Number of values up to which the binomial distribution is computed. Beyond it, the normal
/// approximation is used.
const EXACT: usize = 1000;

/// Maximum probability that the median is outside.
const OUTSIDE: f64 = 0.05;

/// The narrowest interval between the c-th least and the c-th greatest value that contains the median
/// with a probability of 0.95 or more. Values may be infinite. Returns `None` with fewer than
/// [`MIN_VALUES`] values, or if one is NaN.
#[must_use]
pub fn median_interval(values: &[f64]) -> Option<MedianInterval> {
    let count = values.len();
    if count < MIN_VALUES || values.iter().any(|value| value.is_nan()) {
        return None;
    }
    let mut sorted = values.to_vec();
    sorted.sort_unstable_by(f64::total_cmp);
    let (place, level) = if count <= EXACT {
        exact(count)
    } else {
        approximate(count)
    };
    Some(MedianInterval {
        low: sorted[place - 1],
        high: sorted[count - place],
        level,
    })
}

/// The greatest place c for which c − 1 or fewer of `count` values are below the median with a
/// probability of at most half of [`OUTSIDE`], and the level.
fn exact(count: usize) -> (usize, f64) {
    // Probability that `below` values are below the median: binomial with probability ½.
    let mut probability = (0..count).fold(1.0, |power, _| power / 2.0);
    let (mut place, mut outside) = (0, 0.0);
    for below in 0..count / 2 {
        let with = outside + 2.0 * probability;
        if with > OUTSIDE {
            break;
        }
        (place, outside) = (below + 1, with);
        probability *= (count - below) as f64 / (below + 1) as f64;
    }
    (place, 1.0 - outside)
}

fn approximate(count: usize) -> (usize, f64) {
    // The 0.975 quantile of the normal distribution.
    let distance = 1.959_963_984_540_054 * libm::sqrt(count as f64) / 2.0;
    ((count as f64 / 2.0 - distance) as usize, 1.0 - OUTSIDE)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Places of published tables of the sign test (two-sided, 0.05), and their levels: 1 − 2 Σ C(n, k) / 2ⁿ for k < c.
    #[test]
    fn the_places_are_those_of_the_sign_test() {
        for (count, place, level) in [
            (6, 1, 1.0 - 2.0 / 64.0),
            (8, 1, 1.0 - 2.0 / 256.0),
            (9, 2, 1.0 - 2.0 * 10.0 / 512.0),
            (10, 2, 1.0 - 2.0 * 11.0 / 1024.0),
            (12, 3, 1.0 - 2.0 * (1.0 + 12.0 + 66.0) / 4096.0),
            (
                20,
                6,
                1.0 - 2.0 * (1.0 + 20.0 + 190.0 + 1140.0 + 4845.0 + 15504.0) / 1_048_576.0,
            ),
        ] {
            let (found, reached) = exact(count);
            assert_eq!(found, place, "{count}");
            assert!((reached - level).abs() < 1e-12, "{count}: {reached}");
        }
        // Both methods differ by at most one place.
        assert!(exact(EXACT).0.abs_diff(approximate(EXACT).0) <= 1);
    }
}
