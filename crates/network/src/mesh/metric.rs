//! Airtime metric of a link.
//!
//! The metric of a path is the sum of those of its links. It assumes that the links share the air, as
//! they do on one channel.

use netburn_medium::edca::Timing;
use netburn_medium::phy::{Modulation, PhyError, TxVector, ofdm, response};
use netburn_units::{BitRate, Probability};

/// Metric of a link that can't be used.
pub const BROKEN: u32 = 0x7fff_ffff;

/// Share of failures in percent above which Linux closes the peering.
pub const BROKEN_PERCENT: u32 = 95;

/// Fraction bits of Linux's arithmetic.
const FRACTION: u32 = 8;
/// Length of the test frame in bits.
const TEST_FRAME: u64 = 8_192;

/// Metric of Linux (`airtime_link_metric_get`), about in microseconds. `rate`: expected throughput
/// of the rate control, and then `failing` is 0 %, because its losses are in it; else the average
/// data rate and the average of failures. [`BROKEN`] without a rate, and above 95 % of failures.
#[must_use]
pub fn linux(rate: BitRate, failing: u32) -> u32 {
    // In units of 100 kbit/s.
    let rate = rate.as_bps() / 100_000;
    if rate == 0 || failing > BROKEN_PERCENT {
        return BROKEN;
    }
    let one = 1_u64 << FRACTION;
    let time = one + 10 * (TEST_FRAME << FRACTION) / rate;
    let failing = (u64::from(failing) << FRACTION) / 100;
    let transmissions = (1_u64 << (2 * FRACTION)) / (one - failing);
    u32::try_from((time * transmissions) >> (2 * FRACTION)).unwrap_or(BROKEN)
}

/// Length of the test frame of the standard's metric in bytes, with its headers (ns-3,
/// `AirtimeLinkMetricCalculator`).
const STANDARD_FRAME: u64 = 1_066;

/// Metric of the standard and of ns-3 in units of 0.01 TU (10.24 µs), for OFDM at 5 GHz: access,
/// frame and acknowledgement, divided by the probability that a frame arrives. [`BROKEN`] if none
/// does.
///
/// # Errors
/// If the vector is not one of its standard.
pub fn standard(vector: &TxVector, failing: Probability) -> Result<u32, PhyError> {
    let timing = Timing::OFDM;
    let frame = vector.format()?.duration(STANDARD_FRAME);
    let rate = match vector.modulation {
        // The highest mandatory rate that isn't above that of the frame (clause 10.6.6.5.2).
        Modulation::Ofdm(rate) if rate < ofdm::Rate::M12 => ofdm::Rate::M6,
        Modulation::Ofdm(rate) if rate < ofdm::Rate::M24 => ofdm::Rate::M12,
        _ => ofdm::Rate::M24,
    };
    let ack = response::duration(&response::legacy(Modulation::Ofdm(rate), vector), response::ACK);
    let nanos = (timing.sifs * 2 + timing.slot * 2 + frame + ack).as_nanos();
    let arriving = 1_000_000_000 - u64::from(failing.as_ppb());
    if arriving == 0 {
        return Ok(BROKEN);
    }
    let units = u128::from(nanos) * 1_000_000_000 / (10_240 * u128::from(arriving));
    Ok(u32::try_from(units).unwrap_or(BROKEN))
}

/// Average of a link's failures, each of weight 1/8 (Linux, `mesh_fail_avg`). 20 fraction bits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct FailureAverage(u64);

impl FailureAverage {
    /// Adds a frame.
    pub fn add(&mut self, failed: bool) {
        self.0 = (self.0 * 7 + if failed { 100 << 20 } else { 0 }) / 8;
    }

    /// True if more than 95 % fail: Linux closes the peering.
    #[must_use]
    pub fn is_broken(&self) -> bool {
        self.0 > u64::from(BROKEN_PERCENT) << 20
    }

    /// Average in percent, cut.
    #[must_use]
    pub fn percent(&self) -> u32 {
        (self.0 >> 20) as u32
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use netburn_medium::config::{Guard, Width};

    /// 1 + 81920 / rate, with eight fraction bits, cut.
    #[test]
    fn metrics_of_linux() {
        let rates = [
            (1.0, 8_193),
            (6.0, 1_366),
            (6.5, 1_261),
            (13.0, 631),
            (26.0, 316),
            (39.0, 211),
            (50.0, 164),
            (65.0, 127),
            (100.0, 82),
            (200.0, 41),
            (300.0, 28),
            (600.0, 14),
            (866.7, 10),
            (1_201.0, 7),
        ];
        for (mbps, metric) in rates {
            let rate = BitRate::from_bps((mbps * 1e6) as u64);
            assert_eq!(linux(rate, 0), metric, "{mbps}");
        }
        for (mbps, metrics) in [(50, [182, 219, 329]), (300, [31, 37, 56])] {
            let found = [10, 25, 50].map(|failing| linux(BitRate::from_mbps(mbps), failing));
            assert_eq!(found, metrics, "{mbps}");
        }
        assert_eq!(linux(BitRate::from_mbps(50), 95), 3_245);
        assert_eq!(linux(BitRate::from_mbps(50), 96), BROKEN);
        assert_eq!(linux(BitRate::from_bps(0), 0), BROKEN);
    }

    fn ofdm_metric(rate: ofdm::Rate, failing: f64) -> u32 {
        let vector = TxVector {
            modulation: Modulation::Ofdm(rate),
            width: Width::Mhz20,
            guard: Guard::Ns800,
            streams: 1,
            signal_extension: false,
            short_preamble: false,
        };
        let failing = Probability::from_ppb((failing * 1e9) as u32).unwrap();
        standard(&vector, failing).unwrap()
    }

    /// At 6 Mbit/s: 32 + 18 µs of SIFS and slots, 1448 µs for 1066 bytes, 44 µs for the ACK: 1542 of
    /// 10.24 µs.
    #[test]
    fn metrics_of_the_standard() {
        let rates = [
            (ofdm::Rate::M6, 150),
            (ofdm::Rate::M9, 104),
            (ofdm::Rate::M12, 79),
            (ofdm::Rate::M24, 44),
            (ofdm::Rate::M36, 33),
            (ofdm::Rate::M48, 27),
            (ofdm::Rate::M54, 25),
        ];
        for (rate, metric) in rates {
            assert_eq!(ofdm_metric(rate, 0.0), metric, "{rate:?}");
        }
        let lossy = [0.1, 0.25, 0.5].map(|failing| ofdm_metric(ofdm::Rate::M6, failing));
        assert_eq!(lossy, [167, 200, 301]);
        assert_eq!(ofdm_metric(ofdm::Rate::M6, 1.0), BROKEN);
    }

    /// 1 − (7/8)ⁿ passes 95 % at n = 23: ln 0.05 / ln 0.875 = 22.4. It falls below it with the next
    /// success.
    #[test]
    fn failures_in_a_row_break_a_link() {
        let mut average = FailureAverage::default();
        let broken = (1..100).find(|_| {
            average.add(true);
            average.is_broken()
        });
        assert_eq!(broken, Some(23));
        average.add(false);
        assert!(!average.is_broken());
        assert_eq!(average.percent(), 83);
    }
}
