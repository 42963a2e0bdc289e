//! Estimate of the delay gradient: a Kalman filter with one state (section 5.3).

use super::groups::Variation;
use std::collections::VecDeque;

/// Noise of the state, q.
const STATE_NOISE: f64 = 1e-3;
/// Initial variance of the estimate, e(0).
const INITIAL_ERROR: f64 = 0.1;
/// Coefficient χ of the measured noise; the draft recommends 0.1 to 0.001.
const CHI: f64 = 0.01;
/// Minimum of the measured noise, in ms².
const MIN_NOISE: f64 = 1.0;
/// A larger residual, in standard deviations of the noise, counts as this one.
const OUTLIER: f64 = 3.0;
/// Number of groups whose maximum rate scales the noise filter, K.
const GROUPS: usize = 60;

/// Estimate of the variation of the queueing delay from one group to the next, in ms.
#[derive(Debug, Clone)]
pub(super) struct Filter {
    estimate: f64,
    error: f64,
    noise: f64,
    /// Times between the departures of the last groups, in ms.
    spacings: VecDeque<f64>,
}

impl Default for Filter {
    fn default() -> Self {
        Filter {
            estimate: 0.0,
            error: INITIAL_ERROR,
            noise: MIN_NOISE,
            spacings: VecDeque::new(),
        }
    }
}

impl Filter {
    /// Returns the new estimate.
    pub(super) fn update(&mut self, variation: &Variation) -> f64 {
        self.spacings.push_back(variation.sent_ms.max(1.0));
        if self.spacings.len() > GROUPS {
            self.spacings.pop_front();
        }
        // 1 / f_max.
        let shortest = self.spacings.iter().copied().fold(f64::INFINITY, f64::min);
        let alpha = libm::pow(1.0 - CHI, 30.0 / 1000.0 * shortest);
        let residual = variation.delay_ms - self.estimate;
        let limit = OUTLIER * libm::sqrt(self.noise);
        let bounded = residual.clamp(-limit, limit);
        self.noise = (alpha * self.noise + (1.0 - alpha) * bounded * bounded).max(MIN_NOISE);
        let predicted = self.error + STATE_NOISE;
        let gain = predicted / (self.noise + predicted);
        self.estimate += residual * gain;
        self.error = (1.0 - gain) * predicted;
        self.estimate
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn variation(delay_ms: f64) -> Variation {
        Variation {
            delay_ms,
            sent_ms: 33.0,
            at_ms: 0.0,
        }
    }

    /// In the steady state the predicted error p satisfies p = p − p² / (1 + p) + q, so p² = q · (1 + p): p = 0.0321 for
    /// q = 10⁻³, and the gain is p / (1 + p) = 0.0311. After n updates the estimate of a constant 1 ms is 1 − (1 − gain)ⁿ
    /// or more, because the first gains are larger.
    #[test]
    fn a_constant_gradient_is_estimated() {
        let mut filter = Filter::default();
        let estimates: Vec<f64> = (0..200).map(|_| filter.update(&variation(1.0))).collect();
        assert!(estimates.windows(2).all(|pair| pair[0] <= pair[1]));
        assert!(
            estimates[99] >= 1.0 - libm::pow(1.0 - 0.0311, 100.0),
            "{}",
            estimates[99]
        );
        assert!(estimates[199] <= 1.0);
        // The first gain is 0.101 / (1 + 0.101).
        assert!((estimates[0] - 0.101 / 1.101).abs() < 1e-12);
    }

    #[test]
    fn without_variation_the_estimate_is_zero() {
        let mut filter = Filter::default();
        assert!((0..100).all(|_| filter.update(&variation(0.0)) == 0.0));
    }
}
