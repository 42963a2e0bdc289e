//! HT: 802.11n, HT-mixed format (802.11-2020 clause 19).

use super::constellation;
use super::{
    Coded, Format, Guard, PhyError, TxVector, Width, check_streams, data_bits, no_guard, no_width, ofdm, rate,
};
use netburn_units::Duration;

/// Maximum number of streams.
const STREAMS: u8 = 4;

/// Legacy preamble and L-SIG (20 µs), HT-SIG (8), HT-STF (4).
const BEFORE_TRAINING: Duration = Duration::from_micros(32);

/// Above this rate a second BCC encoder is used, for every guard interval (table 19-27 ff., N_ES).
/// 300 Mbit/s with the long guard interval are 1200 data bits per symbol.
const BITS_PER_ENCODER: u64 = 1_200;

fn coded(vector: &TxVector, mcs: u8) -> Result<Coded, PhyError> {
    let streams = check_streams(vector.streams, STREAMS)?;
    let subcarriers = match vector.width {
        Width::Mhz20 => 52,
        Width::Mhz40 => 108,
        other => return Err(no_width(other, "20 and 40 MHz")),
    };
    let (bits, coding) = constellation::for_mcs(mcs).filter(|_| mcs <= 7).ok_or(PhyError::Mcs {
        mcs,
        streams: vector.streams,
        mhz: vector.width.as_mhz(),
        highest: 7,
        except: None,
    })?;
    Ok((subcarriers * bits * streams, coding, symbol(vector.guard)?))
}

/// TXTIME of clause 19.4.3 (eq. 19-90 and 19-91).
pub(super) fn format(vector: &TxVector, mcs: u8) -> Result<Format, PhyError> {
    let coded = coded(vector, mcs)?;
    let encoders = data_bits(coded).div_ceil(BITS_PER_ENCODER).min(2);
    let training = Duration::from_micros(4 * [1, 2, 4, 4][usize::from(vector.streams) - 1]);
    Ok(Format {
        preamble: BEFORE_TRAINING + training,
        second_signal: Duration::ZERO,
        training,
        symbol: coded.2,
        twice_data_bits: 2 * data_bits(coded),
        overhead_bits: 16 + 6 * encoders,
        round_to: Duration::from_micros(4),
        extension: ofdm::extension(vector.signal_extension),
        rate: rate(coded),
    })
}

/// Symbol time.
pub(super) fn symbol(guard: Guard) -> Result<Duration, PhyError> {
    match guard {
        Guard::Ns400 | Guard::Ns800 => Ok(Duration::from_nanos(3_200 + u64::from(guard.as_nanos()))),
        other => Err(no_guard(other, "400 and 800 ns")),
    }
}
