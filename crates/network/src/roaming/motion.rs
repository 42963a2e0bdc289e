//! Signals of a station over time: its position and the shadowing along its path, or signals of the plan.

use netburn_medium::geometry::Position;
use netburn_medium::timed_path::TimedPath;
use netburn_scenario::plan::{DEFAULT_SPEED, RadioRef, RadioSignal, StationAir};
use netburn_units::{Db, Distance, Instant, RandomStream};

/// Origin of a station's signals over time.
#[derive(Debug, Clone)]
pub(crate) enum Motion {
    /// Positions.
    Path(TimedPath),
    /// Signals that the plan has for each candidate, in the order of the candidates.
    Signals(Vec<RadioSignal>),
}

impl Motion {
    /// Motion of a station; `None`: its signals are fixed. `radios` are the names of its candidates.
    pub(super) fn new<'r>(air: &StationAir, radios: impl Iterator<Item = &'r RadioRef>) -> Option<Self> {
        if let Some(way) = TimedPath::new(&air.path, air.speed.unwrap_or(DEFAULT_SPEED)) {
            return Some(Motion::Path(way));
        }
        let signal_of = |radio: &RadioRef| air.signals.iter().find(|signal| signal.radio == *radio).cloned();
        let signals: Option<Vec<_>> = radios.map(signal_of).collect();
        signals.filter(|signals| !signals.is_empty()).map(Motion::Signals)
    }

    /// A station that stays at a position.
    pub(super) fn standing(at: Position) -> Self {
        Motion::Path(TimedPath::standing(at))
    }

    /// Returns true if the signals change at `now` or later.
    pub(crate) fn is_moving(&self, now: Instant) -> bool {
        match self {
            Motion::Path(way) => way.is_moving(now),
            Motion::Signals(signals) => signals
                .iter()
                .any(|signal| signal.points.len() > 1 && now < Instant::ZERO + signal.end()),
        }
    }
}

/// Correlated log-normal shadowing (Gudmundson 1991): after a distance of Δ the correlation is
/// e^(−Δ/d).
#[derive(Debug)]
pub(crate) struct Shadowing {
    sigma_db: f64,
    /// Distance d in metres.
    distance: f64,
    rng: RandomStream,
    value: f64,
    at: Option<Position>,
}

impl Shadowing {
    pub(super) fn new(sigma: Db, distance: Distance, rng: RandomStream) -> Self {
        Shadowing {
            sigma_db: sigma.as_db_f64(),
            distance: distance.as_millimetres().max(1) as f64 / 1_000.0,
            rng,
            value: 0.0,
            at: None,
        }
    }

    /// Returns true if it differs from 0.
    pub(super) fn is_random(&self) -> bool {
        self.sigma_db > 0.0
    }

    /// Shadowing in dB at a position, the next one on the path.
    pub(super) fn at(&mut self, position: Position) -> f64 {
        if self.sigma_db <= 0.0 {
            return 0.0;
        }
        if let Some(before) = self.at {
            if before != position {
                let correlation = libm::exp(-before.metres_to(position) / self.distance);
                let fresh = libm::sqrt(1.0 - correlation * correlation) * self.sigma_db * self.normal();
                self.value = correlation * self.value + fresh;
            }
        } else {
            self.value = self.sigma_db * self.normal();
        }
        self.at = Some(position);
        self.value
    }

    /// A standard normal number (Box and Muller).
    fn normal(&mut self) -> f64 {
        let mut uniform = || ((self.rng.next_u64() >> 11) as f64 + 0.5) / (1_u64 << 53) as f64;
        let (radius, angle) = (uniform(), uniform());
        libm::sqrt(-2.0 * libm::log(radius)) * libm::cos(std::f64::consts::TAU * angle)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use netburn_units::Seed;

    fn at(x: i64) -> Position {
        Position { x, y: 0, floor: 0 }
    }

    /// The autocorrelation after Δ is e^(−Δ/d), and the deviation σ: over 200 km in steps of 2 m.
    #[test]
    fn shadowing_is_correlated() {
        let mut shadowing = Shadowing::new(Db::from_db(4), Distance::from_metres(6), Seed(7).stream("shadowing", 0));
        let values: Vec<f64> = (0..100_000).map(|step| shadowing.at(at(step * 2_000))).collect();
        let mean_of = |lag: usize| {
            let pairs = values.iter().zip(&values[lag..]);
            pairs.map(|(a, b)| a * b).sum::<f64>() / (values.len() - lag) as f64
        };
        let variance = mean_of(0);
        assert!((variance.sqrt() - 4.0).abs() < 0.1, "{variance}");
        for lag in [1, 3, 6] {
            let expected = libm::exp(-2.0 * lag as f64 / 6.0);
            let got = mean_of(lag) / variance;
            assert!((got - expected).abs() < 0.05, "{lag}: {got} for {expected}");
        }
    }

    #[test]
    fn none_by_default() {
        let mut none = Shadowing::new(Db::ZERO, Distance::from_metres(6), Seed(7).stream("shadowing", 0));
        assert!(none.at(at(3)).abs() < f64::EPSILON);
    }
}
