//! Beacons: when they are sent, and whether a station receives them. They use no airtime.

use netburn_medium::config::Width;
use netburn_medium::phy::{Modulation, ofdm};
use netburn_medium::{error, signal};
use netburn_units::{Duration, Instant, RandomStream};

/// Time between two beacons: 100 TU.
pub(crate) const INTERVAL: Duration = Duration::from_micros(102_400);
/// Length of a beacon's body and header in bytes.
const BYTES: u64 = 300;

/// First time after `now` of a schedule with one event each `interval`, of which one is `phase` after
/// time 0. `phase` is shorter than `interval`.
pub(crate) fn next(now: Instant, phase: Duration, interval: Duration) -> Instant {
    let (interval, phase) = (i128::from(interval.as_nanos().max(1)), i128::from(phase.as_nanos()));
    let since = (i128::from(now.as_nanos()) - phase).rem_euclid(interval);
    // Less than an interval: it fits.
    now + Duration::from_nanos((interval - since) as u64)
}

/// Draws whether a beacon of a signal in dBm arrives.
pub(crate) fn arrives(signal: f64, chance: &mut RandomStream) -> bool {
    let snr_db = signal - signal::noise_dbm(Width::Mhz20);
    let success = error::success(Modulation::Ofdm(ofdm::Rate::M6), snr_db, BYTES * 8);
    ((chance.next_u64() >> 11) as f64) < success * (1_u64 << 53) as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A phase of 3 in a period of 10: …, -17, -7, 3, 13, …
    #[test]
    fn the_schedule_is_strictly_in_the_future() {
        let next = |now: i64| {
            let period = Duration::from_nanos(10);
            next(Instant::from_nanos(now), Duration::from_nanos(3), period).as_nanos()
        };
        assert_eq!(
            [-18, -17, -8, -7, 0, 2, 3, 12, 13].map(next),
            [-17, -7, -7, 3, 3, 3, 13, 13, 23]
        );
    }
}
