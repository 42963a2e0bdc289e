//! The Wi-Fi links of a run as the stations recorded them, and the standard, width and streams that explain their rates.

use netburn_medium::aggregation::mpdu::Limits;
use netburn_medium::config::{Band, Guard, Standard, Width};
use netburn_medium::phy::{Modulation, TxVector};
use netburn_medium::rate::RateSet;
use netburn_medium::signal::noise_dbm;
use netburn_record::row::{Bssid, LinkRow, Phy};
use netburn_units::Duration;
use std::collections::BTreeMap;

/// Samples of one station that are used. A sample each second gives 300 in five minutes.
const MAX_SAMPLES: usize = 4_096;
/// Different rates or modulations of one station that are kept. A standard has at most 14 per width and stream.
const MAX_DIFFERENT: usize = 128;
/// Time that a sender waits before and after a frame, for the comparison of rates.
const ACCESS: Duration = Duration::from_micros(127);
/// Most devices in homes have one or two streams, and most access points at most 80 MHz.
const USUAL_STREAMS: u8 = 2;
const USUAL_WIDTH: Width = Width::Mhz80;
/// Aggregates of all standards, for the comparison of rates.
const LIMITS: Limits = Limits {
    ampdu: true,
    frames: 64,
    window: 64,
    time: Duration::from_millis(4),
    bytes: 65_535,
    amsdu: 0,
    tries: 10,
};

/// Samples that a station recorded of its link.
#[derive(Debug, Clone, Default)]
pub(crate) struct LinkSamples {
    /// Signals in hundredths of a dBm.
    signals: Vec<i32>,
    /// Rates of the last frames in both directions, in bit/s, with their numbers.
    rates: BTreeMap<u64, u64>,
    /// Modulations of the last frames, with their numbers.
    modulations: BTreeMap<(Phy, u8, u32), u64>,
    frequency_mhz: Option<u32>,
    radio: Option<Bssid>,
}

/// The link of a station, as it recorded it.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Link {
    /// Median signal in dBm.
    pub signal_dbm: Option<f64>,
    /// Median rate of the last frames of both directions, in Mbit/s.
    pub rate_mbps: Option<f64>,
    /// Highest rate in Mbit/s that the median signal permits in the mode of the link, without interference.
    pub permitted_mbps: Option<f64>,
}

/// Standard, width and streams of a link.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Mode {
    /// Standard.
    pub standard: Standard,
    /// Channel width.
    pub width: Width,
    /// Spatial streams.
    pub streams: u8,
}

/// Source of the mode of a link.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ModeSource {
    /// The driver reported it.
    Reported,
    /// It is the mode whose rates are the recorded ones.
    Rates,
    /// Nothing was recorded.
    Assumed,
}

impl LinkSamples {
    /// Takes a sample.
    pub(crate) fn put(&mut self, row: &LinkRow) {
        if let Some(signal) = row.signal.filter(|_| self.signals.len() < MAX_SAMPLES) {
            self.signals.push(signal);
        }
        for rate in [row.rx_rate_bps, row.tx_rate_bps].into_iter().flatten() {
            count(&mut self.rates, rate);
        }
        for modulation in [row.rx, row.tx] {
            if let (Some(phy), Some(nss), Some(width)) = (modulation.phy, modulation.nss, modulation.width_mhz) {
                count(&mut self.modulations, (phy, nss, width));
            }
        }
        self.frequency_mhz = row.frequency_mhz.or(self.frequency_mhz);
        self.radio = row.bssid.or(self.radio);
    }

    /// True without a sample.
    pub(crate) fn is_empty(&self) -> bool {
        self.signals.is_empty() && self.rates.is_empty() && self.frequency_mhz.is_none()
    }

    /// Takes the samples of another run.
    pub(crate) fn add(&mut self, other: &LinkSamples) {
        let left = MAX_SAMPLES - self.signals.len();
        self.signals.extend(other.signals.iter().take(left));
        for (rate, times) in &other.rates {
            (0..*times).for_each(|_| count(&mut self.rates, *rate));
        }
        for (modulation, times) in &other.modulations {
            (0..*times).for_each(|_| count(&mut self.modulations, *modulation));
        }
        self.radio = self.radio.or(other.radio);
        self.frequency_mhz = self.frequency_mhz.or(other.frequency_mhz);
    }

    /// Median signal in dBm.
    pub(crate) fn signal_dbm(&self) -> Option<f64> {
        let mut signals = self.signals.clone();
        signals.sort_unstable();
        signals.get(signals.len() / 2).map(|signal| f64::from(*signal) / 100.0)
    }

    /// The link in a band.
    pub(crate) fn link(&self, band: Band) -> Link {
        let in_order = self
            .rates
            .iter()
            .flat_map(|(rate, count)| (0..*count).map(move |_| *rate));
        let all: u64 = self.rates.values().sum();
        let rate = in_order.skip((all / 2) as usize).map(mbps).next();
        let permitted = || {
            let (mode, _) = self.mode(band);
            let set = mode.rates(band, mode.standard.default_guard())?;
            let best = set.best(Some(self.signal_dbm()? - noise_dbm(mode.width)));
            Some(mbps(best.rate.as_bps()))
        };
        Link {
            signal_dbm: self.signal_dbm(),
            rate_mbps: rate,
            permitted_mbps: rate.and_then(|_| permitted()),
        }
    }

    /// Radio of the access point.
    pub(crate) fn radio(&self) -> Option<Bssid> {
        self.radio
    }

    /// Centre of the primary channel in MHz.
    pub(crate) fn frequency_mhz(&self) -> Option<u32> {
        self.frequency_mhz
    }

    /// Band of the channel.
    pub(crate) fn band(&self) -> Option<Band> {
        match self.frequency_mhz? {
            2_400..=2_500 => Some(Band::Ghz2_4),
            4_900..=5_924 => Some(Band::Ghz5),
            5_925..=7_125 => Some(Band::Ghz6),
            _ => None,
        }
    }

    /// Mode of the link in a band.
    pub(crate) fn mode(&self, band: Band) -> (Mode, ModeSource) {
        if let Some(mode) = self.reported(band) {
            return (mode, ModeSource::Reported);
        }
        match self.of_rates(band) {
            Some(mode) => (mode, ModeSource::Rates),
            None => (assumed(band), ModeSource::Assumed),
        }
    }

    /// The newest standard that the driver reported, with the largest width and number of streams.
    fn reported(&self, band: Band) -> Option<Mode> {
        let phy = self.modulations.keys().map(|key| key.0).max()?;
        let standard = match phy {
            Phy::Legacy => return None,
            Phy::Ht => Standard::N,
            Phy::Vht => Standard::Ac,
            Phy::He => Standard::Ax,
            Phy::Eht => Standard::Be,
        };
        let width = self.modulations.keys().map(|key| key.2).max()?;
        let width = WIDTHS
            .into_iter()
            .filter(|known| u32::from(known.as_mhz()) <= width)
            .max()?;
        let streams = self.modulations.keys().map(|key| key.1).max()?;
        let standard = if standard.in_band(band) {
            standard
        } else {
            band.default_standard()
        };
        Some(Mode {
            standard,
            width: width.min(standard.widest(band)),
            streams: streams.clamp(1, standard.max_streams()),
        })
    }

    /// The mode that has most of the recorded rates with one guard interval. Tables overlap: 802.11ax at 40 MHz with 1.6 µs
    /// has rates of 802.11ac at 80 MHz with 0.4 µs. Of equal ones it is a usual mode, then that whose best rate for the signal
    /// is nearest to the most frequent rate, then the one with the lower maximum.
    fn of_rates(&self, band: Band) -> Option<Mode> {
        let (usual, _) = self.rates.iter().max_by_key(|(_, count)| **count)?;
        let signal = self.signal_dbm();
        let is_rounded = self.rates.keys().all(|rate| rate % MEGABIT == 0);
        let tolerance = if is_rounded { MEGABIT * 6 / 10 } else { MEGABIT / 10 };
        let score = |(mode, guard): &(Mode, Guard)| {
            let set = mode.rates(band, *guard)?;
            let known = |rate: u64| {
                let same = |own: u64| own.abs_diff(rate) <= tolerance;
                set.entries().iter().any(|entry| same(entry.rate.as_bps()))
            };
            let own = self.rates.iter().filter(|(rate, _)| known(**rate));
            let explained: u64 = own.map(|(_, count)| count).sum();
            let best = signal.map(|signal| set.best(Some(signal - noise_dbm(mode.width))).rate.as_bps());
            let highest = set.entries().last().map_or(0, |entry| entry.rate.as_bps());
            (explained > 0).then(|| {
                (
                    std::cmp::Reverse(explained),
                    mode.streams > USUAL_STREAMS || mode.width > USUAL_WIDTH,
                    *guard != mode.standard.default_guard(),
                    best.map(|best| best.abs_diff(*usual)),
                    highest,
                )
            })
        };
        let candidates = modes(band)
            .into_iter()
            .flat_map(|mode| GUARDS.map(|guard| (mode, guard)));
        let possible = candidates.filter(|(mode, guard)| mode.standard.has_guard(*guard));
        let scored = possible.filter_map(|candidate| Some((score(&candidate)?, candidate.0)));
        scored.min_by_key(|(score, _)| *score).map(|(_, mode)| mode)
    }
}

/// Drivers report rates in units of 0.1 Mbit/s or, on some systems, of 1 Mbit/s.
const MEGABIT: u64 = 1_000_000;
const GUARDS: [Guard; 4] = [Guard::Ns400, Guard::Ns800, Guard::Ns1600, Guard::Ns3200];
const WIDTHS: [Width; 5] = [Width::Mhz20, Width::Mhz40, Width::Mhz80, Width::Mhz160, Width::Mhz320];

/// Mode of a station that recorded nothing: two streams of the band's usual standard.
fn assumed(band: Band) -> Mode {
    let standard = band.default_standard();
    Mode {
        standard,
        width: band.default_width(standard),
        streams: 2,
    }
}

/// Modes of common stations, the oldest first.
fn modes(band: Band) -> Vec<Mode> {
    let mut modes = Vec::new();
    for standard in [Standard::N, Standard::Ac, Standard::Ax, Standard::Be] {
        for width in WIDTHS {
            for streams in 1..=4 {
                if standard.in_band(band) && width <= standard.widest(band) {
                    modes.push(Mode {
                        standard,
                        width,
                        streams,
                    });
                }
            }
        }
    }
    modes
}

impl Mode {
    /// Rates of the mode with this guard interval; `None` if the standard has no such combination.
    fn rates(&self, band: Band, guard: Guard) -> Option<RateSet> {
        let Mode {
            standard,
            width,
            streams,
        } = *self;
        let mcs = (0..=standard.max_mcs())
            .rev()
            .find(|mcs| standard.has_mcs(*mcs, width, streams))?;
        let vector = TxVector {
            modulation: match standard {
                Standard::N => Modulation::Ht { mcs },
                Standard::Ac => Modulation::Vht { mcs },
                Standard::Ax => Modulation::He { mcs },
                Standard::Be => Modulation::Eht { mcs },
                Standard::A | Standard::B | Standard::G => return None,
            },
            width,
            guard,
            streams,
            signal_extension: band == Band::Ghz2_4,
            short_preamble: false,
        };
        vector.rate().ok()?;
        Some(RateSet::up_to(&vector, &LIMITS, ACCESS))
    }
}

fn mbps(bps: u64) -> f64 {
    bps as f64 / 1e6
}

fn count<K: Ord>(counts: &mut BTreeMap<K, u64>, key: K) {
    if counts.len() < MAX_DIFFERENT || counts.contains_key(&key) {
        *counts.entry(key).or_default() += 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The station uses the best rate for its signal, and at times the next one. Modes with the same rates at this signal are
    /// equally good, so the expected rate decides.
    #[test]
    fn the_mode_has_the_rate_of_the_link() {
        let band = Band::Ghz5;
        let usual = modes(band).into_iter().filter(|mode| mode.streams <= USUAL_STREAMS);
        let usual = usual.filter(|mode| mode.width <= USUAL_WIDTH && mode.standard <= Standard::Ax);
        let cases = usual.flat_map(|mode| GUARDS.map(|guard| (mode, guard)));
        let (mut all, mut wrong) = (0, Vec::new());
        for (truth, guard) in cases.filter(|(mode, guard)| mode.standard.has_guard(*guard)) {
            let Some(set) = truth.rates(band, guard) else { continue };
            for signal in (-80..=-45).step_by(5) {
                let at = |mode: &Mode, set: &RateSet| set.best(Some(f64::from(signal) - noise_dbm(mode.width))).rate;
                let best = at(&truth, &set).as_bps();
                let mut link = LinkSamples {
                    signals: vec![signal * 100],
                    ..LinkSamples::default()
                };
                link.rates.insert(best, 30);
                let below = set
                    .entries()
                    .iter()
                    .map(|entry| entry.rate.as_bps())
                    .filter(|rate| *rate < best);
                link.rates.extend(below.max().map(|rate| (rate, 10)));
                let (found, _) = link.mode(band);
                let own = found.rates(band, found.standard.default_guard()).expect("it is a mode");
                let own = at(&found, &own).as_bps();
                all += 1;
                // The long guard intervals of a mode have 0.8 to 0.9 of its usual rates.
                if libm::fabs(libm::log(own as f64 / best as f64)) > 0.25 {
                    wrong.push((truth, guard, signal, found));
                }
                assert!(found.streams <= USUAL_STREAMS, "{truth:?} {signal} {found:?}");
            }
        }
        assert!(
            all > 100 && wrong.len() * 20 <= all,
            "{} of {all}: {wrong:?}",
            wrong.len()
        );
    }
}
