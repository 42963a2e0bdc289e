//! Known combinations of radios, and their plausibility.

use super::{Layout, RatedRadio};
use crate::config::{Band, Rating, Standard, Width};

/// A combination of radios with the sum of a rating.
#[derive(Debug, Clone)]
pub struct Candidate {
    /// Radios.
    pub layout: Layout,
    /// Penalty of an unusual combination: lower is more plausible. One unit roughly halves the
    /// frequency.
    pub penalty: f64,
}

/// A type of radio.
#[derive(Debug, Clone, Copy)]
struct Kind {
    band: Band,
    standard: Standard,
    width: Width,
    rated_mhz: u16,
    bits: u8,
    penalty: f64,
}

const fn kind(band: Band, standard: Standard, width: Width, bits: u8, penalty: f64) -> Kind {
    Kind {
        band,
        standard,
        width,
        rated_mhz: width.as_mhz(),
        bits,
        penalty,
    }
}

/// The same for a rating that assumes another width.
const fn rated(mhz: u16, kind: Kind) -> Kind {
    Kind { rated_mhz: mhz, ..kind }
}

/// 150 Mbit/s per stream.
const N_2G: &[Kind] = &[kind(Band::Ghz2_4, Standard::N, Width::Mhz40, 6, 0.0)];
const N_5G: &[Kind] = &[kind(Band::Ghz5, Standard::N, Width::Mhz40, 6, 0.0)];
/// 150, 200 and 250 Mbit/s per stream: the latter two exceed the standard.
const AC_2G: &[Kind] = &[
    kind(Band::Ghz2_4, Standard::N, Width::Mhz40, 6, 0.0),
    kind(Band::Ghz2_4, Standard::N, Width::Mhz40, 8, 0.5),
    kind(Band::Ghz2_4, Standard::N, Width::Mhz40, 10, 1.0),
];
/// 433, 542 (beyond the standard) and 867 Mbit/s per stream.
const AC_5G: &[Kind] = &[
    kind(Band::Ghz5, Standard::Ac, Width::Mhz80, 8, 0.0),
    kind(Band::Ghz5, Standard::Ac, Width::Mhz80, 10, 1.0),
    kind(Band::Ghz5, Standard::Ac, Width::Mhz160, 8, 3.0),
];
/// 287 Mbit/s per stream, or 802.11n's.
const AX_2G: &[Kind] = &[
    kind(Band::Ghz2_4, Standard::Ax, Width::Mhz40, 10, 0.0),
    kind(Band::Ghz2_4, Standard::N, Width::Mhz40, 6, 2.0),
];
/// 600 and 1201 Mbit/s per stream.
const AX_5G: &[Kind] = &[
    kind(Band::Ghz5, Standard::Ax, Width::Mhz80, 10, 0.0),
    kind(Band::Ghz5, Standard::Ax, Width::Mhz160, 10, 0.3),
];
/// 1201 and 600 Mbit/s per stream.
const AX_6G: &[Kind] = &[
    kind(Band::Ghz6, Standard::Ax, Width::Mhz160, 10, 0.0),
    kind(Band::Ghz6, Standard::Ax, Width::Mhz80, 10, 2.0),
];
/// 344 Mbit/s per stream.
const BE_2G: &[Kind] = &[kind(Band::Ghz2_4, Standard::Be, Width::Mhz40, 12, 0.0)];
/// 721, 1441 and 2161 Mbit/s per stream.
const BE_5G: &[Kind] = &[
    kind(Band::Ghz5, Standard::Be, Width::Mhz160, 12, 0.0),
    rated(240, kind(Band::Ghz5, Standard::Be, Width::Mhz160, 12, 0.7)),
    kind(Band::Ghz5, Standard::Be, Width::Mhz80, 12, 1.0),
];
/// 2882 and 1441 Mbit/s per stream.
const BE_6G: &[Kind] = &[
    kind(Band::Ghz6, Standard::Be, Width::Mhz320, 12, 0.0),
    kind(Band::Ghz6, Standard::Be, Width::Mhz160, 12, 1.5),
];

/// Maximum number of streams of one radio.
const STREAMS: u8 = 4;
/// Tolerance of a rating above the sum, and below it, in percent.
const ABOVE: f64 = 6.5;
const BELOW: f64 = 2.5;

/// All combinations that `nodes` devices together could have for this rating.
#[must_use]
pub fn candidates(rating: Rating, nodes: u32) -> Vec<Candidate> {
    let (two, five, six, tri_from) = match rating.letters {
        "N" => (N_2G, N_5G, &[][..], u32::MAX),
        "AC" => (AC_2G, AC_5G, &[][..], 3_200),
        "AX" => (AX_2G, AX_5G, &[][..], 6_600),
        "AXE" => (AX_2G, AX_5G, AX_6G, 0),
        _ => (BE_2G, BE_5G, BE_6G, 9_000),
    };
    // AXE names the 6 GHz band.
    let without_six = rating.letters != "AXE";
    let share = f64::from(rating.number) / f64::from(nodes.max(1));
    let mut found = Vec::new();
    let mut consider = |radios: &[(Kind, u8)]| {
        let layout = layout(radios);
        let sum = layout.sum().as_mbps_f64();
        let above = (share - sum) / share * 100.0;
        if !(-BELOW..=ABOVE).contains(&above) {
            return;
        }
        // Usually rounded up.
        let off = if above >= 0.0 { 0.6 * above } else { -2.0 * above };
        let penalty = off
            + unusual(rating.letters, radios)
            + number_of_radios(rating.letters, radios, share, f64::from(tri_from));
        found.push(Candidate { layout, penalty });
    };
    for two in radios(two) {
        if rating.letters == "N" {
            consider(&[two]);
        }
        for (place, first) in radios(five).enumerate() {
            if without_six {
                consider(&[two, first]);
            }
            for third in radios(six) {
                consider(&[two, first, third]);
            }
            // Two radios in the 5 GHz band, each pair once.
            for second in radios(five).take(place + 1) {
                if rating.letters == "N" {
                    continue;
                }
                if without_six {
                    consider(&[two, second, first]);
                }
                for third in radios(six) {
                    consider(&[two, second, first, third]);
                }
            }
        }
    }
    found
}

fn radios(kinds: &[Kind]) -> impl Iterator<Item = (Kind, u8)> + '_ {
    kinds
        .iter()
        .flat_map(|kind| (1..=STREAMS).map(move |streams| (*kind, streams)))
}

fn layout(radios: &[(Kind, u8)]) -> Layout {
    let mut radios: Vec<RatedRadio> = radios
        .iter()
        .map(|(kind, streams)| RatedRadio {
            band: kind.band,
            standard: kind.standard,
            streams: *streams,
            width: kind.width,
            rated_mhz: kind.rated_mhz,
            bits: kind.bits,
        })
        .collect();
    radios.sort_by_key(|radio| (radio.band, radio.streams, radio.rated_mhz));
    Layout { radios }
}

/// Penalty of the radios, each and together.
fn unusual(letters: &str, radios: &[(Kind, u8)]) -> f64 {
    let (two, two_streams) = radios[0];
    let mut penalty: f64 = radios.iter().map(|(kind, _)| kind.penalty).sum();
    let Some((five, five_streams)) = radios.get(1).copied() else {
        // A single band with four streams was never common.
        return penalty + f64::from(two_streams.saturating_sub(3)) * 4.0;
    };
    let apart = f64::from(two_streams.abs_diff(five_streams));
    penalty += match letters {
        // Devices were built around one number of streams.
        "N" | "AC" => 4.0 * apart,
        // Both kinds were common: AXE7800 with 2 and 4 streams in the lower bands, AXE6600 with 2 and 2.
        "AXE" => 0.25 * apart,
        // The lower band has fewer.
        _ if two_streams <= five_streams => 0.5 * apart,
        _ => 2.0 * apart,
    };
    if letters == "N" && two_streams == 1 {
        // Dual-band devices had two streams.
        penalty += 3.0;
    }
    if letters == "AC" {
        // QAM beyond the standard occurs with three and more streams, in both bands: 200 with 433,
        // 250 with 542.
        penalty += match (two.bits, five.bits) {
            (6, 10) => 1.5,
            (8, 10) => 0.0,
            (10, 8) => 1.0,
            _ => 0.0,
        };
        penalty += if five.bits == 10 && five_streams < 3 { 3.0 } else { 0.0 };
        penalty += if two.bits == 6 && two_streams == 4 { 1.5 } else { 0.0 };
    }
    // Three streams disappeared after 802.11ac.
    if matches!(letters, "AX" | "AXE" | "BE") {
        penalty += 1.2 * radios.iter().filter(|(_, streams)| *streams == 3).count() as f64;
    }
    // Devices for 6 GHz have 80 MHz in the 5 GHz band only with few streams.
    if letters == "AXE" && five.width == Width::Mhz80 && five_streams > 2 {
        penalty += 1.0;
    }
    // A second radio of a band, and one of another band, are similar, and no device with three had
    // only one stream.
    for (other, streams) in radios.iter().skip(2) {
        penalty += match letters {
            "AC" => 1.5,
            // The first radios for 6 GHz had two streams.
            "AXE" if *streams > five_streams => 0.75,
            "AXE" => 0.25,
            _ => 0.5,
        } * f64::from(streams.abs_diff(five_streams));
        penalty += if two_streams.min(*streams).min(five_streams) == 1 {
            2.0
        } else {
            0.0
        };
        if other.band == five.band && other.rated_mhz != five.rated_mhz {
            penalty += 0.7;
        }
    }
    penalty
}

/// Devices usually have three radios above a sum, two below it.
fn number_of_radios(letters: &str, radios: &[(Kind, u8)], share: f64, three_from: f64) -> f64 {
    // Three radios with four streams each are AXE11000, or BE22000 with 240 MHz.
    let four_from = if letters == "AXE" { 12_000.0 } else { 23_000.0 };
    match (radios.len(), share >= three_from) {
        (1 | 2, true) => 4.0,
        (3, false) => 3.0,
        (4, _) if share < four_from => 6.0,
        (3, true) if share >= four_from => 2.0,
        _ => 0.0,
    }
}
