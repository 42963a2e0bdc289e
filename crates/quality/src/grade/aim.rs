//! AIM (Aggregated Internet Measurement): the classes of Cloudflare's speed test.
//!
//! Each measured value has points. A use adds the points of the values that matter to it. The sum,
//! at least 0, has a class from bad to great. All limits are those of Cloudflare's module
//! `speedtest` (`internalConfig.ts`, commit b387f42).
//!
//! The module scores the upload too, but no use counts it.

use netburn_units::{BitRate, Duration};

/// Uses that are scored.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Use {
    /// Video streaming.
    Streaming,
    /// Online games.
    Gaming,
    /// Calls and video conferences (`rtc` in the module).
    Calls,
}

/// Class of a use, from the worst to the best.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Class {
    /// Bad.
    Bad,
    /// Poor.
    Poor,
    /// Average.
    Average,
    /// Good.
    Good,
    /// Great.
    Great,
}

/// Values that have points.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Input {
    /// [`Measured::latency`].
    Latency,
    /// [`Measured::increase`].
    Increase,
    /// [`Measured::jitter`].
    Jitter,
    /// [`Measured::lost`].
    Loss,
    /// [`Measured::download`].
    Download,
}

/// Measured values; `None` for those that were not measured.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Measured {
    /// Median round-trip time of the idle path.
    pub latency: Option<Duration>,
    /// Increase of the median round-trip time under load, in the direction in which it is larger.
    pub increase: Option<Duration>,
    /// Jitter of the idle path: mean difference between successive round-trip times.
    pub jitter: Option<Duration>,
    /// Share of lost packets, 0 to 1. Without it loss has 0 points.
    pub lost: Option<f64>,
    /// Download rate.
    pub download: Option<BitRate>,
}

/// Points of a use and their class.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Score {
    /// Sum of the points, at least 0; at most 80 for streaming, 50 for games, 60 for calls.
    pub points: u32,
    /// Class of this sum.
    pub class: Class,
}

impl Use {
    /// All uses.
    pub const ALL: [Use; 3] = [Use::Streaming, Use::Gaming, Use::Calls];

    /// Name of the use.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Use::Streaming => "streaming",
            Use::Gaming => "gaming",
            Use::Calls => "calls",
        }
    }

    /// Values that count for the use.
    #[must_use]
    pub const fn inputs(self) -> &'static [Input] {
        match self {
            Use::Streaming => &[Input::Latency, Input::Loss, Input::Download, Input::Increase],
            Use::Gaming => &[Input::Latency, Input::Loss, Input::Increase],
            Use::Calls => &[Input::Latency, Input::Jitter, Input::Loss, Input::Increase],
        }
    }

    /// Fewest points of the classes poor, average, good and great.
    #[must_use]
    pub const fn class_limits(self) -> [u32; 4] {
        match self {
            Use::Streaming => [15, 20, 40, 60],
            Use::Gaming => [5, 15, 25, 30],
            Use::Calls => [5, 15, 25, 40],
        }
    }

    /// Score of the use.
    ///
    /// # Errors
    /// The values that the use needs and that were not measured.
    pub fn score(self, measured: &Measured) -> Result<Score, Vec<Input>> {
        let points = self.inputs().iter().map(|input| (*input, measured.points(*input)));
        let points: Vec<(Input, Option<i32>)> = points.collect();
        let missing: Vec<Input> = points
            .iter()
            .filter(|(_, points)| points.is_none())
            .map(|(input, _)| *input)
            .collect();
        if !missing.is_empty() {
            return Err(missing);
        }
        let sum: i32 = points.iter().filter_map(|(_, points)| *points).sum();
        let points = u32::try_from(sum).unwrap_or(0);
        let reached = self.class_limits().iter().filter(|limit| points >= **limit).count();
        Ok(Score {
            points,
            class: Class::ALL[reached],
        })
    }
}

impl Class {
    /// All classes, from the worst to the best.
    pub const ALL: [Class; 5] = [Class::Bad, Class::Poor, Class::Average, Class::Good, Class::Great];

    /// Name of the class.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Class::Bad => "bad",
            Class::Poor => "poor",
            Class::Average => "average",
            Class::Good => "good",
            Class::Great => "great",
        }
    }
}

impl Measured {
    /// Points of a value; `None` if it was not measured.
    #[must_use]
    pub fn points(&self, input: Input) -> Option<i32> {
        match input {
            Input::Latency => self.latency.map(delay_points),
            Input::Increase => self.increase.map(delay_points),
            Input::Jitter => self.jitter.map(jitter_points),
            Input::Loss => Some(self.lost.map_or(0, loss_points)),
            Input::Download => self.download.map(rate_points),
        }
    }
}

/// Points of a latency and of its increase: −20 to 20.
#[must_use]
pub fn delay_points(delay: Duration) -> i32 {
    let limits = [10, 20, 50, 100, 500].map(Duration::from_millis);
    below(&limits, &delay, &[20, 10, 5, 0, -10, -20])
}

/// Points of the jitter: −20 to 10.
#[must_use]
pub fn jitter_points(jitter: Duration) -> i32 {
    let limits = [10, 20, 100, 500].map(Duration::from_millis);
    below(&limits, &jitter, &[10, 5, 0, -10, -20])
}

/// Points of a share of lost packets, 0 to 1: −20 to 10.
#[must_use]
pub fn loss_points(lost: f64) -> i32 {
    below(&[0.01, 0.05, 0.25, 0.5], &lost, &[10, 5, 0, -10, -20])
}

/// Points of a download rate: 0 to 30.
#[must_use]
pub fn rate_points(rate: BitRate) -> i32 {
    let limits = [1, 10, 50, 100].map(BitRate::from_mbps);
    below(&limits, &rate, &[0, 5, 10, 20, 30])
}

/// Points of `value`: the first of `points` below the first limit, and one further at each limit
/// that the value reaches.
fn below<T: PartialOrd, const LIMITS: usize, const POINTS: usize>(
    limits: &[T; LIMITS],
    value: &T,
    points: &[i32; POINTS],
) -> i32 {
    const { assert!(POINTS == LIMITS + 1, "one more class than limits") };
    points[limits.iter().filter(|limit| *value >= **limit).count()]
}
