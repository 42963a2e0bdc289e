//! HT: 802.11n, HT-mixed format (802.11-2020 clause 19).

use super::constellation::{self, CodingRate};
use super::{Guard, PhyError, PpduTime, TxVector, Width, check_streams, no_guard, no_width, ofdm};
use netburn_units::Duration;

/// The most streams.
const STREAMS: u8 = 4;

/// Legacy preamble and L-SIG (20 µs), HT-SIG (8), HT-STF (4).
const BEFORE_TRAINING: Duration = Duration::from_micros(32);

/// Above this rate a second BCC encoder is used (table 19-27 ff., N_ES), whatever the guard interval: 300 Mbit/s with
/// the long one are 1200 data bits per symbol.
const BITS_PER_ENCODER: u64 = 1_200;

pub(super) fn coded(vector: &TxVector, mcs: u8) -> Result<(u64, CodingRate, u64), PhyError> {
    let streams = check_streams(vector.streams, STREAMS)?;
    let subcarriers = match vector.width {
        Width::Mhz20 => 52,
        Width::Mhz40 => 108,
        other => return Err(no_width(other, "20 and 40 MHz")),
    };
    let (bits, rate) = constellation::of(mcs).filter(|_| mcs <= 7).ok_or(PhyError::Mcs {
        mcs,
        streams: vector.streams,
        mhz: vector.width.mhz(),
        highest: 7,
        except: None,
    })?;
    Ok((subcarriers * bits * streams, rate, symbol(vector.guard)?))
}

/// TXTIME of clause 19.4.3 (eq. 19-90 and 19-91).
pub(super) fn ppdu(vector: &TxVector, mcs: u8, length: u64) -> Result<PpduTime, PhyError> {
    let (coded, (numerator, denominator), symbol) = coded(vector, mcs)?;
    let data_bits = coded * numerator / denominator;
    let encoders = data_bits.div_ceil(BITS_PER_ENCODER).min(2);
    let symbols = (8 * length + 16 + 6 * encoders).div_ceil(data_bits);
    let training = Duration::from_micros(4 * [1, 2, 4, 4][usize::from(vector.streams) - 1]);
    let data = Duration::from_nanos(symbol * symbols);
    Ok(PpduTime {
        preamble: BEFORE_TRAINING + training,
        second_signal: Duration::ZERO,
        training,
        symbols,
        data,
        rounding: rounding(data),
        extension: ofdm::extension(vector.signal_extension),
    })
}

/// The symbol time in ns.
pub(super) fn symbol(guard: Guard) -> Result<u64, PhyError> {
    match guard {
        Guard::Ns400 | Guard::Ns800 => Ok(3_200 + guard.nanos()),
        other => Err(no_guard(other, "400 and 800 ns")),
    }
}

/// From the data field's end to the next whole 4 µs.
pub(super) fn rounding(data: Duration) -> Duration {
    Duration::from_nanos(data.as_nanos().next_multiple_of(4_000) - data.as_nanos())
}
