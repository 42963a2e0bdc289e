//! A link: common capabilities of both ends, and the rates that the signal permits.

use super::{PlacedRadio, WifiStation};
use crate::error::NetworkError;
use netburn_medium::aggregation::Limits;
use netburn_medium::air::LinkConfig;
use netburn_medium::config::{Band, Guard, LinkQuality, RadioConfig, RateControl, Standard, Width};
use netburn_medium::phy::{Modulation, PhyError, TxVector, dsss, ofdm};
use netburn_medium::rate::{RateChoice, RateSet};
use netburn_medium::signal::{self, PathLoss, TooWeak};
use netburn_scenario::plan::Station;
use netburn_units::{BitRate, Dbm, Duration};

/// Choice of the rate of a link whose quality is not an MCS.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Control {
    /// All frames have this MCS, whatever the signal.
    Mcs(u8),
    /// The rate follows the signal.
    By(RateControl),
}

impl Control {
    pub(super) fn for_station(station: &Station) -> Self {
        match station.air.fixed_mcs {
            Some(mcs) => Control::Mcs(mcs),
            None => Control::By(station.air.rate_control),
        }
    }
}

/// Common capabilities of both ends of a link.
#[derive(Debug, Clone)]
pub(crate) struct Link {
    pub(crate) standard: Standard,
    band: Band,
    power: Dbm,
    /// Fastest common vector.
    fastest: TxVector,
    limits: Limits,
}

/// Average time that a sender waits before and after a frame; sufficient for a comparison of rates.
const ACCESS: Duration = Duration::from_micros(127);

/// Common standard of a radio and a station with the standard `station` (default: the radio's).
pub(super) fn common_standard(station: Option<Standard>, radio: &RadioConfig) -> Option<Standard> {
    let Some(station) = station else {
        return Some(radio.standard);
    };
    let supports = |standard: Standard| match standard {
        Standard::B | Standard::G => radio.band == Band::Ghz2_4,
        Standard::A => radio.band == Band::Ghz5,
        Standard::N | Standard::Ac => radio.band != Band::Ghz6,
        Standard::Ax | Standard::Be => true,
    };
    if !supports(station) || !supports(radio.standard) {
        return None;
    }
    let newest = station.generation().min(radio.standard.generation());
    let fits = |standard: &Standard| standard.in_band(radio.band) && standard.generation() <= newest;
    Standard::ALL
        .into_iter()
        .filter(fits)
        .max_by_key(|standard| standard.generation())
}

impl Link {
    /// Link of a station with a radio. The signal may be too weak: see [`too_weak`](Self::too_weak).
    ///
    /// # Errors
    /// If they have no standard in common, or if the link does not have the MCS.
    pub(super) fn between(station: &Station, radio: &PlacedRadio, quality: &LinkQuality) -> Result<Self, NetworkError> {
        let link = Link::at_any_quality(station, radio)?;
        let fixed = match quality {
            LinkQuality::Mcs(mcs) => Some(*mcs),
            _ => station.air.fixed_mcs,
        };
        if let Some(mcs) = fixed {
            link.check_mcs(mcs).map_err(|reason| NetworkError::Phy {
                subject: format!("station.{} with {}", station.name, link.standard.name()),
                reason,
            })?;
        }
        Ok(link)
    }

    /// The same without a check of the quality.
    pub(super) fn at_any_quality(station: &Station, radio: &PlacedRadio) -> Result<Self, NetworkError> {
        let config = &radio.config;
        let standard = common_standard(station.air.standard, config).ok_or_else(|| NetworkError::NoCommonStandard {
            station: station.name.clone(),
            standard: station.air.standard.map_or("nothing", |standard| standard.name()),
            joins: radio.name.to_string(),
            radios: format!("it supports {}", config.standard.name()),
        })?;
        Ok(Link {
            standard,
            band: config.band,
            power: config.power,
            fastest: fastest(standard, config, station.air.streams),
            limits: limits(standard, config),
        })
    }

    /// Link of two radios of access points. The maximum rate is what both have. `None` without a
    /// common standard.
    pub(super) fn between_radios(own: &PlacedRadio, parent: &PlacedRadio) -> Option<Self> {
        let config = &parent.config;
        let standard = common_standard(Some(own.config.standard), config)?;
        let narrow = RadioConfig {
            width: config.width.min(own.config.width),
            ..config.clone()
        };
        Some(Link {
            standard,
            band: config.band,
            power: config.power,
            fastest: fastest(standard, &narrow, own.config.streams),
            limits: limits(standard, config),
        })
    }

    /// Checks that the link has the MCS, or a sufficient signal in both directions.
    ///
    /// # Errors
    /// If it hasn't, with the reason.
    pub(super) fn check_signal(&self, quality: &LinkQuality, signal_up: Option<Dbm>) -> Result<(), String> {
        if let LinkQuality::Mcs(mcs) = quality {
            return self.check_mcs(*mcs).map_err(|reason| reason.to_string());
        }
        match self.too_weak(quality, signal_up) {
            Some(reason) => Err(reason.to_string()),
            None => Ok(()),
        }
    }

    /// Signal of one direction that is too weak for the slowest rate; `None` if both suffice, or if the quality is an
    /// MCS.
    pub(crate) fn too_weak(&self, quality: &LinkQuality, signal_up: Option<Dbm>) -> Option<TooWeak> {
        if let LinkQuality::Mcs(_) = quality {
            return None;
        }
        let slowest = self.slowest();
        let down = self.signal_dbm(quality).unwrap_or(0.0);
        let signals = [Some(down), signal_up.map(Dbm::as_dbm_f64)].into_iter().flatten();
        signals
            .into_iter()
            .find_map(|signal| signal::check(signal, &slowest).err())
    }

    pub(crate) const fn rates(&self) -> LinkRates {
        LinkRates {
            fastest: self.fastest,
            limits: self.limits,
        }
    }

    pub(crate) fn band(&self) -> Band {
        self.band
    }

    /// Slowest vector: one stream in 20 MHz.
    pub(crate) fn slowest(&self) -> TxVector {
        TxVector {
            width: Width::Mhz20,
            streams: 1,
            ..self.at_mcs(0)
        }
    }

    /// Width of the fastest vector.
    pub(crate) fn width(&self) -> Width {
        self.fastest.width
    }

    /// From the access point.
    pub(super) fn down(&self, wifi_station: &WifiStation) -> LinkConfig {
        self.config(
            wifi_station.node.index(),
            wifi_station,
            self.snr_down(&wifi_station.quality),
        )
    }

    /// To the access point.
    pub(super) fn up(&self, wifi_station: &WifiStation) -> LinkConfig {
        self.config(
            wifi_station.radio.index(),
            wifi_station,
            self.snr_up(&wifi_station.quality, wifi_station.signal_up),
        )
    }

    fn config(&self, to: usize, wifi_station: &WifiStation, snr_db: Option<f64>) -> LinkConfig {
        self.directed(to, &wifi_station.quality, wifi_station.control, snr_db)
    }

    /// One direction, to the node `to`.
    pub(super) fn directed(
        &self,
        to: usize,
        quality: &LinkQuality,
        control: Control,
        snr_db: Option<f64>,
    ) -> LinkConfig {
        let (vector, rate) = self.sending(quality, control, snr_db);
        LinkConfig {
            to,
            vector,
            rate,
            snr_db,
            limits: self.limits,
        }
    }

    /// Initial vector, and rate control.
    pub(crate) fn sending(
        &self,
        quality: &LinkQuality,
        control: Control,
        snr_db: Option<f64>,
    ) -> (TxVector, RateChoice) {
        match (quality, control) {
            (LinkQuality::Mcs(mcs), _) => (self.at_mcs(*mcs), RateChoice::Fixed),
            (_, Control::Mcs(mcs)) => (self.at_mcs(mcs), RateChoice::Fixed),
            (_, Control::By(RateControl::Fixed)) => {
                let set = RateSet::up_to(&self.fastest, &self.limits, ACCESS);
                (set.best(snr_db).vector, RateChoice::Fixed)
            }
            (_, Control::By(control)) => (self.fastest, control.into()),
        }
    }

    /// SNR at the station in dB, for the width of the fastest vector; `None`: no losses due to
    /// noise.
    pub(crate) fn snr_down(&self, quality: &LinkQuality) -> Option<f64> {
        Some(self.signal_dbm(quality)? - signal::noise_dbm(self.fastest.width))
    }

    /// SNR at the access point, likewise.
    pub(crate) fn snr_up(&self, quality: &LinkQuality, signal_up: Option<Dbm>) -> Option<f64> {
        match (quality, signal_up) {
            (LinkQuality::Mcs(_), None) => None,
            (_, Some(signal)) => Some(signal.as_dbm_f64() - signal::noise_dbm(self.fastest.width)),
            (quality, None) => self.snr_down(quality),
        }
    }

    /// Expected throughput to the station at the best rate for its signal, in bit/s.
    pub(crate) fn expected_bps(&self, quality: &LinkQuality) -> f64 {
        let (vector, snr_db) = match quality {
            LinkQuality::Mcs(mcs) => (self.at_mcs(*mcs), None),
            _ => (self.fastest, self.snr_down(quality)),
        };
        let set = RateSet::up_to(&vector, &self.limits, ACCESS);
        let entry = match quality {
            LinkQuality::Mcs(_) => set.entries().iter().find(|entry| entry.vector == vector),
            _ => Some(set.best(snr_db)),
        };
        entry.map_or(0.0, |entry| entry.goodput(1.0, set.success(entry, snr_db)))
    }

    /// Sets the transmit power of the access point.
    pub(crate) fn set_power(&mut self, power: Dbm) {
        self.power = power;
    }

    /// Signal at the station, to a hundredth of a dBm.
    pub(crate) fn signal(&self, quality: &LinkQuality) -> Option<Dbm> {
        let hundredths = libm::round(self.signal_dbm(quality)? * 100.0);
        Some(Dbm::from_hundredths(hundredths as i32))
    }

    fn signal_dbm(&self, quality: &LinkQuality) -> Option<f64> {
        signal::received_dbm(quality, self.power, self.band, &PathLoss::for_band(self.band))
    }

    /// Checks that the link has that MCS.
    ///
    /// # Errors
    /// If it hasn't, with the valid range.
    pub(crate) fn check_mcs(&self, mcs: u8) -> Result<(), PhyError> {
        let highest = self.standard.max_mcs();
        if mcs > highest {
            return Err(PhyError::Mcs {
                mcs,
                streams: self.fastest.streams,
                mhz: self.fastest.width.as_mhz(),
                highest,
                except: None,
            });
        }
        self.at_mcs(mcs).format().map(|_| ())
    }

    /// Vector of an MCS, or of the rate of that number for a standard without MCS.
    pub(crate) fn at_mcs(&self, mcs: u8) -> TxVector {
        TxVector {
            modulation: modulation(self.standard, mcs),
            ..self.fastest
        }
    }
}

/// Rates that a signal permits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LinkRates {
    fastest: TxVector,
    limits: Limits,
}

impl LinkRates {
    /// Rates of a radio with a station that supports its standard and has that many streams.
    #[must_use]
    pub fn new(radio: &RadioConfig, streams: u8) -> Self {
        LinkRates {
            fastest: fastest(radio.standard, radio, streams),
            limits: limits(radio.standard, radio),
        }
    }

    /// Data rate with the best expected throughput at a signal. The slowest one if the signal is too weak for each.
    #[must_use]
    pub fn at(&self, signal: Dbm) -> BitRate {
        let set = RateSet::up_to(&self.fastest, &self.limits, ACCESS);
        set.best(Some(signal.as_dbm_f64() - signal::noise_dbm(self.fastest.width)))
            .rate
    }
}

/// Highest data rate of a radio, with a station that has all its streams and no limit by the signal.
#[must_use]
pub fn highest_rate(radio: &RadioConfig) -> BitRate {
    let rate = fastest(radio.standard, radio, radio.streams).rate();
    rate.unwrap_or(BitRate::from_bps(0))
}

fn fastest(standard: Standard, radio: &RadioConfig, streams: u8) -> TxVector {
    let width = radio.width.min(standard.widest(radio.band));
    let streams = radio.streams.min(streams).min(standard.max_streams()).max(1);
    let guard = match standard {
        Standard::A | Standard::B | Standard::G => Guard::Ns800,
        _ if standard.has_guard(radio.guard) => radio.guard,
        _ => standard.default_guard(),
    };
    let valid = |mcs: &u8| standard.has_mcs(*mcs, width, streams);
    let highest = (0..=standard.max_mcs()).rev().find(valid).unwrap_or(0);
    TxVector {
        modulation: modulation(standard, highest),
        width,
        guard,
        streams,
        signal_extension: radio.band == Band::Ghz2_4 && standard != Standard::B,
        short_preamble: false,
    }
}

fn modulation(standard: Standard, mcs: u8) -> Modulation {
    match standard {
        Standard::B => Modulation::Dsss(dsss::Rate::ALL[usize::from(mcs.min(3))]),
        Standard::A | Standard::G => Modulation::Ofdm(ofdm::Rate::ALL[usize::from(mcs.min(7))]),
        Standard::N => Modulation::Ht { mcs },
        Standard::Ac => Modulation::Vht { mcs },
        Standard::Ax => Modulation::He { mcs },
        Standard::Be => Modulation::Eht { mcs },
    }
}

/// Maximum length of an A-MPDU of each generation in bytes (802.11-2020 §9.4.2.55.3, §9.4.2.157.2;
/// 802.11ax-2021 and be).
fn limits(standard: Standard, radio: &RadioConfig) -> Limits {
    let bytes = match standard {
        Standard::A | Standard::B | Standard::G => return Limits::NONE,
        Standard::N => 65_535,
        Standard::Ac => 1_048_575,
        Standard::Ax => 6_500_631,
        Standard::Be => 15_523_200,
    };
    let window = standard.block_ack_window();
    let frames = radio.aggregation.frames.unwrap_or(window).min(window);
    let amsdu = radio.aggregation.amsdu.map_or(0, |size| size.as_bytes());
    let longest = standard.max_amsdu().map_or(0, u64::from);
    Limits {
        ampdu: frames > 1,
        frames: u32::from(frames),
        window: u32::from(window),
        time: radio.aggregation.time.min(Limits::PPDU),
        bytes,
        amsdu: amsdu.min(longest) as u32,
        // Linux drivers retry an aggregated frame at least ten times (ath9k: ATH_MAX_SW_RETRIES 30;
        // mac80211's long limit 4 to 7).
        tries: 10,
    }
}
