//! DSSS and HR/DSSS: 802.11b (802.11-2020 clauses 15 and 16).

use super::PpduTime;
use netburn_units::{BitRate, Duration};

/// The rates.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Rate {
    /// 1 Mbit/s (DBPSK).
    M1,
    /// 2 Mbit/s (DQPSK).
    M2,
    /// 5.5 Mbit/s (CCK).
    M5_5,
    /// 11 Mbit/s (CCK).
    M11,
}

impl Rate {
    /// All, lowest first.
    pub const ALL: [Rate; 4] = [Rate::M1, Rate::M2, Rate::M5_5, Rate::M11];

    /// As a rate.
    #[must_use]
    pub const fn rate(self) -> BitRate {
        BitRate::from_bps(match self {
            Rate::M1 => 1_000_000,
            Rate::M2 => 2_000_000,
            Rate::M5_5 => 5_500_000,
            Rate::M11 => 11_000_000,
        })
    }
}

/// The PLCP preamble and header: 144 + 48 µs long, 72 + 24 µs short (the 1 Mbit/s rate has the long one only), then the
/// PSDU in whole microseconds (clause 16.3.4, TXTIME).
pub(super) fn ppdu(rate: Rate, short_preamble: bool, length: u64) -> PpduTime {
    let short = short_preamble && rate != Rate::M1;
    let micros = (length * 8 * 1_000_000).div_ceil(rate.rate().as_bps());
    PpduTime {
        preamble: Duration::from_micros(if short { 96 } else { 192 }),
        second_signal: Duration::ZERO,
        training: Duration::ZERO,
        symbols: 0,
        data: Duration::from_micros(micros),
        rounding: Duration::ZERO,
        extension: Duration::ZERO,
    }
}
