//! Rate of a frame (`enum nl80211_rate_info`).

use super::attribute::Attributes;
use super::format::rate;
use crate::wifi::{Generation, Rate};

impl Rate {
    /// Decodes the attributes of `NL80211_STA_INFO_TX_BITRATE` or `NL80211_STA_INFO_RX_BITRATE`.
    #[must_use]
    pub fn decode(from: Attributes<'_>) -> Rate {
        // Drivers omit the 16-bit attribute for rates that exceed it.
        let steps = from
            .u32(rate::BITRATE32)
            .or_else(|| from.u16(rate::BITRATE).map(u32::from));
        let bps = steps.map(|steps| u64::from(steps) * 100_000);
        // Legacy rates have no MCS. The newest generation is tried first.
        let (generation, mcs) = [
            (Generation::Eht, rate::EHT_MCS),
            (Generation::He, rate::HE_MCS),
            (Generation::Vht, rate::VHT_MCS),
            (Generation::Ht, rate::MCS),
        ]
        .into_iter()
        .find_map(|(generation, kind)| Some((Some(generation), Some(from.u8(kind)?))))
        .unwrap_or((bps.map(|_| Generation::Legacy), None));
        let (nss, guard_ns) = match generation {
            None | Some(Generation::Legacy) => (None, None),
            Some(Generation::Ht) => (mcs.and_then(ht_streams), Some(short_or_long(from))),
            Some(Generation::Vht) => (from.u8(rate::VHT_NSS), Some(short_or_long(from))),
            Some(Generation::He) => (from.u8(rate::HE_NSS), from.u8(rate::HE_GI).and_then(guard)),
            Some(Generation::Eht) => (from.u8(rate::EHT_NSS), from.u8(rate::EHT_GI).and_then(guard)),
        };
        Rate {
            bps,
            generation,
            mcs,
            nss,
            width_mhz: bps.and_then(|_| width(from)),
            guard_ns,
        }
    }
}

fn short_or_long(from: Attributes<'_>) -> u32 {
    if from.has(rate::SHORT_GI) { 400 } else { 800 }
}

/// HE and EHT have the same codes of guard intervals.
fn guard(code: u8) -> Option<u32> {
    [800, 1600, 3200].get(usize::from(code)).copied()
}

fn ht_streams(mcs: u8) -> Option<u8> {
    match mcs {
        0..=31 => Some(mcs / 8 + 1),
        // The 6 Mbit/s rate in a duplicate of 20 MHz.
        32 => Some(1),
        _ => None,
    }
}

/// Without a width attribute, the width is 20 MHz; a resource unit has no width attribute either.
fn width(from: Attributes<'_>) -> Option<u32> {
    let marked = [
        (rate::WIDTH_320, 320),
        (rate::WIDTH_160, 160),
        (rate::WIDTH_80P80, 160),
        (rate::WIDTH_80, 80),
        (rate::WIDTH_40, 40),
        (rate::WIDTH_10, 10),
        (rate::WIDTH_5, 5),
    ];
    if let Some((_, width)) = marked.into_iter().find(|(kind, _)| from.has(*kind)) {
        return Some(width);
    }
    // Resource units of 242, 484, 996, 2×996 and 4×996 tones are whole channels.
    let unit = |kind, whole: [(u8, u32); 5]| {
        let unit = from.u8(kind)?;
        Some(
            whole
                .into_iter()
                .find(|(code, _)| *code == unit)
                .map(|(_, width)| width),
        )
    };
    unit(rate::EHT_RU_ALLOC, [(5, 20), (6, 40), (8, 80), (11, 160), (15, 320)])
        .or_else(|| unit(rate::HE_RU_ALLOC, [(3, 20), (4, 40), (5, 80), (6, 160), (6, 160)]))
        .unwrap_or(Some(20))
}
