//! VHT: 802.11ac, single user (802.11-2020 clause 21).

use super::constellation;
use super::{Coded, Format, PhyError, TxVector, Width, check_streams, data_bits, ht, no_width, ofdm, rate};
use crate::config::Standard;
use netburn_units::Duration;

/// Maximum number of streams.
const STREAMS: u8 = 8;

/// Legacy preamble and L-SIG (20 µs), VHT-SIG-A (8), VHT-STF (4).
const BEFORE_TRAINING: Duration = Duration::from_micros(32);
/// VHT-SIG-B.
const SIG_B: Duration = Duration::from_micros(4);

/// VHT-LTF symbols by streams (table 21-13).
pub(super) const TRAINING_SYMBOLS: [u64; 8] = [1, 2, 4, 4, 6, 6, 8, 8];

/// A further BCC encoder is used beyond this many data bits per symbol (tables 21-30 to 21-61). The last rate of
/// one encoder is 540 Mbit/s with the long guard interval, 600 with the short one.
const BITS_PER_ENCODER: u64 = 2_160;

fn coded(vector: &TxVector, mcs: u8) -> Result<Coded, PhyError> {
    let streams = check_streams(vector.streams, STREAMS)?;
    let subcarriers = match vector.width {
        Width::Mhz20 => 52,
        Width::Mhz40 => 108,
        Width::Mhz80 => 234,
        Width::Mhz160 => 468,
        other => return Err(no_width(other, "20, 40, 80 and 160 MHz")),
    };
    let valid = |mcs: u8| Standard::Ac.has_mcs(mcs, vector.width, vector.streams);
    let highest = if valid(9) { 9 } else { 8 };
    let (bits, coding) = constellation::for_mcs(mcs)
        .filter(|_| valid(mcs))
        .ok_or(PhyError::Mcs {
            mcs,
            streams: vector.streams,
            mhz: vector.width.as_mhz(),
            highest,
            except: (0..highest).find(|mcs| !valid(*mcs)),
        })?;
    Ok((subcarriers * bits * streams, coding, ht::symbol(vector.guard)?))
}

/// TXTIME of clause 21.4.3 (eq. 21-107), BCC.
pub(super) fn format(vector: &TxVector, mcs: u8) -> Result<Format, PhyError> {
    let coded = coded(vector, mcs)?;
    let encoders = data_bits(coded).div_ceil(BITS_PER_ENCODER);
    let training = Duration::from_micros(4 * TRAINING_SYMBOLS[usize::from(vector.streams) - 1]);
    Ok(Format {
        preamble: BEFORE_TRAINING + training + SIG_B,
        second_signal: SIG_B,
        training,
        symbol: coded.2,
        twice_data_bits: 2 * data_bits(coded),
        overhead_bits: 16 + 6 * encoders,
        round_to: Duration::from_micros(4),
        extension: ofdm::extension(vector.signal_extension),
        rate: rate(coded),
    })
}
