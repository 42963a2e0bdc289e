//! DSSS and HR/DSSS: 802.11b (802.11-2020 clauses 15 and 16).

use super::Format;
use netburn_units::{BitRate, Duration};

/// Rates of DSSS and CCK.
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
    /// All rates, lowest first.
    pub const ALL: [Rate; 4] = [Rate::M1, Rate::M2, Rate::M5_5, Rate::M11];

    /// Bit rate.
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

/// The PLCP preamble and header, then the PSDU in whole microseconds (clause 16.3.4, TXTIME). The
/// long preamble and header take 144 + 48 µs, the short ones 72 + 24 µs. The 1 Mbit/s rate has the
/// long ones only.
pub(super) fn format(rate: Rate, short_preamble: bool) -> Format {
    let short = short_preamble && rate != Rate::M1;
    Format {
        preamble: Duration::from_micros(if short { 96 } else { 192 }),
        second_signal: Duration::ZERO,
        training: Duration::ZERO,
        symbol: Duration::from_micros(1),
        twice_data_bits: rate.rate().as_bps() / 500_000,
        overhead_bits: 0,
        round_to: Duration::from_micros(1),
        extension: Duration::ZERO,
        rate: rate.rate(),
    }
}
