//! What the speed rating on a box probably means, and what of it a person gets.
//!
//! A rating such as `AC1750` adds up the highest rates of all the box's radios, each with all its streams, and rounds the sum, mostly up. Which
//! radios those are isn't said: [`decode`] tries every arrangement that is sold ([`mod@candidates`]), and takes the one that explains the figure with
//! the least that is unusual. [`mod@chain`] leads on from the box to the goodput that one of several stations gets; [`antennas`] reads
//! `3x3:2`.

pub mod antennas;
pub mod candidates;
pub mod chain;

pub use antennas::{Antennas, NoAntennas};
pub use chain::{Chain, chain};

use crate::config::{Band, RadioConfig, Rating, Standard, Width};
use candidates::candidates;
use netburn_units::BitRate;

/// What a rating probably means.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Decoded {
    /// The rating.
    pub rating: Rating,
    /// The boxes that it is the sum of: 1, or the nodes of a mesh.
    pub nodes: u32,
    /// How sure that is.
    pub certainty: Certainty,
    /// What is the most likely in each box.
    pub best: Layout,
    /// What else would explain the figure, the likelier first; at most four.
    pub alternatives: Vec<Layout>,
}

/// How sure a reading of a rating is. None is certain: makers say what they like.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Certainty {
    /// Others explain the figure as well.
    Guess,
    /// The usual arrangement for this figure, and no other comes near.
    Likely,
}

/// The radios of one box.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Layout {
    /// By rising band.
    pub radios: Vec<RatedRadio>,
}

/// A radio as a rating counts it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RatedRadio {
    /// Its band.
    pub band: Band,
    /// What it speaks.
    pub standard: Standard,
    /// Its streams.
    pub streams: u8,
    /// The width that the rating counts on.
    pub width: Width,
    /// Bits per subcarrier and stream: 6 for 64-QAM, 8 for 256-QAM, 10 for 1024-QAM, 12 for 4096-QAM.
    pub bits: u8,
}

/// A figure that no arrangement explains.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("{rating}{}: no radios that are sold add up to that; {hint}", if *.nodes > 1 { format!(" over {} nodes", .nodes) } else { String::new() })]
pub struct Unexplained {
    /// The rating.
    pub rating: Rating,
    /// The boxes.
    pub nodes: u32,
    hint: &'static str,
}

/// What `rating` probably means, as the sum over `nodes` boxes (at least 1).
///
/// # Errors
/// When no radios that are sold add up to it.
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
                1 => "if it is the sum over the boxes of a mesh, say how many",
                _ => "is the number of nodes right?",
            },
        });
    };
    let next = layouts.get(1).map_or(f64::INFINITY, |(_, penalty)| *penalty);
    Ok(Decoded {
        rating,
        nodes,
        certainty: if penalty < SURE && next > penalty + APART {
            Certainty::Likely
        } else {
            Certainty::Guess
        },
        best,
        alternatives: layouts
            .into_iter()
            .skip(1)
            .take_while(|(_, other)| *other < penalty + FAR)
            .take(4)
            .map(|(layout, _)| layout)
            .collect(),
    })
}

/// The penalty below which an arrangement is a usual one, how far the next must be, and how far it may be to be worth a word.
const SURE: f64 = 5.0;
const APART: f64 = 0.75;
const FAR: f64 = 3.0;

impl Layout {
    /// All radios' rates together in bit/s.
    #[must_use]
    pub fn sum(&self) -> BitRate {
        BitRate::from_bps(self.radios.iter().map(|radio| radio.rate().as_bps()).sum())
    }

    /// As access points are told apart: dual band, tri-band and so on by the number of radios.
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
    /// The highest rate of one stream in bit/s: coding rate 5/6, the shortest guard interval.
    #[must_use]
    pub const fn per_stream(&self) -> BitRate {
        self.of_streams(1)
    }

    /// The highest rate of all its streams in bit/s.
    #[must_use]
    pub const fn rate(&self) -> BitRate {
        self.of_streams(self.streams as u64)
    }

    const fn of_streams(&self, streams: u64) -> BitRate {
        let he = matches!(self.standard, Standard::Ax | Standard::Be);
        let subcarriers: u64 = match (self.width, he) {
            (Width::Mhz20, false) => 52,
            (Width::Mhz40, false) => 108,
            (Width::Mhz80, false) => 234,
            (_, false) => 468,
            (Width::Mhz20, true) => 234,
            (Width::Mhz40, true) => 468,
            (Width::Mhz80, true) => 980,
            (Width::Mhz160, true) => 1_960,
            (Width::Mhz320, true) => 3_920,
        };
        let symbol_nanos = if he { 13_600 } else { 3_600 };
        let bits = subcarriers * self.bits as u64 * streams;
        BitRate::from_bps(bits * 5 * 1_000_000_000 / (6 * symbol_nanos))
    }

    /// Whether the rating counts on more bits per symbol than the standard has: 256- and 1024-QAM in 802.11n, 1024-QAM in ac. Such rates need
    /// a client of the same maker.
    #[must_use]
    pub const fn beyond_standard(&self) -> bool {
        self.bits > standard_bits(self.standard)
    }

    /// The radio's settings, with what a rating doesn't say as usual for its band.
    #[must_use]
    pub fn settings(&self) -> RadioConfig {
        RadioConfig {
            width: self.width,
            streams: self.streams,
            ..RadioConfig::of_standard(self.band, self.standard)
        }
    }
}

/// The most bits per subcarrier and stream that a standard has.
const fn standard_bits(standard: Standard) -> u8 {
    match standard {
        Standard::Be => 12,
        Standard::Ax => 10,
        Standard::Ac => 8,
        _ => 6,
    }
}
