//! EHT: 802.11be, EHT MU format to one user over the full width (802.11be clause 36), LDPC.

use super::constellation::{self, CodingRate};
use super::{PhyError, PpduTime, TxVector, check_streams, he, ofdm};
use netburn_units::Duration;

/// The most streams.
const STREAMS: u8 = 8;

/// Legacy preamble and L-SIG (20 µs), RL-SIG (4), U-SIG (8), EHT-STF (4).
const BEFORE_SIG: Duration = Duration::from_micros(36);

/// EHT-SIG to one user: common field 20 bits, user field 22, CRC 4, tail 6 (clause 36.3.12.8).
const SIG_BITS: u64 = 52;

pub(super) fn coded(vector: &TxVector, mcs: u8) -> Result<(u64, CodingRate, u64), PhyError> {
    let streams = check_streams(vector.streams, STREAMS)?;
    let subcarriers = he::subcarriers(vector.width).unwrap_or(3_920);
    let (bits, rate) = constellation::of(mcs).ok_or(PhyError::Mcs {
        mcs,
        streams: vector.streams,
        mhz: vector.width.mhz(),
        highest: 13,
        except: None,
    })?;
    Ok((subcarriers * bits * streams, rate, he::symbol(vector.guard)?))
}

/// TXTIME of clause 36.4.3, without packet extension.
pub(super) fn ppdu(vector: &TxVector, mcs: u8, length: u64) -> Result<PpduTime, PhyError> {
    let (coded, rate, symbol) = coded(vector, mcs)?;
    let training = he::training(vector);
    let sig = sig(mcs);
    let symbols = he::symbols(coded, rate, length);
    Ok(PpduTime {
        preamble: BEFORE_SIG + sig + training,
        second_signal: sig,
        training,
        symbols,
        data: Duration::from_nanos(symbol * symbols),
        rounding: Duration::ZERO,
        extension: ofdm::extension(vector.signal_extension),
    })
}

/// EHT-SIG, sent no faster than the data: MCS 0 carries 26 bits in a symbol of 4 µs, MCS 1 carries 52.
fn sig(mcs: u8) -> Duration {
    let bits = if mcs == 0 { 26 } else { 52 };
    Duration::from_micros(4 * SIG_BITS.div_ceil(bits))
}
