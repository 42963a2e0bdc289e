//! SNR from power and distance: path loss, noise floor, receiver sensitivity.

use crate::config::{Band, LinkQuality, Standard, Width};
use crate::error;
use crate::phy::{Modulation, TxVector, dsss, ofdm};
use netburn_units::{Dbm, Distance};
use std::cell::RefCell;

/// Noise figure of a receiver in dB: 7, as in ns-3.
pub const NOISE_FIGURE_DB: f64 = 7.0;

/// Path-loss model.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum PathLoss {
    /// `at_one_metre_db`, then 10 · `exponent` dB for every factor of ten in distance.
    LogDistance {
        /// Loss at 1 m in dB.
        at_one_metre_db: f64,
        /// 2 in free space, 3 in a building.
        exponent: f64,
    },
    /// A TGn/TGac indoor model (IEEE 802.11-03/940r4): free space up to a breakpoint, an exponent of 3.5 beyond, shadowing left out.
    Indoor(Indoor),
}

/// TGn/TGac models by their letters: the type of building, which determines the breakpoint.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Indoor {
    /// Flat fading: 5 m.
    A,
    /// Residential: 5 m.
    B,
    /// Small office: 5 m.
    C,
    /// Typical office: 10 m.
    D,
    /// Large office: 20 m.
    E,
    /// Large space: 30 m.
    F,
}

/// The signal is too weak for every rate.
#[derive(Debug, Clone, Copy, PartialEq, thiserror::Error)]
#[error(
    "a signal of {got} is too weak for every rate: the slowest needs {weakest} ({needed_db:.1} dB SNR in {mhz} MHz); valid: {weakest} to 0 dBm"
)]
pub struct TooWeak {
    /// Signal.
    pub got: Dbm,
    /// Minimum signal of the slowest rate.
    pub weakest: Dbm,
    /// Minimum SNR in dB.
    pub needed_db: f64,
    /// Width in MHz.
    pub mhz: u16,
}

impl PathLoss {
    /// Default model: an exponent of 3 from 1 m. The free-space loss there is 40.05 dB at 2.4 GHz,
    /// 46.68 at 5 (ns-3's default, 5.15 GHz) and 48.1 at 6 (6.1 GHz).
    #[must_use]
    pub fn for_band(band: Band) -> Self {
        PathLoss::LogDistance {
            at_one_metre_db: match band {
                Band::Ghz2_4 => 40.05,
                Band::Ghz5 => 46.6777,
                Band::Ghz6 => free_space_db(1.0, frequency_mhz(band)),
            },
            exponent: 3.0,
        }
    }

    /// Loss over `distance` in dB. The models are not valid below 1 m, which counts as 1 m.
    #[must_use]
    pub fn loss_db(&self, band: Band, distance: Distance) -> f64 {
        let metres = (distance.as_millimetres() as f64 / 1_000.0).max(1.0);
        match self {
            PathLoss::LogDistance {
                at_one_metre_db,
                exponent,
            } => at_one_metre_db + 10.0 * exponent * libm::log10(metres),
            PathLoss::Indoor(model) => {
                let breakpoint = model.breakpoint_metres();
                let near = free_space_db(metres.min(breakpoint), frequency_mhz(band));
                near + 35.0 * libm::log10((metres / breakpoint).max(1.0))
            }
        }
    }
}

impl Indoor {
    /// Breakpoint distance in metres: the end of free-space propagation.
    #[must_use]
    pub const fn breakpoint_metres(self) -> f64 {
        match self {
            Indoor::A | Indoor::B | Indoor::C => 5.0,
            Indoor::D => 10.0,
            Indoor::E => 20.0,
            Indoor::F => 30.0,
        }
    }
}

/// Noise of a receiver in a channel of `width`, in dBm: −174 dBm/Hz (290 K) and the noise figure.
#[must_use]
pub const fn noise_dbm(width: Width) -> f64 {
    -174.0 + 10.0 * log_hertz(width) + NOISE_FIGURE_DB
}

/// log₁₀ of a width in Hz, as `libm` computes it. The SNR of every moving station is computed often.
const fn log_hertz(width: Width) -> f64 {
    match width {
        Width::Mhz20 => 7.301_029_995_663_981,
        Width::Mhz40 => 7.602_059_991_327_962_5,
        Width::Mhz80 => 7.903_089_986_991_944,
        Width::Mhz160 => 8.204_119_982_655_925,
        Width::Mhz320 => 8.505_149_978_319_906,
    }
}

/// Signal at the receiver in dBm at the transmit power `power`; `None` if the quality is an MCS.
#[must_use]
pub fn received_dbm(quality: &LinkQuality, power: Dbm, band: Band, path_loss: &PathLoss) -> Option<f64> {
    match quality {
        LinkQuality::Signal(signal) => Some(signal.as_dbm_f64()),
        LinkQuality::Distance(distance) => Some(power.as_dbm_f64() - path_loss.loss_db(band, *distance)),
        LinkQuality::Mcs(_) => None,
    }
}

/// SNR in dB in a channel of `width`, for [`LinkConfig::snr_db`](crate::air::LinkConfig::snr_db);
/// `None` if the quality is an MCS: no losses due to noise.
#[must_use]
pub fn snr_db(quality: &LinkQuality, power: Dbm, band: Band, width: Width, path_loss: &PathLoss) -> Option<f64> {
    received_dbm(quality, power, band, path_loss).map(|signal| signal - noise_dbm(width))
}

/// Required sensitivity of a receiver at an MCS, in dBm, for a loss of at most one in ten PPDUs of
/// 4096 bytes. Source: 802.11-2020 tables 19-23 and 21-25, 802.11ax-2021 table 27-51. 3 dB more for
/// each doubling of the width. For 4096-QAM (MCS 12 and 13) −49 and −46 in 20 MHz, which are not
/// verified against the text of 802.11be. `None` above MCS 13.
#[must_use]
pub fn sensitivity_dbm(mcs: u8, width: Width) -> Option<i32> {
    const IN_20_MHZ: [i32; 14] = [-82, -79, -77, -74, -70, -66, -65, -64, -59, -57, -54, -52, -49, -46];
    let doublings = (width.as_mhz() / 20).ilog2() as i32;
    IN_20_MHZ.get(usize::from(mcs)).map(|dbm| dbm + 3 * doublings)
}

/// Slowest vector of a standard: its lowest rate, with one stream in 20 MHz.
#[must_use]
pub const fn slowest(standard: Standard) -> TxVector {
    let modulation = match standard {
        Standard::B => Modulation::Dsss(dsss::Rate::ALL[0]),
        Standard::A | Standard::G => Modulation::Ofdm(ofdm::Rate::ALL[0]),
        Standard::N => Modulation::Ht { mcs: 0 },
        Standard::Ac => Modulation::Vht { mcs: 0 },
        Standard::Ax => Modulation::He { mcs: 0 },
        Standard::Be => Modulation::Eht { mcs: 0 },
    };
    TxVector {
        modulation,
        width: Width::Mhz20,
        guard: standard.default_guard(),
        streams: 1,
        signal_extension: false,
        short_preamble: false,
    }
}

/// Minimum signal of the model for `vector`: half of all MPDUs of 1500 bytes arrive. About 7 dB
/// below [`sensitivity_dbm`]: real receivers are better than required.
#[must_use]
pub fn weakest_dbm(vector: &TxVector) -> f64 {
    weakest_snr_db(vector.modulation) + noise_dbm(vector.width)
}

thread_local! {
    /// Results of [`weakest_snr_db`]: a building asks for each pair of a station and a radio.
    static WEAKEST: RefCell<Vec<(Modulation, f64)>> = const { RefCell::new(Vec::new()) };
}

fn weakest_snr_db(modulation: Modulation) -> f64 {
    WEAKEST.with_borrow_mut(|known| match known.iter().find(|(of, _)| *of == modulation) {
        Some((_, weakest)) => *weakest,
        None => {
            let weakest = find_weakest_snr_db(modulation);
            known.push((modulation, weakest));
            weakest
        }
    })
}

fn find_weakest_snr_db(modulation: Modulation) -> f64 {
    let arrives = |snr_db: f64| error::success(modulation, snr_db, 1_500 * 8) >= 0.5;
    // Bisection: the probability increases with the signal.
    let (mut low, mut high) = (-20.0, 60.0);
    for _ in 0..40 {
        let middle = (low + high) / 2.0;
        if arrives(middle) {
            high = middle;
        } else {
            low = middle;
        }
    }
    high
}

/// Checks that a signal isn't too weak for every rate; `slowest` is the one that needs least.
///
/// # Errors
/// If it is too weak, with the minimum.
pub fn check(signal_dbm: f64, slowest: &TxVector) -> Result<(), TooWeak> {
    let weakest = weakest_dbm(slowest);
    if signal_dbm >= weakest {
        return Ok(());
    }
    let hundredths = |dbm: f64| Dbm::from_hundredths(libm::round(dbm.clamp(-1e6, 1e6) * 100.0) as i32);
    Err(TooWeak {
        got: hundredths(signal_dbm),
        // Rounded up to a tenth, so that the printed value is sufficient.
        weakest: Dbm::from_hundredths(libm::ceil(weakest * 10.0) as i32 * 10),
        needed_db: weakest - noise_dbm(slowest.width),
        mhz: slowest.width.as_mhz(),
    })
}

/// Free space: 20 log10 of distance in metres and frequency in MHz, minus 27.55.
fn free_space_db(metres: f64, mhz: f64) -> f64 {
    20.0 * libm::log10(metres) + 20.0 * libm::log10(mhz) - 27.55
}

/// Middle of the used part of a band.
#[must_use]
pub const fn frequency_mhz(band: Band) -> f64 {
    match band {
        Band::Ghz2_4 => 2_437.0,
        Band::Ghz5 => 5_250.0,
        Band::Ghz6 => 6_100.0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::Guard;
    use crate::phy::{Modulation, ofdm};

    fn close(got: f64, expected: f64, within: f64) {
        assert!((got - expected).abs() <= within, "{got} for {expected}");
    }

    fn vector(modulation: Modulation, width: Width) -> TxVector {
        TxVector {
            modulation,
            width,
            guard: Guard::Ns800,
            streams: 1,
            signal_extension: false,
            short_preamble: false,
        }
    }

    #[test]
    fn constants_are_those_of_the_library() {
        for width in [Width::Mhz20, Width::Mhz40, Width::Mhz80, Width::Mhz160, Width::Mhz320] {
            let log = libm::log10(f64::from(width.as_mhz()) * 1e6);
            assert_eq!(log_hertz(width).to_bits(), log.to_bits(), "{width:?}");
        }
    }

    /// −93.97 dBm in 20 MHz with a noise figure of 7 dB (published); 3.01 dB more in twice the width.
    #[test]
    fn noise() {
        for (width, dbm) in [
            (Width::Mhz20, -93.99),
            (Width::Mhz40, -90.98),
            (Width::Mhz80, -87.97),
            (Width::Mhz160, -84.96),
            (Width::Mhz320, -81.95),
        ] {
            close(noise_dbm(width), dbm, 0.02);
        }
    }

    /// 10 m: 46.68 + 30; 20 m: 9.03 more.
    #[test]
    fn log_distance() {
        let loss = |band, metres| PathLoss::for_band(band).loss_db(band, Distance::from_metres(metres));
        close(loss(Band::Ghz5, 1), 46.6777, 1e-9);
        close(loss(Band::Ghz5, 10), 76.6777, 1e-9);
        close(loss(Band::Ghz5, 20), 85.7086, 1e-3);
        close(loss(Band::Ghz2_4, 10), 70.05, 1e-9);
        close(loss(Band::Ghz6, 1), 48.16, 0.01);
        close(loss(Band::Ghz5, 0), loss(Band::Ghz5, 1), 0.0);
    }

    /// Free space at 5.25 GHz: 46.85 dB at 1 m. Model B: 5 m cost 13.98 more, 50 m another 35; model D has its breakpoint at 10 m.
    #[test]
    fn indoor() {
        let loss = |model, metres| PathLoss::Indoor(model).loss_db(Band::Ghz5, Distance::from_metres(metres));
        for (model, metres, db) in [
            (Indoor::B, 1, 46.85),
            (Indoor::B, 5, 60.83),
            (Indoor::B, 50, 95.83),
            (Indoor::D, 10, 66.85),
            (Indoor::D, 100, 101.85),
            (Indoor::E, 20, 72.88),
            (Indoor::F, 30, 76.40),
        ] {
            close(loss(model, metres), db, 0.02);
        }
    }

    /// Every row of the table, and 3 dB for each doubling.
    #[test]
    fn sensitivities() {
        let expected = [-82, -79, -77, -74, -70, -66, -65, -64, -59, -57, -54, -52, -49, -46];
        for (mcs, dbm) in expected.into_iter().enumerate() {
            assert_eq!(sensitivity_dbm(mcs as u8, Width::Mhz20), Some(dbm));
            assert_eq!(sensitivity_dbm(mcs as u8, Width::Mhz160), Some(dbm + 9));
        }
        assert_eq!(sensitivity_dbm(0, Width::Mhz40), Some(-79));
        assert_eq!(sensitivity_dbm(13, Width::Mhz320), Some(-34));
        assert_eq!(sensitivity_dbm(14, Width::Mhz20), None);
    }

    /// At the sensitivity that the standard requires, the model loses at most one PPDU of 4096
    /// bytes in ten, at every MCS.
    #[test]
    fn the_model_is_a_receiver_that_the_standard_permits() {
        for mcs in 0..=11 {
            let snr_db = f64::from(sensitivity_dbm(mcs, Width::Mhz20).unwrap()) - noise_dbm(Width::Mhz20);
            let success = error::success(Modulation::He { mcs }, snr_db, 4_096 * 8);
            assert!(success >= 0.9, "MCS {mcs} at {snr_db:.1} dB: {success}");
        }
    }

    /// 20 dBm over 10 m at 5 GHz: −56.68 dBm, over −87.97 in 80 MHz: 31.29 dB.
    #[test]
    fn quality() {
        let snr = |quality| {
            snr_db(
                &quality,
                Dbm::from_dbm(20),
                Band::Ghz5,
                Width::Mhz80,
                &PathLoss::for_band(Band::Ghz5),
            )
        };
        close(
            snr(LinkQuality::Distance(Distance::from_metres(10))).unwrap(),
            31.29,
            0.02,
        );
        close(snr(LinkQuality::Signal(Dbm::from_dbm(-62))).unwrap(), 25.97, 0.02);
        assert_eq!(snr(LinkQuality::Mcs(7)), None);
    }

    #[test]
    fn too_weak_names_the_minimum() {
        let slowest = vector(Modulation::Ofdm(ofdm::Rate::M6), Width::Mhz20);
        assert!(check(-82.0, &slowest).is_ok());
        let weak = check(-95.0, &slowest).unwrap_err();
        assert!(check(weak.weakest.as_dbm_f64(), &slowest).is_ok());
        assert!((weak.weakest.as_dbm_f64() + 90.4).abs() < 0.5, "{weak}");
        assert!(weak.to_string().contains("-95 dBm"), "{weak}");
    }
}
