//! Bandwidth in the kernel's fixed-point format.

use netburn_units::{BitRate, Duration};

/// Binary places of a bandwidth in segments per microsecond (`BW_SCALE`): the minimum is 715 bit/s
/// of 1500 bytes.
const PLACES: u32 = 24;
/// Binary places of a gain (`BBR_SCALE`).
const GAIN_PLACES: u32 = 8;
/// Gain of 1 (`BBR_UNIT`).
pub(super) const UNIT: u64 = 1 << GAIN_PLACES;
/// Pacing is 1 % below the bandwidth, so that rounding builds no queue
/// (`bbr_pacing_margin_percent`).
const MARGIN_PERCENT: u64 = 1;

/// Segments per microsecond, × 2²⁴.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub(super) struct Bandwidth(pub(super) u64);

impl Bandwidth {
    /// Bandwidth of `segments` delivered in `span`.
    pub(super) fn new(segments: u32, span: Duration) -> Self {
        Self((u64::from(segments) << PLACES) / (span.as_nanos() / 1_000).max(1))
    }

    /// Bandwidth times `gain`.
    pub(super) fn times(self, gain: u64) -> Self {
        Self(wide((u128::from(self.0) * u128::from(gain)) >> GAIN_PLACES))
    }

    /// Segments in `micros` microseconds, rounded down.
    pub(super) fn segments_in(self, micros: u64) -> u64 {
        wide((u128::from(self.0) * u128::from(micros)) >> PLACES)
    }

    /// `gain` times the bandwidth-delay product, rounded up (`bbr_bdp`); at most 2³² − 1 segments.
    pub(super) fn product(self, round_trip: Duration, gain: u64) -> u64 {
        let volume = u128::from(self.0) * u128::from(round_trip.as_nanos() / 1_000);
        let segments = (volume.saturating_mul(u128::from(gain)) >> GAIN_PLACES).div_ceil(1 << PLACES);
        wide(segments).min(u64::from(u32::MAX))
    }

    /// Pacing rate for segments of `mss` bytes (`bbr_rate_bytes_per_sec`).
    pub(super) fn pacing(self, mss: u32, gain: u64) -> BitRate {
        let scaled = (u128::from(self.0) * u128::from(mss)).saturating_mul(u128::from(gain)) >> GAIN_PLACES;
        let bytes = scaled.saturating_mul(u128::from(1_000_000 / 100 * (100 - MARGIN_PERCENT))) >> PLACES;
        BitRate::from_bps(wide(bytes.saturating_mul(8)))
    }
}

fn wide(value: u128) -> u64 {
    u64::try_from(value).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_hundred_segments_in_ten_milliseconds() {
        let bandwidth = Bandwidth::new(100, Duration::from_millis(10));
        // 10 000 segments per second.
        assert!((9_999..=10_000).contains(&bandwidth.segments_in(1_000_000)));
        // Over 20 ms: 200; twice that with a gain of 2.
        assert_eq!(bandwidth.product(Duration::from_millis(20), UNIT), 200);
        assert_eq!(bandwidth.product(Duration::from_millis(20), 2 * UNIT), 400);
        // 10 000 × 1448 × 8 × 0.99 = 114.68 Mbit/s.
        let rate = bandwidth.pacing(1_448, UNIT).as_mbps_f64();
        assert!((rate - 114.68).abs() < 0.02, "{rate}");
    }
}
