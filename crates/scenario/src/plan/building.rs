//! The building of a scenario.

use crate::decode::{Context, FromNode, List, Spanned};
use crate::node::Node;
use crate::places::{Place, WallText};
use crate::scalars::{Range, Ratio, parsed};
use crate::section_macro::section;
use crate::value::{PlanValue, section_values};
use netburn_medium::fading::FadingModel;
use netburn_medium::geometry;
use netburn_medium::geometry::BuildingModel;
use netburn_units::{Db, Distance};
use schemars::{Schema, SchemaGenerator, json_schema};
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

section! {
    /// Building in which access points and stations have positions. The signal between two positions follows from distance, floors and walls.
    BuildingSection(Building = Building::default()) {
        /// Path-loss model. `tgax-residential`: TGax (IEEE 802.11-14/0980). `p1238-residential`, `p1238-office`: ITU-R P.1238. `3gpp-indoor-los`, `3gpp-indoor-nlos`: 3GPP TR 38.901.
        path_loss: BuildingModel => model.model;
        /// Walls, each between two positions: `"4 m, 0 m to 4 m, 6 m"`.
        walls: List<WallText> => model.walls;
        /// Lowest and highest floor: `"0 to 1"`. A position on another floor is an error.
        floors: FloorsText => floors, default "any";
        /// Loss of a wall.
        wall_loss: Ratio => model.wall_loss, default "5 dB for `tgax-residential`; 0 dB for the other models, which include walls";
        /// Standard deviation of shadowing along a path; 3 to 8 dB indoors.
        shadowing: Ratio => shadowing;
        /// Distance over which the correlation of shadowing falls to 1/e.
        shadowing_distance: Range => shadowing_distance;
        /// Fast fading of stations on a path. `rayleigh`: without a line of sight. `rician`: with one. All subcarriers have the same fading, which is the worst case.
        fading: FadingModel => fading;
        /// Power of the line of sight over that of all reflections, for `fading = "rician"`.
        rician_factor: Ratio => rician_factor;
    }
}

section_values! {
    BuildingSection => Building,
}

/// Floors of a building, as `"0 to 2"`, or one of them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct FloorsText(pub(crate) Floors);

const FLOORS: &str = "the lowest and the highest floor, such as `\"0 to 1\"`, from −20 to 200";

impl FromNode for FloorsText {
    fn read(node: &Node, cx: &mut Context) -> Option<Self> {
        parsed(node, cx, FLOORS, |text| {
            let (lowest, highest) = text.split_once(" to ").unwrap_or((text, text));
            let floor = |text: &str| -> Option<i16> {
                let number = text.trim().replace('\u{2212}', "-").parse().ok()?;
                (-20..=200).contains(&number).then_some(number)
            };
            let (lowest, highest) = (floor(lowest)?, floor(highest)?);
            (lowest <= highest).then_some(FloorsText(Floors { lowest, highest }))
        })
    }

    fn schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": "string", "x-value": "the lowest and the highest floor, `\"0 to 1\"`" })
    }
}

impl PlanValue<FloorsText> for Floors {
    fn from_key(key: &FloorsText) -> Self {
        key.0
    }

    fn to_json(&self) -> serde_json::Value {
        self.to_string().into()
    }
}

/// Reports a position on a floor that the building does not have.
pub(crate) fn check_floor(at: &Spanned<Place>, building: Option<&Building>, cx: &mut Context) {
    let Some(floors) = building.and_then(|building| building.floors) else {
        return;
    };
    let floor = at.value.0.floor;
    if !(floors.lowest..=floors.highest).contains(&floor) {
        let help = format!("expected {floors}, or change `floors` of `[building]`");
        cx.problem_at(at, format!("the building has no floor {floor}"), help);
    }
}
