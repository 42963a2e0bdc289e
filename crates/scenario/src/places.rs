//! Positions and walls of a building.

use crate::decode::{Context, FromNode};
use crate::node::Node;
use crate::scalars::parsed;
use crate::value::PlanValue;
use netburn_medium::geometry::{Position, Wall};
use netburn_units::Distance;
use schemars::{Schema, SchemaGenerator, json_schema};

/// A position, as `"2 m, 5.5 m"` or `"2 m, 5.5 m, floor 1"`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Place(pub(crate) Position);

const POSITION: &str = "a position: metres from west to east and from south to north, such as `\"2 m, 5.5 m\"`, and the floor if it is not 0: `\"2 m, 5.5 m, floor 1\"`";
const WALL: &str = "a wall between two positions of one floor, such as `\"4 m, 0 m to 4 m, 6 m\"`";

/// Largest coordinate, in mm.
const MAX: u64 = 10_000_000;
const RANGE: &str = "expected coordinates from −10 km to 10 km, and floors from −20 to 200";

impl FromNode for Place {
    fn read(node: &Node, cx: &mut Context) -> Option<Self> {
        if let Some(Err(OutOfRange)) = node.text().map(read) {
            cx.problem(
                &node.place,
                format!("{} is out of range", node.found()),
                RANGE.to_owned(),
            );
            return None;
        }
        parsed(node, cx, POSITION, |text| position(text).map(Place))
    }

    fn schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": "string", "x-value": "a position, `\"2 m, 5.5 m\"` or `\"2 m, 5.5 m, floor 1\"`" })
    }
}

impl PlanValue<Place> for Position {
    fn from_key(key: &Place) -> Self {
        key.0
    }

    fn to_json(&self) -> serde_json::Value {
        self.to_string().into()
    }
}

/// A wall, as `"4 m, 0 m to 4 m, 6 m"`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct WallText(pub(crate) Wall);

impl FromNode for WallText {
    fn read(node: &Node, cx: &mut Context) -> Option<Self> {
        parsed(node, cx, WALL, |text| {
            let (from, to) = text.split_once(" to ")?;
            let (from, to) = (position(from)?, position(to)?);
            (from.floor == to.floor && from != to).then_some(WallText(Wall { from, to }))
        })
    }

    fn schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": "string", "x-value": "a wall, `\"4 m, 0 m to 4 m, 6 m\"`" })
    }
}

impl PlanValue<WallText> for Wall {
    fn from_key(key: &WallText) -> Self {
        key.0
    }

    fn to_json(&self) -> serde_json::Value {
        format!("{} to {}", self.from, self.to).into()
    }
}

fn position(text: &str) -> Option<Position> {
    read(text).ok().flatten()
}

/// A position with a coordinate or a floor that is out of range.
struct OutOfRange;

/// Reads a position; `None` if the text is not one.
fn read(text: &str) -> Result<Option<Position>, OutOfRange> {
    let Some((x, y, floor)) = numbers(text) else {
        return Ok(None);
    };
    let limited = |mm: i64| Some(mm).filter(|mm| mm.unsigned_abs() <= MAX).ok_or(OutOfRange);
    let floor = i16::try_from(floor).ok().filter(|floor| (-20..=200).contains(floor));
    Ok(Some(Position {
        x: limited(x)?,
        y: limited(y)?,
        floor: floor.ok_or(OutOfRange)?,
    }))
}

/// Coordinates in mm, and floor.
fn numbers(text: &str) -> Option<(i64, i64, i64)> {
    let mut parts = text.split(',').map(str::trim);
    let (x, y) = (coordinate(parts.next()?)?, coordinate(parts.next()?)?);
    let floor = match parts.next() {
        Some(floor) => floor.strip_prefix("floor")?.trim().parse().ok()?,
        None => 0,
    };
    parts.next().is_none().then_some((x, y, floor))
}

/// A distance with a sign, in mm.
fn coordinate(text: &str) -> Option<i64> {
    let (sign, distance) = match text.strip_prefix(['-', '\u{2212}']) {
        Some(rest) => (-1, rest),
        None => (1, text),
    };
    let distance: Distance = distance.parse().ok()?;
    Some(sign * i64::try_from(distance.as_millimetres()).ok()?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn positions() {
        let at = |x, y, floor| Some(Position { x, y, floor });
        assert_eq!(position("2 m, 5.5 m"), at(2_000, 5_500, 0));
        assert_eq!(position("-2m,30 cm, floor -1"), at(-2_000, 300, -1));
        for wrong in [
            "2 m",
            "2, 3",
            "2 m, 3 m, 4 m",
            "2 m, 3 m, floor 1, 5 m",
            "--2 m, 3 m",
            "11 km, 0 m",
            "",
        ] {
            assert_eq!(position(wrong), None, "{wrong}");
        }
    }

    /// The text of a position parses to the same position.
    #[test]
    fn round_trip() {
        for position_of in [(0, 0, 0), (-1, 9_999_999, 3), (12_340, -50, -20)] {
            let (x, y, floor) = position_of;
            let place = Position { x, y, floor };
            assert_eq!(position(&place.to_string()), Some(place));
        }
    }
}
