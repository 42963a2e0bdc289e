//! OFDM: 802.11a and, in 2.4 GHz with its signal extension, 802.11g (802.11-2020 clauses 17 and 18).

use super::Format;
use netburn_units::{BitRate, Duration};

/// Rates in 20 MHz.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Rate {
    /// 6 Mbit/s: BPSK 1/2.
    M6,
    /// 9 Mbit/s: BPSK 3/4.
    M9,
    /// 12 Mbit/s: QPSK 1/2.
    M12,
    /// 18 Mbit/s: QPSK 3/4.
    M18,
    /// 24 Mbit/s: 16-QAM 1/2.
    M24,
    /// 36 Mbit/s: 16-QAM 3/4.
    M36,
    /// 48 Mbit/s: 64-QAM 2/3.
    M48,
    /// 54 Mbit/s: 64-QAM 3/4.
    M54,
}

/// Bits of the SERVICE field and of the tail (table 17-5).
const SERVICE_AND_TAIL: u64 = 16 + 6;

/// Signal extension of OFDM PPDUs in 2.4 GHz (clause 18.3.2.4).
pub(super) const SIGNAL_EXTENSION: Duration = Duration::from_micros(6);

impl Rate {
    /// All rates, lowest first.
    pub const ALL: [Rate; 8] = [
        Rate::M6,
        Rate::M9,
        Rate::M12,
        Rate::M18,
        Rate::M24,
        Rate::M36,
        Rate::M48,
        Rate::M54,
    ];

    /// Data bits per symbol (N_DBPS, table 17-4).
    #[must_use]
    pub const fn data_bits(self) -> u64 {
        match self {
            Rate::M6 => 24,
            Rate::M9 => 36,
            Rate::M12 => 48,
            Rate::M18 => 72,
            Rate::M24 => 96,
            Rate::M36 => 144,
            Rate::M48 => 192,
            Rate::M54 => 216,
        }
    }

    /// Bit rate: one symbol lasts 4 µs.
    #[must_use]
    pub const fn rate(self) -> BitRate {
        BitRate::from_bps(self.data_bits() * 250_000)
    }
}

/// TXTIME of clause 17.4.3: 16 µs preamble, 4 µs SIGNAL, symbols of 4 µs.
pub(super) fn format(rate: Rate, signal_extension: bool) -> Format {
    Format {
        preamble: Duration::from_micros(20),
        second_signal: Duration::ZERO,
        training: Duration::ZERO,
        symbol: Duration::from_micros(4),
        twice_data_bits: 2 * rate.data_bits(),
        overhead_bits: SERVICE_AND_TAIL,
        round_to: Duration::from_micros(4),
        extension: extension(signal_extension),
        rate: rate.rate(),
    }
}

/// The signal extension, if there is one.
pub(super) fn extension(present: bool) -> Duration {
    if present { SIGNAL_EXTENSION } else { Duration::ZERO }
}
