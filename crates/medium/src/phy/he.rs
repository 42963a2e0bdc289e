//! HE: 802.11ax, HE SU format over the full width (802.11ax-2021 clause 27), LDPC.

use super::constellation;
use super::{
    Coded, Format, Guard, PhyError, TxVector, Width, check_streams, data_bits, no_guard, no_width, ofdm, rate, vht,
};
use netburn_units::Duration;

/// Maximum number of streams.
const STREAMS: u8 = 8;

/// Legacy preamble and L-SIG (20 µs), RL-SIG (4), HE-SIG-A (8), HE-STF (4).
const BEFORE_TRAINING: Duration = Duration::from_micros(36);

/// Bits of the SERVICE field; LDPC has no tail.
const SERVICE: u64 = 16;

fn coded(vector: &TxVector, mcs: u8) -> Result<Coded, PhyError> {
    let streams = check_streams(vector.streams, STREAMS)?;
    let subcarriers = subcarriers(vector.width).ok_or_else(|| no_width(vector.width, "20, 40, 80 and 160 MHz"))?;
    let (bits, coding) = constellation::for_mcs(mcs).filter(|_| mcs <= 11).ok_or(PhyError::Mcs {
        mcs,
        streams: vector.streams,
        mhz: vector.width.as_mhz(),
        highest: 11,
        except: None,
    })?;
    Ok((subcarriers * bits * streams, coding, symbol(vector.guard)?))
}

/// TXTIME of clause 27.4.3, without packet extension (nominal packet padding 0, the default of a
/// receiver that requests none).
pub(super) fn format(vector: &TxVector, mcs: u8) -> Result<Format, PhyError> {
    full_width(vector, coded(vector, mcs)?, BEFORE_TRAINING, Duration::ZERO)
}

/// Common part of HE and EHT: LTFs, then LDPC symbols (N_SYM of clause 27.3.12.5.1: padding to a
/// whole symbol, no extra LDPC symbol).
pub(super) fn full_width(
    vector: &TxVector,
    coded: Coded,
    before_training: Duration,
    second_signal: Duration,
) -> Result<Format, PhyError> {
    let training = training(vector);
    Ok(Format {
        preamble: before_training + second_signal + training,
        second_signal,
        training,
        symbol: coded.2,
        twice_data_bits: 2 * data_bits(coded),
        overhead_bits: SERVICE,
        round_to: Duration::from_nanos(1),
        extension: ofdm::extension(vector.signal_extension),
        rate: rate(coded),
    })
}

/// Data subcarriers of a full-width RU (table 27-45 ff.).
pub(super) fn subcarriers(width: Width) -> Option<u64> {
    match width {
        Width::Mhz20 => Some(234),
        Width::Mhz40 => Some(468),
        Width::Mhz80 => Some(980),
        Width::Mhz160 => Some(1_960),
        Width::Mhz320 => None,
    }
}

/// Symbol time: 12.8 µs and the guard interval.
pub(super) fn symbol(guard: Guard) -> Result<Duration, PhyError> {
    match guard {
        Guard::Ns400 => Err(no_guard(guard, "800, 1600 and 3200 ns")),
        other => Ok(Duration::from_nanos(12_800 + u64::from(other.as_nanos()))),
    }
}

/// LTFs: 2x (6.4 µs) with guard intervals of 0.8 and 1.6 µs, 4x (12.8 µs) with 3.2 µs. Table 27-1:
/// every HE station supports these formats.
fn training(vector: &TxVector) -> Duration {
    let each = match vector.guard {
        Guard::Ns3200 => 12_800,
        _ => 6_400,
    } + u64::from(vector.guard.as_nanos());
    Duration::from_nanos(each * vht::TRAINING_SYMBOLS[usize::from(vector.streams) - 1])
}
