//! Adaptive streaming over HTTP: the ladder of bit rates, and the rule that selects one.
//!
//! The rule is BBA-0 (Huang, Johari, McKeown, Trunnell and Watson, "A Buffer-Based Approach to Rate Adaptation",
//! SIGCOMM 2014, algorithm 1). It uses only the level of the buffer, so that it needs no estimate of the path's rate.

use crate::common::frame_size;
use netburn_units::{BitRate, ByteSize, Duration};

/// Maximum number of bit rates of a ladder.
pub const MAX_BIT_RATES: usize = 32;

/// Highest bit rate of a ladder: 1 Gbit/s.
pub const MAX_MEDIA_RATE: BitRate = BitRate::from_mbps(1000);

/// Minimum and maximum length of a segment: 500 ms and 30 s.
pub const SEGMENT_LENGTHS: [Duration; 2] = [Duration::from_millis(500), Duration::from_secs(30)];

/// Maximum of the buffer: 10 min.
pub const MAX_MEDIA_BUFFER: Duration = Duration::from_secs(600);

/// Player of a `dash` workload.
///
/// All segments of a bit rate have the same size. A segment can be played when it is complete. The next one is
/// requested when the previous one is complete and the buffer has room for it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Dash {
    /// Bit rates of the media, ascending; 1 to [`MAX_BIT_RATES`].
    pub ladder: Vec<BitRate>,
    /// Length of a segment in playback time. Default 4 s.
    pub segment: Duration,
    /// Media buffered before playback starts, and before it resumes after a stall. Default 4 s: one segment.
    pub start: Duration,
    /// Maximum of the buffer. Default 30 s.
    pub max_buffer: Duration,
    /// Level of the buffer up to which the lowest bit rate is selected. Default 5 s.
    pub reservoir: Duration,
    /// The highest bit rate is selected from `reservoir` plus `cushion` on. Default 10 s.
    pub cushion: Duration,
}

/// Bit rates in kbit/s that Apple's HLS Authoring Specification proposes for HEVC with 30 frames per second: 360p (145)
/// to 4K (11,600 and 16,800). 1080p has 4,500 and 5,800.
const HEVC_LADDER: [u64; 12] = [
    145, 300, 600, 900, 1_600, 2_400, 3_400, 4_500, 5_800, 8_100, 11_600, 16_800,
];

/// The ladder is that of Apple's HLS Authoring Specification for HEVC with 30 frames per second. `reservoir` and
/// `cushion` are those of "Neural Adaptive Video Streaming with Pensieve" (Mao, Netravali and Alizadeh, SIGCOMM 2017,
/// §5.1), whose segments have 4 s as well.
impl Default for Dash {
    fn default() -> Self {
        Dash {
            ladder: HEVC_LADDER.iter().map(|kbps| BitRate::from_bps(kbps * 1000)).collect(),
            segment: Duration::from_secs(4),
            start: Duration::from_secs(4),
            max_buffer: Duration::from_secs(30),
            reservoir: Duration::from_secs(5),
            cushion: Duration::from_secs(10),
        }
    }
}

impl Dash {
    /// Lowest bit rate.
    #[must_use]
    pub fn lowest(&self) -> BitRate {
        self.ladder.first().copied().unwrap_or(BitRate::from_bps(1))
    }

    /// Highest bit rate.
    #[must_use]
    pub fn highest(&self) -> BitRate {
        self.ladder.last().copied().unwrap_or(BitRate::from_bps(1))
    }

    /// Size of a segment of this bit rate, rounded down to a byte; at least 1 B.
    #[must_use]
    pub fn segment_size(&self, rate: BitRate) -> ByteSize {
        frame_size(rate, self.segment).max(ByteSize::from_bytes(1))
    }

    /// Bit rate of a complete segment of `size`; `None` for another size.
    #[must_use]
    pub fn rate_of(&self, size: u64) -> Option<BitRate> {
        let is_of = |rate: &BitRate| self.segment_size(*rate).as_bytes() == size;
        self.ladder.iter().copied().find(is_of)
    }

    /// Bit rate of the next segment with `level` in the buffer, after a segment of `previous`. Before the first
    /// segment, `previous` is the [lowest](Self::lowest) bit rate.
    ///
    /// The map f rises linearly from the lowest bit rate at `reservoir` to the highest at `reservoir` plus `cushion`.
    /// The bit rate changes only if f has passed the next one in the ladder: upwards to the highest one below f,
    /// downwards to the lowest one above f.
    #[must_use]
    pub fn select(&self, level: Duration, previous: BitRate) -> BitRate {
        let (lowest, highest) = (self.lowest(), self.highest());
        let Some(above) = level.checked_sub(self.reservoir).filter(|above| !above.is_zero()) else {
            return lowest;
        };
        if above >= self.cushion {
            return highest;
        }
        // Both sides are multiplied by `cushion`, so that all numbers are integers.
        let cushion = u128::from(self.cushion.as_nanos());
        let span = u128::from(highest.as_bps().saturating_sub(lowest.as_bps()));
        let map = u128::from(lowest.as_bps()) * cushion + span * u128::from(above.as_nanos());
        let scaled = |rate: BitRate| u128::from(rate.as_bps()) * cushion;
        let rates = || self.ladder.iter().copied();
        let next = rates().find(|rate| *rate > previous).unwrap_or(highest);
        let before = rates().rfind(|rate| *rate < previous).unwrap_or(lowest);
        if map >= scaled(next) {
            rates().rfind(|rate| scaled(*rate) < map).unwrap_or(lowest)
        } else if map <= scaled(before) {
            rates().find(|rate| scaled(*rate) > map).unwrap_or(highest)
        } else {
            previous
        }
    }

    /// Checks the values.
    ///
    /// # Errors
    /// The name of the first invalid value in scenario files, and the problem with it.
    pub fn validate(&self) -> Result<(), (&'static str, String)> {
        let [shortest, longest] = SEGMENT_LENGTHS;
        if self.ladder.is_empty() || self.ladder.len() > MAX_BIT_RATES {
            let found = self.ladder.len();
            return Err((
                "ladder",
                format!("found {found} bit rates, expected 1 to {MAX_BIT_RATES}"),
            ));
        }
        if self.segment < shortest || self.segment > longest {
            return Err((
                "segment",
                format!("found {}, expected {shortest} to {longest}", self.segment),
            ));
        }
        let least = BitRate::from_bps(1000);
        if let Some(rate) = self
            .ladder
            .iter()
            .find(|rate| **rate < least || **rate > MAX_MEDIA_RATE)
        {
            return Err(("ladder", format!("found {rate}, expected {least} to {MAX_MEDIA_RATE}")));
        }
        let is_rising = |pair: &[BitRate]| self.segment_size(pair[0]) < self.segment_size(pair[1]);
        if let Some(pair) = self.ladder.windows(2).find(|pair| !is_rising(pair)) {
            let (first, second) = (pair[0], pair[1]);
            return Err((
                "ladder",
                format!("found {second} after {first}, expected ascending bit rates"),
            ));
        }
        if self.start.is_zero() {
            return Err(("start", "found 0 s, expected more than 0 s".to_owned()));
        }
        let needed = self.start.checked_add(self.segment);
        match needed.filter(|needed| *needed <= MAX_MEDIA_BUFFER) {
            None => Err((
                "start",
                format!("found {}, expected less than {MAX_MEDIA_BUFFER}", self.start),
            )),
            Some(needed) if self.max_buffer < needed || self.max_buffer > MAX_MEDIA_BUFFER => Err((
                "max_buffer",
                format!(
                    "found {}, expected {needed} (`start` and one segment) to {MAX_MEDIA_BUFFER}",
                    self.max_buffer
                ),
            )),
            Some(_) if self.reservoir > MAX_MEDIA_BUFFER => Err((
                "reservoir",
                format!("found {}, expected at most {MAX_MEDIA_BUFFER}", self.reservoir),
            )),
            Some(_) if self.cushion.is_zero() || self.cushion > MAX_MEDIA_BUFFER => Err((
                "cushion",
                format!(
                    "found {}, expected more than 0 s, at most {MAX_MEDIA_BUFFER}",
                    self.cushion
                ),
            )),
            Some(_) => Ok(()),
        }
    }
}
