//! Access categories and their parameters.

use crate::packet::MANAGEMENT;
use netburn_units::Duration;

/// The four access categories, lowest priority first: the order that decides an internal collision.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum AccessCategory {
    /// AC_BK.
    Background,
    /// AC_BE.
    BestEffort,
    /// AC_VI.
    Video,
    /// AC_VO.
    Voice,
}

impl AccessCategory {
    /// All four, lowest priority first.
    pub const ALL: [AccessCategory; 4] = [
        AccessCategory::Background,
        AccessCategory::BestEffort,
        AccessCategory::Video,
        AccessCategory::Voice,
    ];

    /// Access category of a traffic identifier 0 to 7 (802.11-2020 table 10-1), or of a management frame (clause
    /// 10.2.3.2: AC_VO).
    #[must_use]
    pub const fn from_tid(tid: u8) -> AccessCategory {
        if tid == MANAGEMENT {
            return AccessCategory::Voice;
        }
        match tid & 7 {
            1 | 2 => AccessCategory::Background,
            0 | 3 => AccessCategory::BestEffort,
            4 | 5 => AccessCategory::Video,
            _ => AccessCategory::Voice,
        }
    }

    /// Index in [`ALL`](Self::ALL).
    #[must_use]
    pub const fn index(self) -> usize {
        self as usize
    }
}

/// Interframe spaces of a band's PHY (802.11-2020 tables 17-21, 18-5, 16-4).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Timing {
    /// aSlotTime.
    pub slot: Duration,
    /// aSIFSTime.
    pub sifs: Duration,
    /// aCCATime: time until other stations detect a transmission.
    pub detect: Duration,
    /// aRxPHYStartDelay, part of the ACK timeout.
    pub receive_start: Duration,
    /// Clock divider of the PHY relative to the durations of [`phy`](crate::phy). It is 1; 2 and 4
    /// for half-clocked and quarter-clocked OFDM in 10 and 5 MHz (clause 17.2.3.3); 10 for S1G.
    /// Every PPDU lasts this many times longer; the other times here already include it.
    pub clock: u64,
}

impl Timing {
    /// OFDM in 5 and 6 GHz: slot 9 µs, SIFS 16 µs.
    pub const OFDM: Timing = Timing {
        slot: Duration::from_micros(9),
        sifs: Duration::from_micros(16),
        detect: Duration::from_micros(4),
        receive_start: Duration::from_micros(20),
        clock: 1,
    };
    /// OFDM in 2.4 GHz without 802.11b stations: short slot 9 µs, SIFS 10 µs.
    pub const OFDM_2G: Timing = Timing {
        slot: Duration::from_micros(9),
        sifs: Duration::from_micros(10),
        detect: Duration::from_micros(4),
        receive_start: Duration::from_micros(20),
        clock: 1,
    };
    /// 2.4 GHz with 802.11b: slot 20 µs, SIFS 10 µs.
    pub const DSSS: Timing = Timing {
        slot: Duration::from_micros(20),
        sifs: Duration::from_micros(10),
        detect: Duration::from_micros(15),
        receive_start: Duration::from_micros(192),
        clock: 1,
    };

    /// The same with a clock divider of `times`: all durations are multiplied by it.
    #[must_use]
    pub fn slower(&self, times: u64) -> Self {
        Timing {
            slot: self.slot * times,
            sifs: self.sifs * times,
            detect: self.detect * times,
            receive_start: self.receive_start * times,
            clock: self.clock * times,
        }
    }

    /// AIFS: SIFS and `aifsn` slots.
    #[must_use]
    pub fn aifs(&self, aifsn: u32) -> Duration {
        self.sifs + self.slot * u64::from(aifsn)
    }

    /// Timeout from the end of a frame to the start of its response.
    #[must_use]
    pub fn response_timeout(&self) -> Duration {
        self.sifs + self.slot + self.receive_start
    }
}

/// Parameters of one access category.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct EdcaParameters {
    /// AIFSN: slots after SIFS; 1 to 15 (an AP's may be 1, a station's at least 2).
    pub aifsn: u32,
    /// CWmin: the first window is 0 to this many slots.
    pub cw_min: u32,
    /// CWmax.
    pub cw_max: u32,
    /// TXOP limit; zero: one frame exchange.
    pub txop: Duration,
}

impl EdcaParameters {
    /// Default set of 802.11-2020 table 9-155 for a PHY with `cw_min` (15 for OFDM, 31 for DSSS)
    /// and CWmax 1023. The TXOP limit for background and best effort is 0, as in the 2012 edition
    /// and as most access points announce it.
    #[must_use]
    pub fn default_set(cw_min: u32) -> [EdcaParameters; 4] {
        let new = |aifsn, cw_min, cw_max, txop| EdcaParameters {
            aifsn,
            cw_min,
            cw_max,
            txop: Duration::from_micros(txop),
        };
        let (video, voice) = if cw_min == 31 { (6_016, 3_264) } else { (3_008, 1_504) };
        [
            new(7, cw_min, 1_023, 0),
            new(3, cw_min, 1_023, 0),
            new(2, cw_min / 2, cw_min, video),
            new(2, cw_min / 4, cw_min / 2, voice),
        ]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// 802.11-2012 table 8-105: TXOP limits for OFDM and for DSSS, windows of a quarter, a half and
    /// the whole of aCWmin.
    #[test]
    fn the_default_sets() {
        let set = |cw_min| {
            EdcaParameters::default_set(cw_min).map(|p| (p.aifsn, p.cw_min, p.cw_max, p.txop.as_nanos() / 1_000))
        };
        assert_eq!(
            set(15),
            [
                (7, 15, 1_023, 0),
                (3, 15, 1_023, 0),
                (2, 7, 15, 3_008),
                (2, 3, 7, 1_504)
            ]
        );
        assert_eq!(
            set(31),
            [
                (7, 31, 1_023, 0),
                (3, 31, 1_023, 0),
                (2, 15, 31, 6_016),
                (2, 7, 15, 3_264)
            ]
        );
    }
}
