//! Interpretation of speed ratings, and the resulting goodput.
//!
//! A rating such as `AC1750` adds up the highest rates of all the device's radios, each with all
//! its streams. The sum is rounded, mostly up. [`decode`] tries all known combinations
//! ([`mod@candidates`]) and takes the most plausible one. [`mod@chain`] computes the goodput of one
//! of several stations, and [`relay`] that of a client two hops away; [`antennas`] parses `3x3:2`.

pub mod antennas;
pub mod candidates;
pub mod chain;
pub mod relay;

pub use antennas::{Antennas, ParseAntennasError};
pub use chain::{Chain, chain};
pub use relay::{TwoHops, two_hops};

use crate::config::{Band, RadioConfig, Rating, Standard, Width};
use candidates::candidates;
use netburn_units::BitRate;

/// Interpretation of a rating.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Decoded {
    /// The rating.
    pub rating: Rating,
    /// Number of devices in the sum: 1, or the nodes of a mesh.
    pub nodes: u32,
    /// Certainty of the interpretation.
    pub certainty: Certainty,
    /// Most plausible radios of each device.
    pub best: Layout,
    /// Other combinations with this sum, the more plausible first; at most four.
    pub alternatives: Vec<Layout>,
}

/// Certainty of an interpretation. None is certain, because ratings are marketing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Certainty {
    /// Other combinations are equally plausible.
    Guess,
    /// The usual combination for this rating, and the only plausible one.
    Likely,
}

/// Radios of one device.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Layout {
    /// By ascending band.
    pub radios: Vec<RatedRadio>,
}

/// A radio as counted in a rating.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RatedRadio {
    /// Band.
    pub band: Band,
    /// Standard.
    pub standard: Standard,
    /// Number of streams.
    pub streams: u8,
    /// Width that a client can use of it.
    pub width: Width,
    /// Width that the rating assumes, in MHz. Only for 240 MHz it differs from `width`, which is 160 MHz then: 802.11be uses
    /// 240 MHz in the 5 GHz band as 320 MHz of which a quarter is punctured, and hardly any client can.
    pub rated_mhz: u16,
    /// Bits per subcarrier and stream: 6 for 64-QAM, 8 for 256-QAM, 10 for 1024-QAM, 12 for 4096-QAM.
    pub bits: u8,
}

/// A rating without a matching combination.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("{rating}{}: no known combination of radios has this sum; {hint}", if *.nodes > 1 { format!(" over {} nodes", .nodes) } else { String::new() })]
pub struct Unexplained {
    /// The rating.
    pub rating: Rating,
    /// Number of devices.
    pub nodes: u32,
    hint: &'static str,
}

/// Interprets `rating` as the sum over `nodes` devices (at least 1).
///
/// # Errors
/// If no known combination of radios has this sum.
pub fn decode(rating: Rating, nodes: u32) -> Result<Decoded, Unexplained> {
    let nodes = nodes.max(1);
    let mut found = candidates(rating, nodes);
    found.sort_by(|a, b| a.penalty.total_cmp(&b.penalty));
    let mut layouts: Vec<(Layout, f64)> = Vec::new();
    for candidate in found {
        let known = layouts
            .iter()
            .any(|(layout, _)| layout.streams() == candidate.layout.streams());
        if !known {
            layouts.push((candidate.layout, candidate.penalty));
        }
    }
    let Some((best, penalty)) = layouts.first().cloned() else {
        return Err(Unexplained {
            rating,
            nodes,
            hint: match nodes {
                1 => "for a mesh, give the number of its nodes",
                _ => "check the number of nodes",
            },
        });
    };
    let next = layouts.get(1).map_or(f64::INFINITY, |(_, penalty)| *penalty);
    Ok(Decoded {
        rating,
        nodes,
        certainty: if penalty < LIKELY_PENALTY && next > penalty + MIN_SEPARATION {
            Certainty::Likely
        } else {
            Certainty::Guess
        },
        best,
        alternatives: layouts
            .into_iter()
            .skip(1)
            .take_while(|(_, other)| *other < penalty + MAX_SEPARATION)
            .take(4)
            .map(|(layout, _)| layout)
            .collect(),
    })
}

/// Maximum penalty of a likely combination, minimum distance of the next one, and maximum distance
/// of alternatives.
const LIKELY_PENALTY: f64 = 5.0;
const MIN_SEPARATION: f64 = 0.75;
const MAX_SEPARATION: f64 = 3.0;

impl Layout {
    /// Sum of the rates of all radios in bit/s.
    #[must_use]
    pub fn sum(&self) -> BitRate {
        BitRate::from_bps(self.radios.iter().map(|radio| radio.rate().as_bps()).sum())
    }

    /// Product category by the number of radios: dual band, tri-band and so on.
    #[must_use]
    pub const fn bands(&self) -> &'static str {
        match self.radios.len() {
            0 | 1 => "single band",
            2 => "dual band",
            3 => "tri-band",
            _ => "quad-band",
        }
    }

    fn streams(&self) -> Vec<(Band, u8)> {
        self.radios.iter().map(|radio| (radio.band, radio.streams)).collect()
    }
}

impl RatedRadio {
    /// Highest rate of one stream in bit/s: coding rate 5/6, the shortest guard interval.
    #[must_use]
    pub const fn per_stream(&self) -> BitRate {
        self.for_streams(1)
    }

    /// Highest rate of all its streams in bit/s.
    #[must_use]
    pub const fn rate(&self) -> BitRate {
        self.for_streams(self.streams as u64)
    }

    const fn for_streams(&self, streams: u64) -> BitRate {
        let he = matches!(self.standard, Standard::Ax | Standard::Be);
        // 802.11be, table 36-21: the RU of 240 MHz is 3 × 996 tones, each with 980 data subcarriers.
        let subcarriers: u64 = match (self.rated_mhz, he) {
            (20, false) => 52,
            (40, false) => 108,
            (80, false) => 234,
            (_, false) => 468,
            (20, true) => 234,
            (40, true) => 468,
            (mhz, true) => 980 * (mhz as u64 / 80),
        };
        let symbol_nanos = if he { 13_600 } else { 3_600 };
        let bits = subcarriers * self.bits as u64 * streams;
        BitRate::from_bps(bits * 5 * 1_000_000_000 / (6 * symbol_nanos))
    }

    /// Returns true if the rating assumes more bits per symbol than the standard has: 256- and
    /// 1024-QAM in 802.11n, 1024-QAM in ac. Such rates require a client of the same vendor.
    #[must_use]
    pub const fn beyond_standard(&self) -> bool {
        self.bits > standard_bits(self.standard)
    }

    /// Settings of the radio, with defaults of its band for everything else.
    #[must_use]
    pub fn settings(&self) -> RadioConfig {
        RadioConfig {
            width: self.width,
            streams: self.streams,
            ..RadioConfig::for_standard(self.band, self.standard)
        }
    }
}

/// Maximum number of bits per subcarrier and stream of a standard.
const fn standard_bits(standard: Standard) -> u8 {
    match standard {
        Standard::Be => 12,
        Standard::Ax => 10,
        Standard::Ac => 8,
        _ => 6,
    }
}
