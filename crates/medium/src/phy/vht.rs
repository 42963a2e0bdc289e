//! VHT: 802.11ac, single user (802.11-2020 clause 21).

use super::constellation::{self, CodingRate};
use super::{PhyError, PpduTime, TxVector, Width, check_streams, ht, no_width, ofdm};
use netburn_units::Duration;

/// The most streams.
const STREAMS: u8 = 8;

/// Legacy preamble and L-SIG (20 µs), VHT-SIG-A (8), VHT-STF (4).
const BEFORE_TRAINING: Duration = Duration::from_micros(32);
/// VHT-SIG-B.
const SIG_B: Duration = Duration::from_micros(4);

/// VHT-LTF symbols by streams (table 21-13).
pub(super) const TRAINING_SYMBOLS: [u64; 8] = [1, 2, 4, 4, 6, 6, 8, 8];

/// A further BCC encoder is used beyond this many data bits per symbol (tables 21-30 to 21-61: the last rate of one
/// encoder is 540 Mbit/s with the long guard interval, 600 with the short one).
const BITS_PER_ENCODER: u64 = 2_160;

/// The combinations that tables 21-30 to 21-61 leave out below MCS 10, because coded or data bits per symbol and encoder
/// aren't whole: (width, MCS, streams).
const INVALID: [(Width, u8, &[u8]); 4] = [
    (Width::Mhz20, 9, &[1, 2, 4, 5, 7, 8]),
    (Width::Mhz80, 6, &[3, 7]),
    (Width::Mhz80, 9, &[6]),
    (Width::Mhz160, 9, &[3]),
];

pub(super) fn coded(vector: &TxVector, mcs: u8) -> Result<(u64, CodingRate, u64), PhyError> {
    let streams = check_streams(vector.streams, STREAMS)?;
    let subcarriers = match vector.width {
        Width::Mhz20 => 52,
        Width::Mhz40 => 108,
        Width::Mhz80 => 234,
        Width::Mhz160 => 468,
        other => return Err(no_width(other, "20, 40, 80 and 160 MHz")),
    };
    let hole = INVALID
        .iter()
        .find(|(width, _, streams)| *width == vector.width && streams.contains(&vector.streams))
        .map(|(_, mcs, _)| *mcs);
    let (bits, rate) = constellation::of(mcs)
        .filter(|_| mcs <= 9 && hole != Some(mcs))
        .ok_or(PhyError::Mcs {
            mcs,
            streams: vector.streams,
            mhz: vector.width.mhz(),
            highest: if hole == Some(9) { 8 } else { 9 },
            except: hole.filter(|mcs| *mcs < 9),
        })?;
    Ok((subcarriers * bits * streams, rate, ht::symbol(vector.guard)?))
}

/// TXTIME of clause 21.4.3 (eq. 21-107), BCC.
pub(super) fn ppdu(vector: &TxVector, mcs: u8, length: u64) -> Result<PpduTime, PhyError> {
    let (coded, (numerator, denominator), symbol) = coded(vector, mcs)?;
    let data_bits = coded * numerator / denominator;
    let encoders = data_bits.div_ceil(BITS_PER_ENCODER);
    let symbols = (8 * length + 16 + 6 * encoders).div_ceil(data_bits);
    let training = Duration::from_micros(4 * TRAINING_SYMBOLS[usize::from(vector.streams) - 1]);
    let data = Duration::from_nanos(symbol * symbols);
    Ok(PpduTime {
        preamble: BEFORE_TRAINING + training + SIG_B,
        second_signal: SIG_B,
        training,
        symbols,
        data,
        rounding: ht::rounding(data),
        extension: ofdm::extension(vector.signal_extension),
    })
}
