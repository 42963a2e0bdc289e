//! From the rating to a user's goodput.

use super::{Antennas, RatedRadio, standard_bits};
use crate::aggregation::Limits;
use crate::config::{Aggregation, Band, Standard, Width};
use crate::edca::{AccessCategory, EdcaParameters, Timing};
use crate::phy::{Modulation, TxVector};
use crate::rate::RateSet;
use netburn_units::BitRate;

/// Steps from one radio's part of a rating to a station's goodput.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Chain {
    /// Part of the radio in the rating, in bit/s.
    pub rated: BitRate,
    /// Streams that both ends have.
    pub streams: u8,
    /// Width of both ends: the rating's.
    pub width: Width,
    /// Bits per subcarrier and stream in the standard.
    pub bits: u8,
    /// Highest PHY rate with these, in bit/s.
    pub phy: BitRate,
    /// Goodput in bit/s of packets of 1500 bytes at that rate, without other stations and without
    /// losses. Aggregates are full and take up to 4 ms, as with Linux drivers.
    pub goodput: BitRate,
    /// Share of one station if all are active, in bit/s.
    pub share: BitRate,
}

/// Computes the steps from `radio` to one of `stations` (at least 1) with the antennas `client`.
/// The client uses the radio's standard with the rating's width, and is near.
///
/// # Panics
/// Never: the vectors of ratings are the standard's.
#[must_use]
pub fn chain(radio: &RatedRadio, client: &Antennas, stations: u32) -> Chain {
    let streams = radio
        .streams
        .min(client.streams)
        .min(radio.standard.max_streams())
        .max(1);
    let bits = radio.bits.min(standard_bits(radio.standard));
    let vector = vector(radio, streams);
    let entry_rate = vector.rate().expect("a rating's radio is the standard's");
    let goodput = BitRate::from_bps(goodput(&vector, radio) as u64);
    Chain {
        rated: radio.rate(),
        streams,
        width: radio.width,
        bits,
        phy: entry_rate,
        goodput,
        share: BitRate::from_bps(goodput.as_bps() / u64::from(stations.max(1))),
    }
}

/// Fastest vector of the radio's standard with this number of streams.
fn vector(radio: &RatedRadio, streams: u8) -> TxVector {
    let highest = (0..=radio.standard.max_mcs())
        .rev()
        .find(|mcs| radio.standard.has_mcs(*mcs, radio.width, streams))
        .unwrap_or(0);
    TxVector {
        modulation: match radio.standard {
            Standard::Ac => Modulation::Vht { mcs: highest },
            Standard::Ax => Modulation::He { mcs: highest },
            Standard::Be => Modulation::Eht { mcs: highest },
            _ => Modulation::Ht { mcs: highest },
        },
        width: radio.width,
        guard: radio.standard.default_guard(),
        streams,
        signal_extension: radio.band == Band::Ghz2_4,
        short_preamble: false,
    }
}

fn goodput(vector: &TxVector, radio: &RatedRadio) -> f64 {
    let limits = Limits {
        ampdu: true,
        frames: u32::from(radio.standard.block_ack_window()),
        window: u32::from(radio.standard.block_ack_window()),
        time: Aggregation::default().time,
        bytes: match radio.standard {
            Standard::Ac => 1_048_575,
            Standard::Ax => 6_500_631,
            Standard::Be => 15_523_200,
            _ => 65_535,
        },
        amsdu: 0,
        tries: 1,
    };
    let timing = if radio.band == Band::Ghz2_4 {
        Timing::OFDM_2G
    } else {
        Timing::OFDM
    };
    let best_effort = &EdcaParameters::default_set(15)[AccessCategory::BestEffort.index()];
    let access = timing.aifs(best_effort.aifsn) + timing.slot * u64::from(best_effort.cw_min) / 2 + timing.sifs;
    let set = RateSet::up_to(vector, &limits, access);
    let fastest = set.entries().iter().rev().find(|entry| entry.vector == *vector);
    fastest.map_or(0.0, |entry| entry.goodput(1.0, 1.0))
}
