//! Control frames and their rates.

use super::{Guard, Modulation, TxVector, Width, constellation, dsss, ofdm};
use netburn_units::Duration;

/// ACK and CTS, in bytes with FCS (802.11-2020 figures 9-34 and 9-35).
pub const ACK: u64 = 14;
/// CTS.
pub const CTS: u64 = 14;
/// RTS (figure 9-33).
pub const RTS: u64 = 20;

/// A compressed BlockAck whose bitmap covers `window` MPDUs: 24 bytes and the bitmap (table 9-28c: 64, 256, 512 or 1024 bits).
#[must_use]
pub const fn block_ack(window: u32) -> u64 {
    24 + match window {
        0..=64 => 8,
        65..=256 => 32,
        257..=512 => 64,
        _ => 128,
    }
}

/// Vector of the response to a PPDU, at the highest mandatory rate that is not faster than the
/// PPDU. The mandatory rates are 6, 12 and 24 Mbit/s, for DSSS 1, 2, 5.5 and 11. The PPDU's rate is
/// its non-HT reference rate of table 10-10 (802.11-2020 clause 10.6.6.5.2).
#[must_use]
pub fn vector_for(answered: &TxVector) -> TxVector {
    let modulation = match answered.modulation {
        Modulation::Dsss(rate) => Modulation::Dsss(rate),
        Modulation::Ofdm(rate) => Modulation::Ofdm(basic(rate)),
        Modulation::Ht { mcs } | Modulation::Vht { mcs } | Modulation::He { mcs } | Modulation::Eht { mcs } => {
            Modulation::Ofdm(basic(reference(mcs)))
        }
    };
    legacy(modulation, answered)
}

/// Vector of a frame in legacy format with the band and the preamble of `like`.
#[must_use]
pub fn legacy(modulation: Modulation, like: &TxVector) -> TxVector {
    TxVector {
        modulation,
        width: Width::Mhz20,
        guard: Guard::Ns800,
        streams: 1,
        signal_extension: like.signal_extension,
        short_preamble: like.short_preamble,
    }
}

/// Vector of the CTS-to-self, or of RTS and CTS, ahead of a PPDU that 802.11b stations can't decode; `None` if they can. The
/// rate is the highest basic one that is not faster than the PPDU (clause 10.6.6.2; `rate_fixup_ratelist` of mac80211), with 1,
/// 2, 5.5 and 11 Mbit/s as the basic rates, as hostapd sets them by default.
#[must_use]
pub fn protection(protected: &TxVector) -> Option<TxVector> {
    if matches!(protected.modulation, Modulation::Dsss(_)) {
        return None;
    }
    let rate = protected.rate().ok()?;
    let mut basic = dsss::Rate::ALL.into_iter().rev();
    let basic = basic.find(|basic| basic.rate() <= rate).unwrap_or(dsss::Rate::M1);
    Some(legacy(Modulation::Dsss(basic), protected))
}

/// Duration of a control frame of `bytes`.
#[must_use]
pub fn duration(vector: &TxVector, bytes: u64) -> Duration {
    vector.ppdu(bytes).expect("legacy formats have every rate").total()
}

/// The highest mandatory OFDM rate not above `rate` (clause 17.2.2.3).
fn basic(rate: ofdm::Rate) -> ofdm::Rate {
    match rate {
        ofdm::Rate::M6 | ofdm::Rate::M9 => ofdm::Rate::M6,
        ofdm::Rate::M12 | ofdm::Rate::M18 => ofdm::Rate::M12,
        _ => ofdm::Rate::M24,
    }
}

/// The non-HT reference rate (table 10-10): same constellation and coding rate; 64-QAM 5/6 and beyond count as 54 Mbit/s.
fn reference(mcs: u8) -> ofdm::Rate {
    match constellation::for_mcs(mcs) {
        Some((1, _)) => ofdm::Rate::M6,
        Some((2, (1, 2))) => ofdm::Rate::M12,
        Some((2, _)) => ofdm::Rate::M18,
        Some((4, (1, 2))) => ofdm::Rate::M24,
        Some((4, _)) => ofdm::Rate::M36,
        Some((6, (2, 3))) => ofdm::Rate::M48,
        _ => ofdm::Rate::M54,
    }
}

/// Lowest basic rate of the band, which determines EIFS (clause 10.3.2.3.7).
#[must_use]
pub fn lowest(two_point_four_with_dsss: bool) -> Modulation {
    if two_point_four_with_dsss {
        Modulation::Dsss(dsss::Rate::M1)
    } else {
        Modulation::Ofdm(ofdm::Rate::M6)
    }
}
