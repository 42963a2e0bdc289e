//! Over-use detector with an adaptive threshold (section 5.4). Constants of `TrendlineEstimator` in libwebrtc.

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

/// Initial threshold, del_var_th(0).
const INITIAL: f64 = 12.5;
/// Range of the threshold.
const RANGE: (f64, f64) = (6.0, 600.0);
/// Gain of an increase of the threshold, per ms.
const UP: f64 = 0.0087;
/// Gain of a decrease of the threshold, per ms.
const DOWN: f64 = 0.039;
/// The threshold is unchanged if the trend is further beyond it than this.
const MAX_BEYOND: f64 = 15.0;
/// Longest time that changes the threshold at once, in ms.
const MAX_STEP: f64 = 100.0;
/// Time for which the trend must exceed the threshold, in ms.
const OVER_USE_TIME: f64 = 10.0;
/// Number of groups for which the trend must exceed the threshold.
const OVER_USE_GROUPS: u32 = 2;
/// Factor of the trend before it is compared with the threshold.
const GAIN: f64 = 4.0;
/// Number of groups after which a trend has its full weight.
const FULL: f64 = 60.0;

/// Detector of over-use.
#[derive(Debug, Clone)]
pub(super) struct Detector {
    threshold: f64,
    groups: f64,
    before: f64,
    updated_ms: Option<f64>,
    /// Time and number of groups for which the trend has exceeded the threshold.
    over: Option<(f64, u32)>,
    signal: Signal,
}

impl Default for Detector {
    fn default() -> Self {
        Detector {
            threshold: INITIAL,
            groups: 0.0,
            before: 0.0,
            updated_ms: None,
            over: None,
            signal: Signal::Normal,
        }
    }
}

impl Detector {
    /// Processes the trend at the arrival of a group at `at_ms`, `sent_ms` after the one before was sent.
    pub(super) fn update(&mut self, trend: f64, at_ms: f64, sent_ms: f64) -> Signal {
        self.groups = (self.groups + 1.0).min(FULL);
        let weighted = trend * self.groups * GAIN;
        if weighted > self.threshold {
            let (time, groups) = self
                .over
                .map_or((sent_ms / 2.0, 1), |(time, groups)| (time + sent_ms, groups + 1));
            self.over = Some((time, groups));
            if time > OVER_USE_TIME && groups >= OVER_USE_GROUPS && trend >= self.before {
                self.over = Some((0.0, 0));
                self.signal = Signal::OverUse;
            }
        } else {
            self.over = None;
            self.signal = if weighted < -self.threshold {
                Signal::UnderUse
            } else {
                Signal::Normal
            };
        }
        self.before = trend;
        self.adapt(weighted.abs(), at_ms);
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

    /// The 60th group and later ones have full weight: a trend of 0.1 counts as 0.1 · 60 · 4 = 24. That is more than 15
    /// beyond the threshold of 6, which is therefore constant.
    const STEEP: f64 = 0.1;

    /// A detector after 60 groups without a trend, 33 ms apart. The threshold is at its minimum of 6.
    fn settled() -> Detector {
        let mut detector = Detector::default();
        for group in 0..60 {
            detector.update(0.0, f64::from(group) * 33.0, 33.0);
        }
        assert_eq!(detector.threshold(), 6.0);
        detector
    }

    /// Over-use needs two groups, and more than 10 ms: half of 33 ms and then 33 ms. It ends with the trend.
    #[test]
    fn a_large_trend_is_over_use() {
        let mut detector = settled();
        assert_eq!(detector.update(STEEP, 1_980.0, 33.0), Signal::Normal);
        assert_eq!(detector.update(STEEP, 2_013.0, 33.0), Signal::OverUse);
        assert_eq!(detector.threshold(), 6.0);
        // A trend that falls does not begin over-use, and keeps it.
        assert_eq!(detector.update(STEEP / 2.0, 2_046.0, 33.0), Signal::OverUse);
        assert_eq!(detector.update(0.0, 2_079.0, 33.0), Signal::Normal);
        assert_eq!(detector.update(-STEEP, 2_112.0, 33.0), Signal::UnderUse);
    }

    #[test]
    fn a_trend_that_falls_does_not_begin_over_use() {
        let mut detector = settled();
        let signals = [0.12, 0.11, 0.1, 0.1].map(|trend| detector.update(trend, 2_000.0, 33.0));
        assert_eq!(signals[..3], [Signal::Normal; 3]);
        assert_eq!(signals[3], Signal::OverUse);
    }

    /// Groups that are 4 ms apart need four: 2, 6, 10 and 14 ms.
    #[test]
    fn a_short_excess_is_no_over_use() {
        let mut detector = settled();
        let signals = [2_000.0, 2_004.0, 2_008.0, 2_012.0].map(|at| detector.update(STEEP, at, 4.0));
        assert_eq!(signals[..3], [Signal::Normal; 3]);
        assert_eq!(signals[3], Signal::OverUse);
    }

    /// Without a trend the threshold is multiplied by 1 − 10 · 0.039 = 0.61 in 10 ms: from 12.5 it is 12.5 · 0.61 = 7.6, then
    /// the minimum of 6. Upwards a trend that counts as 20 adds 100 · 0.0087 · (20 − 6) = 12.18 in 100 ms.
    #[test]
    fn the_threshold_adapts_to_the_trend() {
        let mut detector = Detector::default();
        detector.update(0.0, 0.0, 10.0);
        assert_eq!(detector.threshold(), 12.5);
        detector.update(0.0, 10.0, 10.0);
        assert!((detector.threshold() - 7.625).abs() < 1e-9);
        detector.update(0.0, 20.0, 10.0);
        assert_eq!(detector.threshold(), 6.0);
        // The fourth group. Longer steps count as 100 ms.
        detector.update(20.0 / (4.0 * GAIN), 9_000.0, 10.0);
        assert!((detector.threshold() - 18.18).abs() < 1e-9);
    }
}
