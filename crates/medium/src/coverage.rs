//! Coverage of a building: the signal of the strongest transmitter in each cell of a grid.
//!
//! The signal is the transmit power less the path loss of [`Building::loss_db`], without shadowing
//! and fading.

use crate::config::Band;
use crate::geometry::{Building, Position};
use netburn_units::Dbm;

/// A transmitter in a building.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Transmitter {
    /// Position.
    pub position: Position,
    /// Transmit power.
    pub power: Dbm,
    /// Band.
    pub band: Band,
}

/// Signal of the strongest transmitter.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Reception {
    /// Index of the transmitter.
    pub transmitter: usize,
    /// Signal in dBm.
    pub dbm: f64,
}

/// A grid of square cells on one floor.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Grid {
    /// South-western corner, and the floor.
    pub corner: Position,
    /// Side of a cell in mm.
    pub cell: i64,
    /// Number of cells from west to east.
    pub columns: usize,
    /// Number of cells from south to north.
    pub rows: usize,
}

impl Grid {
    /// Centre of a cell.
    #[must_use]
    pub fn centre(&self, column: usize, row: usize) -> Position {
        let along = |corner: i64, index: usize| corner + self.cell * index as i64 + self.cell / 2;
        Position {
            x: along(self.corner.x, column),
            y: along(self.corner.y, row),
            floor: self.corner.floor,
        }
    }
}

/// The strongest transmitter at a position; `None` without any. Of equal signals the first one counts.
#[must_use]
pub fn strongest(building: &Building, transmitters: &[Transmitter], at: Position) -> Option<Reception> {
    let mut best: Option<Reception> = None;
    for (transmitter, sender) in transmitters.iter().enumerate() {
        let dbm = sender.power.as_dbm_f64() - building.loss_db(sender.band, sender.position, at);
        if best.is_none_or(|best| dbm > best.dbm) {
            best = Some(Reception { transmitter, dbm });
        }
    }
    best
}

/// The strongest transmitter at the centre of each cell, row by row from the south-western corner.
/// Empty without transmitters.
#[must_use]
pub fn coverage(building: &Building, transmitters: &[Transmitter], grid: &Grid) -> Vec<Reception> {
    let cells = (0..grid.rows).flat_map(|row| (0..grid.columns).map(move |column| (column, row)));
    cells
        .filter_map(|(column, row)| strongest(building, transmitters, grid.centre(column, row)))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::geometry::Wall;

    fn at(x: i64, y: i64) -> Position {
        Position { x, y, floor: 0 }
    }

    fn sender(x: i64) -> Transmitter {
        Transmitter {
            position: at(x, 0),
            power: Dbm::from_dbm(20),
            band: Band::Ghz5,
        }
    }

    fn building(walls: &[i64]) -> Building {
        let wall = |x: &i64| Wall {
            from: at(*x, -5_000),
            to: at(*x, 5_000),
        };
        Building {
            walls: walls.iter().map(wall).collect(),
            ..Building::default()
        }
    }

    /// TGax residential at 5.25 GHz, published: 10 m and two walls are 81.4 dB. 20 dBm − 81.4 dB = −61.4 dBm.
    #[test]
    fn signal_at_ten_metres_behind_two_walls() {
        let got = strongest(&building(&[4_000, 8_000]), &[sender(0)], at(10_000, 0)).unwrap();
        assert!((got.dbm + 61.4).abs() < 0.06, "{}", got.dbm);
    }

    /// Without walls and with equal powers the nearer one is the stronger one. Cells of 1 m from −1 m on have their
    /// centres at −0.5 to 10.5 m. In the middle between 0 and 10 m the first one counts.
    #[test]
    fn the_nearer_transmitter_is_the_stronger_one() {
        let senders = [sender(0), sender(10_000)];
        let grid = Grid {
            corner: at(-1_000, -500),
            cell: 1_000,
            columns: 12,
            rows: 1,
        };
        assert_eq!(grid.centre(11, 0), at(10_500, 0));
        let got: Vec<usize> = coverage(&building(&[]), &senders, &grid)
            .iter()
            .map(|cell| cell.transmitter)
            .collect();
        assert_eq!(got, [0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 1, 1]);
        let middle = strongest(&building(&[]), &senders, at(5_000, 0)).unwrap();
        assert_eq!(middle.transmitter, 0);
    }

    /// Rows begin in the south: a wall between the rows weakens only the northern one.
    #[test]
    fn rows_begin_in_the_south() {
        let wall = Wall {
            from: at(-5_000, 1_000),
            to: at(5_000, 1_000),
        };
        let building = Building {
            walls: vec![wall],
            ..Building::default()
        };
        let grid = Grid {
            corner: at(-500, -500),
            cell: 1_000,
            columns: 1,
            rows: 3,
        };
        let got: Vec<f64> = coverage(&building, &[sender(0)], &grid)
            .iter()
            .map(|cell| cell.dbm)
            .collect();
        // Below 1 m: 46.85 dB. 2 m: 6.02 dB more, and a wall of 5 dB.
        for (got, expected) in got.iter().zip([-26.85, -26.85, -37.87]) {
            assert!((got - expected).abs() < 0.06, "{got} for {expected}");
        }
        assert_eq!(coverage(&building, &[], &grid), []);
    }
}
