//! The building of a scenario.

use netburn_medium::fading::FadingModel;
use netburn_medium::geometry;
use netburn_units::{Db, Distance};
use std::fmt;

/// A building, for the signal between positions.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Building {
    /// Path-loss model and walls.
    pub model: geometry::Building,
    /// Floors on which positions can be; `None`: all.
    pub floors: Option<Floors>,
    /// Standard deviation of shadowing. Default: 0 dB.
    pub shadowing: Db,
    /// Distance over which shadowing changes. Default: 6 m.
    pub shadowing_distance: Distance,
    /// Fast fading of stations that move. Default: none.
    pub fading: FadingModel,
    /// Power of the line of sight over that of the reflections, for Rician fading. Default: 6 dB.
    pub rician_factor: Db,
}

/// Floors of a building, both included.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Floors {
    /// Lowest floor, −20 or more; 0 is at street level.
    pub lowest: i16,
    /// Highest floor, up to 200.
    pub highest: i16,
}

impl fmt::Display for Floors {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} to {}", self.lowest, self.highest)
    }
}

impl Default for Building {
    fn default() -> Self {
        Building {
            model: geometry::Building::default(),
            floors: None,
            shadowing: Db::ZERO,
            shadowing_distance: Distance::from_metres(6),
            fading: FadingModel::None,
            rician_factor: Db::from_db(6),
        }
    }
}
