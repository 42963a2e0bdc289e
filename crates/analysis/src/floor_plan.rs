//! A scenario's building as plain data: walls, access points, stations with their paths, and the
//! coverage of the strongest access point with the powers at the start of the load. The crate `report`
//! draws it.

use netburn_medium::config::{Band, RadioConfig};
use netburn_medium::coverage::{Grid, Reception, Transmitter, coverage};
use netburn_medium::geometry::{Building, BuildingModel, Position, Wall};
use netburn_medium::timed_path::{Leg, TimedPath};
use netburn_scenario::Plan;
use netburn_scenario::plan::{DEFAULT_SPEED, RadioName, Setting, StationSetting};
use netburn_units::Instant;
use std::collections::BTreeSet;

/// Side of a cell of the coverage in mm, unless the building needs too many of them.
const CELL: i64 = 250;

/// Maximum number of cells of all floors together. A larger building has larger cells.
const MAX_CELLS: i64 = 12_000;

/// Width of the margin around walls and positions in mm.
const MARGIN: i64 = 2_000;

/// A building with its access points and stations.
#[derive(Debug, Clone, PartialEq)]
pub struct FloorPlan {
    /// Band of the coverage.
    pub band: Band,
    /// Path-loss model.
    pub model: BuildingModel,
    /// South-western corner in mm, the same on all floors.
    pub south_west: (i64, i64),
    /// North-eastern corner in mm.
    pub north_east: (i64, i64),
    /// Side of a cell of the coverage in mm.
    pub cell: i64,
    /// Number of cells from west to east.
    pub columns: usize,
    /// Number of cells from south to north.
    pub rows: usize,
    /// Floors with a wall, an access point or a station, from the lowest one.
    pub floors: Vec<Floor>,
    /// Access points with a position, in the plan's order.
    pub aps: Vec<PlacedAp>,
    /// Stations with a position, in the plan's order.
    pub stations: Vec<PlacedStation>,
}

/// One floor.
#[derive(Debug, Clone, PartialEq)]
pub struct Floor {
    /// Number; 0 is at street level.
    pub number: i16,
    /// Its walls.
    pub walls: Vec<Wall>,
    /// Signal of the strongest access point at the centre of each cell, row by row from the south-western corner.
    /// `transmitter` is an index in [`FloorPlan::aps`].
    pub coverage: Vec<Reception>,
}

/// An access point with its position.
#[derive(Debug, Clone, PartialEq)]
pub struct PlacedAp {
    /// Name.
    pub name: String,
    /// Position.
    pub position: Position,
    /// Radios of all bands.
    pub radios: Vec<(RadioName, RadioConfig)>,
}

/// A station with its path.
#[derive(Debug, Clone, PartialEq)]
pub struct PlacedStation {
    /// Index in the plan's stations.
    pub station: usize,
    /// Name.
    pub name: String,
    /// Path with its times; without legs if the station stays.
    pub way: TimedPath,
    /// Timed changes of the scenario that end the path: their times in order, and the new positions. `None`: the station
    /// has no position from then on.
    pub changes: Vec<(Instant, Option<Position>)>,
}

impl PlacedStation {
    /// Position at a time; `None` if it has none then.
    #[must_use]
    pub fn at(&self, now: Instant) -> Option<Position> {
        let last = self.changes.iter().rev().find(|(time, _)| *time <= now);
        last.map_or_else(|| Some(self.way.at(now)), |(_, position)| *position)
    }

    /// Time at which the path or a change ends its walk.
    #[must_use]
    pub fn end_of_way(&self) -> Instant {
        let end = self.way.legs().last().map_or(Instant::ZERO, Leg::end);
        self.changes.first().map_or(end, |(time, _)| end.min(*time))
    }
}

/// Reason for which there is no floor plan.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum NoFloorPlan {
    /// No access point has a position.
    #[error("the scenario has no positions")]
    NoPositions,
    /// No access point with a position has a radio in the band.
    #[error("no access point has a radio in `{band}`; found `{found}`", band = band.name())]
    NoRadio {
        /// Requested band.
        band: Band,
        /// Bands of the radios.
        found: String,
    },
}

impl FloorPlan {
    /// Floor plan of a scenario, with the coverage in `band`; `None`: the highest band that has radios.
    ///
    /// # Errors
    /// If no access point has a position, or none of them has a radio in the band.
    pub fn new(plan: &Plan, band: Option<Band>) -> Result<Self, NoFloorPlan> {
        let aps: Vec<PlacedAp> = plan
            .aps
            .iter()
            .filter_map(|ap| {
                Some(PlacedAp {
                    name: ap.name.clone(),
                    position: ap.position?,
                    radios: ap.all_radios().ok()?,
                })
            })
            .collect();
        let bands: BTreeSet<Band> = aps
            .iter()
            .flat_map(|ap| &ap.radios)
            .map(|(name, _)| name.band)
            .collect();
        let highest = *bands.last().ok_or(NoFloorPlan::NoPositions)?;
        let band = band.unwrap_or(highest);
        if !bands.contains(&band) {
            let names: Vec<&str> = bands.iter().map(|band| band.name()).collect();
            let found = names.join("`, `");
            return Err(NoFloorPlan::NoRadio { band, found });
        }
        let placed = plan.stations.iter().enumerate().filter_map(|(station, of)| {
            let way = TimedPath::new(&of.air.path, of.air.speed.unwrap_or(DEFAULT_SPEED))?;
            let name = of.name.clone();
            let changes = changes(plan, &of.name);
            Some(PlacedStation {
                station,
                name,
                way,
                changes,
            })
        });
        let model = plan.building.as_ref().map(|building| building.model.clone());
        Ok(Self::arranged(band, &model.unwrap_or_default(), aps, placed.collect()))
    }

    fn arranged(band: Band, building: &Building, aps: Vec<PlacedAp>, stations: Vec<PlacedStation>) -> Self {
        let walls = building.walls.iter().flat_map(|wall| [wall.from, wall.to]);
        let ways = stations.iter().flat_map(|station| {
            let legs = station.way.legs().iter().map(|leg| leg.to);
            let changes = station.changes.iter().filter_map(|(_, position)| *position);
            std::iter::once(station.way.first()).chain(legs).chain(changes)
        });
        let points: Vec<Position> = walls.chain(aps.iter().map(|ap| ap.position)).chain(ways).collect();
        let numbers: BTreeSet<i16> = points.iter().map(|at| at.floor).collect();
        let (west, east) = extent(points.iter().map(|at| at.x));
        let (south, north) = extent(points.iter().map(|at| at.y));
        let count = |cell: i64| ((east - west + cell - 1) / cell, (north - south + cell - 1) / cell);
        let mut cell = CELL;
        while count(cell).0 * count(cell).1 * numbers.len() as i64 > MAX_CELLS {
            cell *= 2;
        }
        let (columns, rows) = (count(cell).0 as usize, count(cell).1 as usize);
        // The strongest radio of each access point.
        let senders = aps.iter().enumerate().filter_map(|(index, ap)| {
            let here = ap.radios.iter().filter(|(name, _)| name.band == band);
            let power = here.map(|(_, config)| config.power).max()?;
            let position = ap.position;
            Some((index, Transmitter { position, power, band }))
        });
        let (ap_of, senders): (Vec<usize>, Vec<Transmitter>) = senders.unzip();
        let floors = numbers.into_iter().map(|number| {
            let corner = Position {
                x: west,
                y: south,
                floor: number,
            };
            let grid = Grid {
                corner,
                cell,
                columns,
                rows,
            };
            let mut coverage = coverage(building, &senders, &grid);
            for cell in &mut coverage {
                cell.transmitter = ap_of[cell.transmitter];
            }
            let walls = building.walls.iter().filter(|wall| wall.from.floor == number);
            Floor {
                number,
                walls: walls.copied().collect(),
                coverage,
            }
        });
        FloorPlan {
            band,
            model: building.model,
            south_west: (west, south),
            north_east: (east, north),
            cell,
            columns,
            rows,
            floors: floors.collect(),
            aps,
            stations,
        }
    }

    /// Position of a station of the plan at a time; `None` if it has none.
    #[must_use]
    pub fn position(&self, station: usize, at: Instant) -> Option<Position> {
        let placed = self.stations.iter().find(|placed| placed.station == station)?;
        placed.at(at)
    }
}

/// Timed changes that place a station, or that give it a signal instead of a position.
fn changes(plan: &Plan, station: &str) -> Vec<(Instant, Option<Position>)> {
    let changes = plan.changes.iter().flat_map(|change| {
        let time = Instant::ZERO + change.time;
        change.settings.iter().filter_map(move |setting| match setting {
            Setting::Station(name, StationSetting::Position(position)) if name == station => {
                Some((time, Some(*position)))
            }
            Setting::Station(name, StationSetting::Quality(_)) if name == station => Some((time, None)),
            _ => None,
        })
    });
    let mut changes: Vec<_> = changes.collect();
    changes.sort_by_key(|(time, _)| *time);
    changes
}

/// Range of some coordinates with the margin, extended to whole metres.
fn extent(values: impl Iterator<Item = i64> + Clone) -> (i64, i64) {
    let least = values.clone().min().unwrap_or(0) - MARGIN;
    let most = values.max().unwrap_or(0) + MARGIN;
    (least.div_euclid(1_000) * 1_000, (most + 999).div_euclid(1_000) * 1_000)
}

/// Name of a path-loss model.
#[must_use]
pub const fn model_name(model: BuildingModel) -> &'static str {
    match model {
        BuildingModel::TgaxResidential => "TGax residential",
        BuildingModel::P1238Residential => "ITU-R P.1238 residential",
        BuildingModel::P1238Office => "ITU-R P.1238 office",
        BuildingModel::IndoorLos => "3GPP TR 38.901 indoor hotspot, line of sight",
        BuildingModel::IndoorNlos => "3GPP TR 38.901 indoor hotspot, no line of sight",
    }
}

#[cfg(test)]
mod tests;
