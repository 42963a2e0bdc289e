//! Trend of the delay: the slope of a line through the delays of the last groups. libwebrtc has this estimator instead of
//! the Kalman filter of section 5.3. Constants of `TrendlineEstimator` in libwebrtc.

use super::groups::Variation;
use std::collections::VecDeque;

/// Number of groups of the line.
const WINDOW: usize = 20;
/// Weight of the previous value in the smoothed delay.
const SMOOTHING: f64 = 0.9;

/// Trend of the delay.
#[derive(Debug, Clone, Default)]
pub(super) struct Trend {
    /// Delay in ms, relative to that of the first group.
    delay_ms: f64,
    smoothed_ms: f64,
    /// Arrival and smoothed delay of the last groups, in ms.
    points: VecDeque<(f64, f64)>,
    slope: f64,
}

impl Trend {
    /// Returns the growth of the delay in ms per ms: the part of the rate beyond the capacity, relative to the capacity.
    /// It is 0 before there are enough groups.
    pub(super) fn update(&mut self, variation: &Variation) -> f64 {
        self.delay_ms += variation.delay_ms;
        self.smoothed_ms = SMOOTHING * self.smoothed_ms + (1.0 - SMOOTHING) * self.delay_ms;
        self.points.push_back((variation.at_ms, self.smoothed_ms));
        if self.points.len() > WINDOW {
            self.points.pop_front();
        }
        if self.points.len() == WINDOW
            && let Some(slope) = slope(&self.points)
        {
            self.slope = slope;
        }
        self.slope
    }
}

/// Slope of the regression line; `None` if all groups arrived at the same time.
fn slope(points: &VecDeque<(f64, f64)>) -> Option<f64> {
    let count = points.len() as f64;
    let mean_at = points.iter().map(|(at, _)| at).sum::<f64>() / count;
    let mean_delay = points.iter().map(|(_, delay)| delay).sum::<f64>() / count;
    let (mut covariance, mut variance) = (0.0, 0.0);
    for (at, delay) in points {
        covariance += (at - mean_at) * (delay - mean_delay);
        variance += (at - mean_at) * (at - mean_at);
    }
    (variance > 0.0).then(|| covariance / variance)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn variation(delay_ms: f64, at_ms: f64) -> Variation {
        Variation {
            delay_ms,
            sent_ms: 20.0,
            at_ms,
        }
    }

    /// A sender at 105 % of the capacity: 20 ms of sending need 21 ms, so the delay grows by 1 ms in 21 ms. The smoothed
    /// delay of group n is n − 9 · (1 − 0.9ⁿ), so it grows as fast after some groups: the slope is 1 / 21.
    #[test]
    fn a_constant_growth_is_the_slope() {
        let mut trend = Trend::default();
        let slopes: Vec<f64> = (1..=120)
            .map(|group| trend.update(&variation(1.0, f64::from(group) * 21.0)))
            .collect();
        assert!(slopes[..19].iter().all(|slope| *slope == 0.0));
        // It begins below, because of the smoothing.
        assert!(slopes[19] > 0.4 / 21.0 && slopes[19] < 1.0 / 21.0, "{}", slopes[19]);
        assert!((slopes[119] - 1.0 / 21.0).abs() < 1e-4, "{}", slopes[119]);
    }

    /// A step of the delay is no lasting trend: 19 groups after the smoothed delay has settled, the slope is 0 again.
    #[test]
    fn a_step_passes() {
        let mut trend = Trend::default();
        for group in 0..200 {
            let delay = if group == 20 { 10.0 } else { 0.0 };
            trend.update(&variation(delay, f64::from(group) * 20.0));
        }
        assert!(trend.slope.abs() < 1e-6, "{}", trend.slope);
    }

    #[test]
    fn groups_of_the_same_arrival_do_not_change_the_slope() {
        let mut trend = Trend::default();
        assert!((0..60).all(|_| trend.update(&variation(1.0, 5.0)) == 0.0));
    }
}
