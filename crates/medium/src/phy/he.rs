//! HE: 802.11ax, HE SU format over the full width (802.11ax-2021 clause 27), LDPC.

use super::constellation::{self, CodingRate};
use super::{Guard, PhyError, PpduTime, TxVector, Width, check_streams, no_guard, no_width, ofdm, vht};
use netburn_units::Duration;

/// The most streams.
const STREAMS: u8 = 8;

/// Legacy preamble and L-SIG (20 µs), RL-SIG (4), HE-SIG-A (8), HE-STF (4).
const BEFORE_TRAINING: Duration = Duration::from_micros(36);

/// Bits of the SERVICE field; LDPC has no tail.
const SERVICE: u64 = 16;

pub(super) fn coded(vector: &TxVector, mcs: u8) -> Result<(u64, CodingRate, u64), PhyError> {
    let streams = check_streams(vector.streams, STREAMS)?;
    let subcarriers = subcarriers(vector.width).ok_or_else(|| no_width(vector.width, "20, 40, 80 and 160 MHz"))?;
    let (bits, rate) = constellation::of(mcs).filter(|_| mcs <= 11).ok_or(PhyError::Mcs {
        mcs,
        streams: vector.streams,
        mhz: vector.width.mhz(),
        highest: 11,
        except: None,
    })?;
    Ok((subcarriers * bits * streams, rate, symbol(vector.guard)?))
}

/// TXTIME of clause 27.4.3, without packet extension (nominal packet padding 0, the default of a receiver that asks for
/// none).
pub(super) fn ppdu(vector: &TxVector, mcs: u8, length: u64) -> Result<PpduTime, PhyError> {
    let (coded, rate, symbol) = coded(vector, mcs)?;
    let training = training(vector);
    let symbols = symbols(coded, rate, length);
    Ok(PpduTime {
        preamble: BEFORE_TRAINING + training,
        second_signal: Duration::ZERO,
        training,
        symbols,
        data: Duration::from_nanos(symbol * symbols),
        rounding: Duration::ZERO,
        extension: ofdm::extension(vector.signal_extension),
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

/// The symbol time in ns: 12.8 µs and the guard interval.
pub(super) fn symbol(guard: Guard) -> Result<u64, PhyError> {
    match guard {
        Guard::Ns400 => Err(no_guard(guard, "800, 1600 and 3200 ns")),
        other => Ok(12_800 + other.nanos()),
    }
}

/// The LTFs: 2x (6.4 µs) with guard intervals of 0.8 and 1.6 µs, 4x (12.8 µs) with 3.2 (table 27-1: the formats that
/// every HE station receives).
pub(super) fn training(vector: &TxVector) -> Duration {
    let each = match vector.guard {
        Guard::Ns3200 => 12_800,
        _ => 6_400,
    } + vector.guard.nanos();
    Duration::from_nanos(each * vht::TRAINING_SYMBOLS[usize::from(vector.streams) - 1])
}

/// Data symbols for a PSDU (N_SYM, clause 27.3.12.5.1; pre-FEC padding to a whole symbol, no extra LDPC symbol).
pub(super) fn symbols(coded: u64, (numerator, denominator): CodingRate, length: u64) -> u64 {
    (8 * length + SERVICE).div_ceil(coded * numerator / denominator)
}
