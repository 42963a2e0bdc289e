//! Positions in a building, and the loss of a signal between two of them.
//!
//! Positions are integers, and a wall is a line segment on one floor, so that the number of walls
//! between two positions is exact.

use crate::config::Band;
use crate::signal::frequency_mhz;
use netburn_units::Db;
use std::fmt;

/// A position in millimetres, and a floor.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Position {
    /// From west to east, in mm.
    pub x: i64,
    /// From south to north, in mm.
    pub y: i64,
    /// Floor; 0 is at street level.
    pub floor: i16,
}

/// A straight wall of one floor.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Wall {
    /// One end; its floor is the wall's.
    pub from: Position,
    /// Other end.
    pub to: Position,
}

/// Path-loss model of a building.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub enum BuildingModel {
    /// TGax residential (IEEE 802.11-14/0980): free space up to 5 m, an exponent of 3.5 beyond, 5 dB
    /// per wall.
    #[default]
    TgaxResidential,
    /// ITU-R P.1238, residential: N = 28, 4 dB per floor. Walls are part of N.
    P1238Residential,
    /// ITU-R P.1238, office: N = 30, 15 dB for one floor and 4 for each further one.
    P1238Office,
    /// 3GPP TR 38.901 indoor hotspot, line of sight.
    IndoorLos,
    /// 3GPP TR 38.901 indoor hotspot, no line of sight.
    IndoorNlos,
}

/// A building: its model and its walls.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Building {
    /// Model.
    pub model: BuildingModel,
    /// Walls.
    pub walls: Vec<Wall>,
    /// Loss of a wall; `None`: that of the model.
    pub wall_loss: Option<Db>,
}

/// Height of a floor in mm, for the distance between floors: 3 m, as in TGax.
pub const FLOOR_HEIGHT: i64 = 3_000;

impl Position {
    /// Distance in metres.
    #[must_use]
    pub fn metres_to(self, other: Position) -> f64 {
        let square = |a: i64, b: i64| {
            let difference = (a - b) as f64;
            difference * difference
        };
        let height = i64::from(self.floor) * FLOOR_HEIGHT;
        let sum =
            square(self.x, other.x) + square(self.y, other.y) + square(height, i64::from(other.floor) * FLOOR_HEIGHT);
        libm::sqrt(sum) / 1_000.0
    }

    /// The position at `part` of `whole` on the line to another one; the floor changes at the end.
    #[must_use]
    pub fn towards(self, other: Position, part: u64, whole: u64) -> Position {
        if part >= whole {
            return other;
        }
        let between = |a: i64, b: i64| {
            let way = i128::from(b - a) * i128::from(part) / i128::from(whole.max(1));
            a + way as i64
        };
        Position {
            x: between(self.x, other.x),
            y: between(self.y, other.y),
            floor: self.floor,
        }
    }
}

impl fmt::Display for Position {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let metres = |f: &mut fmt::Formatter<'_>, mm: i64| {
            let sign = if mm < 0 { "-" } else { "" };
            let (whole, rest) = (mm.unsigned_abs() / 1_000, mm.unsigned_abs() % 1_000);
            if rest == 0 {
                write!(f, "{sign}{whole} m")
            } else {
                let digits = format!("{rest:03}");
                write!(f, "{sign}{whole}.{} m", digits.trim_end_matches('0'))
            }
        };
        metres(f, self.x)?;
        f.write_str(", ")?;
        metres(f, self.y)?;
        if self.floor != 0 {
            write!(f, ", floor {}", self.floor)?;
        }
        Ok(())
    }
}

impl Wall {
    /// Returns true if the line between two positions crosses the wall. A line that only touches it
    /// does not.
    #[must_use]
    pub fn is_between(&self, a: Position, b: Position) -> bool {
        let side = |from: Position, to: Position, at: Position| {
            let product = i128::from(to.x - from.x) * i128::from(at.y - from.y)
                - i128::from(to.y - from.y) * i128::from(at.x - from.x);
            product.signum()
        };
        let on_floor = a.floor == self.from.floor || b.floor == self.from.floor;
        on_floor
            && side(self.from, self.to, a) * side(self.from, self.to, b) < 0
            && side(a, b, self.from) * side(a, b, self.to) < 0
    }
}

impl Building {
    /// Loss between two positions, in dB. Distances below 1 m count as 1 m.
    #[must_use]
    pub fn loss_db(&self, band: Band, a: Position, b: Position) -> f64 {
        let metres = a.metres_to(b).max(1.0);
        let floors = u32::from((a.floor - b.floor).unsigned_abs());
        let ghz = frequency_mhz(band) / 1_000.0;
        let log = |x: f64| libm::log10(x);
        let p1238 = |n: f64, floors_db: f64| 20.0 * log(frequency_mhz(band)) + n * log(metres) + floors_db - 28.0;
        let loss = match self.model {
            BuildingModel::TgaxResidential => {
                let (far, to_break) = if metres > 5.0 {
                    (35.0 * log(metres / 5.0), LOG_5)
                } else {
                    (0.0, log(metres))
                };
                let near = 40.05 + 20.0 * tgax_frequency(band) + 20.0 * to_break;
                let f = f64::from(floors);
                let through = if floors == 0 {
                    0.0
                } else {
                    18.3 * libm::pow(f, (f + 2.0) / (f + 1.0) - 0.46)
                };
                near + far + through
            }
            BuildingModel::P1238Residential => p1238(28.0, 4.0 * f64::from(floors)),
            BuildingModel::P1238Office => {
                let through = if floors == 0 {
                    0.0
                } else {
                    15.0 + 4.0 * f64::from(floors - 1)
                };
                p1238(30.0, through)
            }
            BuildingModel::IndoorLos => los(ghz, metres),
            BuildingModel::IndoorNlos => {
                let nlos = 17.3 + 38.3 * log(metres) + 24.9 * log(ghz);
                nlos.max(los(ghz, metres))
            }
        };
        loss + self.wall_db() * self.walls.iter().filter(|wall| wall.is_between(a, b)).count() as f64
    }

    /// Loss of one wall in dB.
    fn wall_db(&self) -> f64 {
        self.wall_loss.map_or(
            match self.model {
                BuildingModel::TgaxResidential => 5.0,
                _ => 0.0,
            },
            Db::as_db_f64,
        )
    }
}

/// log₁₀(5), as `libm` computes it. The loss of every moving station is computed often.
const LOG_5: f64 = 0.698_970_004_336_018_9;

/// log₁₀ of a band's frequency over 2.4 GHz, likewise.
const fn tgax_frequency(band: Band) -> f64 {
    match band {
        Band::Ghz2_4 => 0.006_644_287_473_118_27,
        Band::Ghz5 => 0.339_948_061_694_350_9,
        Band::Ghz6 => 0.405_118_593_299_161,
    }
}

/// 3GPP TR 38.901 indoor hotspot, line of sight.
fn los(ghz: f64, metres: f64) -> f64 {
    32.4 + 17.3 * libm::log10(metres) + 20.0 * libm::log10(ghz)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(x: i64) -> Position {
        Position {
            x: x * 1_000,
            y: 0,
            floor: 0,
        }
    }

    #[test]
    fn constants_are_those_of_the_library() {
        assert_eq!(LOG_5.to_bits(), libm::log10(5.0).to_bits());
        for band in [Band::Ghz2_4, Band::Ghz5, Band::Ghz6] {
            let log = libm::log10(frequency_mhz(band) / 1_000.0 / 2.4);
            assert_eq!(tgax_frequency(band).to_bits(), log.to_bits());
        }
    }

    fn wall(x: i64) -> Wall {
        Wall {
            from: Position {
                x: x * 1_000,
                y: -5_000,
                floor: 0,
            },
            to: Position {
                x: x * 1_000,
                y: 5_000,
                floor: 0,
            },
        }
    }

    fn close(got: f64, expected: f64) {
        assert!((got - expected).abs() <= 0.06, "{got} for {expected}");
    }

    /// 5.25 GHz, published: 1 m 46.8 dB, 5 m and one wall 65.8, 10 m and two walls 81.4, 15 m and
    /// three walls 92.5.
    #[test]
    fn tgax_residential() {
        let building = Building {
            walls: vec![wall(4), wall(8), wall(12)],
            ..Building::default()
        };
        for (metres, db) in [(1, 46.85), (5, 65.83), (10, 81.36), (15, 92.53)] {
            close(building.loss_db(Band::Ghz5, at(0), at(metres)), db);
        }
    }

    /// One floor: 18.3 dB × 1^1.04 more, and 3 m of height. 4 m beside, sqrt(16 + 9) = 5 m away:
    /// 40.05 + 6.80 + 13.98 + 18.3.
    #[test]
    fn floors() {
        let above = Position {
            x: 4_000,
            y: 0,
            floor: 1,
        };
        close(Building::default().loss_db(Band::Ghz5, at(0), above), 79.13);
    }

    /// 10 m at 5.25 GHz, published: P.1238 home 74.4, 3GPP line of sight 64.1.
    #[test]
    fn other_models() {
        let loss = |model| {
            Building {
                model,
                ..Building::default()
            }
            .loss_db(Band::Ghz5, at(0), at(10))
        };
        close(loss(BuildingModel::P1238Residential), 74.4);
        close(loss(BuildingModel::IndoorLos), 64.1);
        // 17.3 + 38.3 + 24.9 × 0.7202
        close(loss(BuildingModel::IndoorNlos), 73.53);
        // 74.40 + 2 with N = 30
        close(loss(BuildingModel::P1238Office), 76.4);
    }

    /// A line that ends at a wall, or passes beside it, does not cross it.
    #[test]
    fn a_wall_counts_only_between() {
        assert!(wall(4).is_between(at(3), at(5)));
        assert!(!wall(4).is_between(at(3), at(4)));
        assert!(!wall(4).is_between(at(5), at(9)));
        let beside = Position {
            x: 4_000,
            y: 20_000,
            floor: 0,
        };
        assert!(!wall(4).is_between(at(0), beside));
        let upstairs = |x: i64| Position { floor: 1, ..at(x) };
        assert!(!wall(4).is_between(upstairs(3), upstairs(5)));
    }

    #[test]
    fn text() {
        assert_eq!(
            Position {
                x: -1_250,
                y: 3_000,
                floor: 0
            }
            .to_string(),
            "-1.25 m, 3 m"
        );
        assert_eq!(Position { x: 0, y: 40, floor: 2 }.to_string(), "0 m, 0.04 m, floor 2");
    }

    /// Half of 1 s from 0 to 3 m.
    #[test]
    fn on_the_way() {
        let end = Position { floor: 1, ..at(3) };
        assert_eq!(at(0).towards(end, 500, 1_000), Position { x: 1_500, ..at(0) });
        assert_eq!(at(0).towards(end, 1_000, 1_000), end);
    }
}
