//! EHT: 802.11be, EHT MU format to one user over the full width (802.11be clause 36), LDPC.

use super::constellation;
use super::{Coded, Format, PhyError, TxVector, check_streams, he};
use netburn_units::Duration;

/// Maximum number of streams.
const STREAMS: u8 = 8;

/// Legacy preamble and L-SIG (20 µs), RL-SIG (4), U-SIG (8), EHT-STF (4).
const BEFORE_SIG: Duration = Duration::from_micros(36);

/// EHT-SIG to one user: common field 20 bits, user field 22, CRC 4, tail 6 (clause 36.3.12.8).
const SIG_BITS: u64 = 52;

fn coded(vector: &TxVector, mcs: u8) -> Result<Coded, PhyError> {
    let streams = check_streams(vector.streams, STREAMS)?;
    let subcarriers = he::subcarriers(vector.width).unwrap_or(3_920);
    let (bits, coding) = constellation::for_mcs(mcs).ok_or(PhyError::Mcs {
        mcs,
        streams: vector.streams,
        mhz: vector.width.as_mhz(),
        highest: 13,
        except: None,
    })?;
    Ok((subcarriers * bits * streams, coding, he::symbol(vector.guard)?))
}

/// TXTIME of clause 36.4.3, without packet extension.
pub(super) fn format(vector: &TxVector, mcs: u8) -> Result<Format, PhyError> {
    he::full_width(vector, coded(vector, mcs)?, BEFORE_SIG, sig(mcs))
}

/// EHT-SIG, sent at most as fast as the data: MCS 0 carries 26 bits in a symbol of 4 µs, MCS 1
/// carries 52.
fn sig(mcs: u8) -> Duration {
    let bits = if mcs == 0 { 26 } else { 52 };
    Duration::from_micros(4 * SIG_BITS.div_ceil(bits))
}
