//! Over-use detector with an adaptive threshold (section 5.4).

/// State of the bottleneck.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Signal {
    /// The queue grows.
    OverUse,
    /// The queue shrinks.
    UnderUse,
    /// The queue has a constant length.
    Normal,
}

/// Initial threshold in ms, del_var_th(0).
const INITIAL: f64 = 12.5;
/// Range of the threshold in ms.
const RANGE: (f64, f64) = (6.0, 600.0);
/// Gain of an increase of the threshold, per ms.
const UP: f64 = 0.01;
/// Gain of a decrease of the threshold, per ms.
const DOWN: f64 = 0.00018;
/// The threshold is unchanged if the gradient is further beyond it than this, in ms.
const MAX_BEYOND: f64 = 15.0;
/// Longest time that changes the threshold at once, in ms.
const MAX_STEP: f64 = 100.0;
/// Time for which the gradient must exceed the threshold, in ms.
const OVER_USE_TIME: f64 = 10.0;
/// Number of groups after which a gradient has its full weight. The gradient of one group is small, so the detector
/// compares the sum over this number of groups, as libwebrtc does.
const FULL: f64 = 60.0;

/// Detector of over-use.
#[derive(Debug, Clone)]
pub(super) struct Detector {
    threshold: f64,
    groups: f64,
    before: f64,
    updated_ms: Option<f64>,
    /// Time for which the gradient has exceeded the threshold.
    over_ms: Option<f64>,
    signal: Signal,
}

impl Default for Detector {
    fn default() -> Self {
        Detector {
            threshold: INITIAL,
            groups: 0.0,
            before: 0.0,
            updated_ms: None,
            over_ms: None,
            signal: Signal::Normal,
        }
    }
}

impl Detector {
    /// Processes the gradient of a group that arrived at `at_ms`, `sent_ms` after the one before was sent.
    pub(super) fn update(&mut self, gradient: f64, at_ms: f64, sent_ms: f64) -> Signal {
        self.groups = (self.groups + 1.0).min(FULL);
        let sum = gradient * self.groups;
        if sum > self.threshold {
            let over = self.over_ms.map_or(sent_ms / 2.0, |over| over + sent_ms);
            self.over_ms = Some(over);
            if over > OVER_USE_TIME && gradient >= self.before {
                self.signal = Signal::OverUse;
            }
        } else {
            self.over_ms = None;
            self.signal = if sum < -self.threshold {
                Signal::UnderUse
            } else {
                Signal::Normal
            };
        }
        self.before = gradient;
        self.adapt(sum.abs(), at_ms);
        self.signal
    }

    fn adapt(&mut self, size: f64, at_ms: f64) {
        let step = self
            .updated_ms
            .map_or(0.0, |updated| at_ms - updated)
            .clamp(0.0, MAX_STEP);
        self.updated_ms = Some(at_ms);
        if size - self.threshold > MAX_BEYOND {
            return;
        }
        let gain = if size < self.threshold { DOWN } else { UP };
        let changed = self.threshold + step * gain * (size - self.threshold);
        self.threshold = changed.clamp(RANGE.0, RANGE.1);
    }

    #[cfg(test)]
    fn threshold(&self) -> f64 {
        self.threshold
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Over-use begins when the gradient has exceeded the threshold for more than 10 ms. A group every 33 ms: 16.5 ms after the
    /// first. A sum of 40 ms is more than 15 ms beyond the threshold, which is therefore constant.
    #[test]
    fn a_large_gradient_is_over_use() {
        let mut detector = Detector::default();
        // The 20th group: 2 · 20 = 40.
        for group in 0..19 {
            detector.update(0.0, f64::from(group) * 33.0, 33.0);
        }
        let before = detector.threshold();
        assert_eq!(detector.update(2.0, 627.0, 33.0), Signal::OverUse);
        assert_eq!(detector.threshold(), before);
        // A gradient that falls does not begin over-use, and keeps it.
        assert_eq!(detector.update(1.0, 660.0, 33.0), Signal::OverUse);
        assert_eq!(detector.update(0.0, 693.0, 33.0), Signal::Normal);
        assert_eq!(detector.update(-2.0, 726.0, 33.0), Signal::UnderUse);
    }

    /// Groups that are 5 ms apart need three: 2.5, 7.5 and 12.5 ms.
    #[test]
    fn a_short_excess_is_no_over_use() {
        let mut detector = Detector::default();
        (0..59).for_each(|group| {
            detector.update(0.0, f64::from(group) * 5.0, 5.0);
        });
        let signals: Vec<Signal> = (59..62)
            .map(|group| detector.update(1.0, f64::from(group) * 5.0, 5.0))
            .collect();
        assert_eq!(signals, [Signal::Normal, Signal::Normal, Signal::OverUse]);
    }

    /// With a gradient of 0 the threshold falls: after steps of 100 ms it is multiplied by 1 − 100 · 0.00018 = 0.982 each. From
    /// 12.5 it is 12.5 · 0.982ⁿ, and after 41 steps the minimum of 6: 12.5 · 0.982⁴¹ = 5.94.
    #[test]
    fn the_threshold_adapts_slowly_to_small_gradients() {
        let mut detector = Detector::default();
        detector.update(0.0, 0.0, 100.0);
        for step in 1..=40 {
            detector.update(0.0, f64::from(step) * 100.0, 100.0);
            let expected = 12.5 * libm::pow(0.982, f64::from(step));
            assert!((detector.threshold() - expected).abs() < 1e-9);
        }
        detector.update(0.0, 4_100.0, 100.0);
        assert_eq!(detector.threshold(), 6.0);
        // Longer steps count as 100 ms. Upwards: 6 + 100 · 0.01 · (20 − 6) = 20.
        detector.update(20.0 / 43.0, 9_000.0, 100.0);
        assert!((detector.threshold() - 20.0).abs() < 1e-9);
    }
}
