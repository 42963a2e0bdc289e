//! Fast fading of a station that moves: the sum of many reflections, whose phases change with the
//! position.
//!
//! The gain is a sum of sinusoids with equal angles and random phases (Xiao, Zheng and Beaulieu,
//! 2006). It has the Doppler spectrum of Clarke and Jakes. The gain is a function of the distance that
//! the station has travelled, not of the time: a station that does not move has a constant gain. The
//! surroundings do not move. All subcarriers have the same fading, and there is one antenna. This is
//! the worst case: wide channels and several antennas fade less.

use netburn_units::{Db, RandomStream};
use std::f64::consts::TAU;

/// Kind of fading.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub enum FadingModel {
    /// None: the mean signal.
    #[default]
    None,
    /// Only reflections.
    Rayleigh,
    /// A line of sight, and reflections.
    Rician,
}

/// Number of reflections.
const PATHS: usize = 32;
/// Lowest gain in dB, instead of minus infinity.
const LOWEST_DB: f64 = -60.0;

/// Fading between a station and one radio. The mean power is 1.
#[derive(Debug, Clone)]
pub struct Fading {
    /// Phases of the reflections in radians, and the cosine of the angle between each and the path.
    paths: Vec<(f64, f64)>,
    /// Amplitude of the line of sight, its phase and cosine.
    direct: (f64, f64, f64),
    /// Amplitude of each reflection.
    scattered: f64,
}

impl Fading {
    /// Fading with random phases. `factor`: power of the line of sight over that of all reflections,
    /// for Rician fading. `None` without fading.
    #[must_use]
    pub fn new(model: FadingModel, factor: Db, mut chance: RandomStream) -> Option<Self> {
        let k = match model {
            FadingModel::None => return None,
            FadingModel::Rayleigh => 0.0,
            FadingModel::Rician => libm::pow(10.0, factor.as_db_f64() / 10.0),
        };
        let mut uniform = || (chance.next_u64() >> 11) as f64 / (1_u64 << 53) as f64;
        let direct = (libm::sqrt(k / (k + 1.0)), TAU * uniform(), libm::cos(TAU * uniform()));
        // A quarter of a step from the direction of the path: no two have the same Doppler shift.
        let angle = |path: usize| TAU * (path as f64 + 0.25) / PATHS as f64;
        let paths = (0..PATHS)
            .map(|path| (TAU * uniform(), libm::cos(angle(path))))
            .collect();
        Some(Fading {
            paths,
            direct,
            scattered: libm::sqrt(1.0 / (k + 1.0) / PATHS as f64),
        })
    }

    /// Amplitude after a distance of this many wavelengths; its mean square is 1.
    #[must_use]
    pub fn amplitude(&self, wavelengths: f64) -> f64 {
        let turn = TAU * wavelengths;
        let (line, phase, cosine) = self.direct;
        let (sin, cos) = libm::sincos(turn * cosine + phase);
        let (mut re, mut im) = (line * cos, line * sin);
        for (phase, cosine) in &self.paths {
            let (sin, cos) = libm::sincos(turn * cosine + phase);
            re += self.scattered * cos;
            im += self.scattered * sin;
        }
        libm::sqrt(re * re + im * im)
    }

    /// Gain in dB after a distance of this many wavelengths, at least −60 dB.
    #[must_use]
    pub fn gain_db(&self, wavelengths: f64) -> f64 {
        let db = 20.0 * libm::log10(self.amplitude(wavelengths));
        if db > LOWEST_DB { db } else { LOWEST_DB }
    }
}

/// Downward crossings of an amplitude.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Crossings {
    /// Per wavelength.
    pub rate: f64,
    /// Mean distance below the amplitude, in wavelengths.
    pub length: f64,
    /// Number.
    pub count: u64,
}

/// Crossings of `threshold` (relative to the root mean square) over `wavelengths` on each of `runs`
/// independent paths, sampled at `samples` points per wavelength.
#[must_use]
pub fn crossings(
    model: FadingModel,
    factor: Db,
    threshold: f64,
    (runs, wavelengths, samples): (u64, u32, u32),
    seed: netburn_units::Seed,
) -> Crossings {
    let (mut count, mut below, mut total) = (0_u64, 0_u64, 0_u64);
    for run in 0..runs {
        let Some(fading) = Fading::new(model, factor, seed.stream("fading", run)) else {
            break;
        };
        let mut was_below = None;
        for sample in 0..u64::from(wavelengths) * u64::from(samples) {
            let is_below = fading.amplitude(sample as f64 / f64::from(samples)) < threshold;
            count += u64::from(is_below && was_below == Some(false));
            below += u64::from(is_below);
            total += 1;
            was_below = Some(is_below);
        }
    }
    let wavelength = f64::from(samples.max(1));
    Crossings {
        rate: count as f64 * wavelength / total.max(1) as f64,
        length: below as f64 / wavelength / count.max(1) as f64,
        count,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use netburn_units::Seed;

    /// Mean power 1, with and without a line of sight, over 200 paths.
    #[test]
    fn the_mean_power_is_one() {
        for (model, factor) in [(FadingModel::Rayleigh, 0), (FadingModel::Rician, 6)] {
            let mut sum = 0.0;
            for run in 0..200 {
                let fading = Fading::new(model, Db::from_db(factor), Seed(3).stream("fading", run)).unwrap();
                sum += (0..100)
                    .map(|at| fading.amplitude(f64::from(at) * 0.37))
                    .map(|a| a * a)
                    .sum::<f64>();
            }
            assert!((sum / 20_000.0 - 1.0).abs() < 0.03, "{model:?}: {}", sum / 20_000.0);
        }
    }

    /// A line of sight 60 dB above the reflections: no fading.
    #[test]
    fn a_strong_line_of_sight_does_not_fade() {
        let fading = Fading::new(FadingModel::Rician, Db::from_db(60), Seed(3).stream("fading", 0)).unwrap();
        assert!((0..100).all(|at| fading.gain_db(f64::from(at) * 0.1).abs() < 0.1));
        assert!(Fading::new(FadingModel::None, Db::ZERO, Seed(3).stream("fading", 0)).is_none());
    }

    /// Rayleigh at 10 dB below the root mean square, ρ² = 0.1: √(2π)·ρ·e^(−ρ²) = 0.717 crossings per
    /// wavelength, each (e^(ρ²) − 1)/(ρ√(2π)) = 0.1327 wavelengths long (Rice).
    #[test]
    fn crossings_of_rayleigh_fading() {
        let rho = libm::sqrt(0.1);
        let got = crossings(FadingModel::Rayleigh, Db::ZERO, rho, (100, 40, 100), Seed(1));
        assert!(got.count > 2_000, "{got:?}");
        assert!((got.rate / 0.717 - 1.0).abs() < 0.05, "{got:?}");
        assert!((got.length / 0.1327 - 1.0).abs() < 0.05, "{got:?}");
    }
}
