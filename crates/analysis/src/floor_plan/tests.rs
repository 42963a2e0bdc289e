//! Floor plans of scenarios.

use super::*;
use netburn_scenario::Document;

fn plan(text: &str) -> Plan {
    Document::from_toml("test.toml", text).unwrap().resolve().unwrap()
}

const WALK: &str = r#"
duration = "30 s"
[building]
walls = ["4 m, -5 m to 4 m, 5 m", "8 m, -5 m to 8 m, 5 m"]
[network.home]
radios = ["hall.5g", "attic.5g"]
[ap.hall]
position = "2 m, 0 m"
[ap.hall.radio.5g]
channel = 36
[ap.hall.radio.2g]
channel = 6
[ap.attic]
position = "22 m, 0 m"
[ap.attic.radio.5g]
channel = 149
[station.phone]
joins = "home"
path = ["2 m, 0 m", "22 m, 0 m"]
speed = "2 m/s"
workload = "voip"
"#;

fn seconds(seconds: i64) -> Instant {
    Instant::from_millis(seconds * 1_000)
}

/// Walls and positions from 2 to 22 m and from −5 to 5 m, with a margin of 2 m. 24 m and 14 m in cells of 250 mm are 96
/// and 56.
#[test]
fn extent_and_cells() {
    let floor_plan = FloorPlan::new(&plan(WALK), None).unwrap();
    assert_eq!(floor_plan.south_west, (0, -7_000));
    assert_eq!(floor_plan.north_east, (24_000, 7_000));
    assert_eq!((floor_plan.cell, floor_plan.columns, floor_plan.rows), (250, 96, 56));
    assert_eq!(floor_plan.floors.len(), 1);
    assert_eq!(floor_plan.floors[0].coverage.len(), 96 * 56);
}

/// 20 dBm, TGax residential in 5 GHz: at 10 m behind two walls 20 − 81.4 dBm. The centre of the cell of column 48 and
/// row 28 is at 12.125 m, 0.125 m, 10.126 m from the hall: 35 · log10(1.0126) = 0.19 dB less. The attic is 9.876 m away
/// without a wall and therefore stronger: 81.36 − 10 − 0.19 = 71.17 dB.
#[test]
fn the_coverage_is_that_of_the_model() {
    let floor_plan = FloorPlan::new(&plan(WALK), None).unwrap();
    assert_eq!(floor_plan.band, Band::Ghz5);
    let middle = floor_plan.floors[0].coverage[28 * 96 + 48];
    assert_eq!(floor_plan.aps[middle.transmitter].name, "attic");
    assert!((middle.dbm + 51.17).abs() < 0.06, "{}", middle.dbm);
    let alone = WALK
        .replace("attic.5g\"]", "hall.2g\"]")
        .replace("22 m, 0 m\"\n[ap.attic.radio.5g]", "22 m, 0 m\"\n[ap.attic.radio.2g]");
    let alone = alone.replace("channel = 149", "channel = 1");
    let far = FloorPlan::new(&plan(&alone), None).unwrap().floors[0].coverage[28 * 96 + 48];
    assert_eq!(far.transmitter, 0);
    assert!((far.dbm + 61.55).abs() < 0.06, "{}", far.dbm);
}

/// 2 m/s from 2 m on: 12 m after 5 s.
#[test]
fn positions_are_those_of_the_way() {
    let floor_plan = FloorPlan::new(&plan(WALK), None).unwrap();
    let at = |time| floor_plan.position(0, seconds(time)).unwrap().x;
    assert_eq!((at(0), at(5), at(60)), (2_000, 12_000, 22_000));
    assert_eq!(floor_plan.position(1, seconds(0)), None);
}

/// A change ends the path after 5 s, and another one the position after 8 s.
#[test]
fn changes_end_the_way() {
    let changed = format!(
        "{WALK}\n[[at]]\ntime = \"5 s\"\nset = {{ \"station.phone.position\" = \"9 m, 30 m\" }}\n\
         [[at]]\ntime = \"8 s\"\nset = {{ \"station.phone.signal\" = \"-60 dBm\" }}\n"
    );
    let floor_plan = FloorPlan::new(&plan(&changed), None).unwrap();
    let at = |time| floor_plan.position(0, seconds(time)).map(|at| (at.x, at.y));
    assert_eq!((at(4), at(5), at(8)), (Some((10_000, 0)), Some((9_000, 30_000)), None));
    assert_eq!(floor_plan.stations[0].end_of_way(), seconds(5));
    assert_eq!(floor_plan.north_east.1, 32_000);
}

#[test]
fn bands() {
    let plan_of_walk = plan(WALK);
    let in_2g = FloorPlan::new(&plan_of_walk, Some(Band::Ghz2_4)).unwrap();
    // Only the hall has a radio there.
    assert!(in_2g.floors[0].coverage.iter().all(|cell| cell.transmitter == 0));
    let error = FloorPlan::new(&plan_of_walk, Some(Band::Ghz6)).unwrap_err();
    assert_eq!(
        error.to_string(),
        "no access point has a radio in `6g`; found `2g`, `5g`"
    );
    let error = FloorPlan::new(&Plan::new("empty"), None).unwrap_err();
    assert_eq!(error.to_string(), "the scenario has no positions");
}

/// 10 km in cells of 250 mm would be 40 000 cells in a row.
#[test]
fn a_large_building_has_large_cells() {
    let large = WALK.replace("22 m, 0 m\"\n[ap.attic.radio", "9 km, 9 km\"\n[ap.attic.radio");
    let floor_plan = FloorPlan::new(&plan(&large), None).unwrap();
    assert!(floor_plan.columns * floor_plan.rows <= 12_000);
    assert_eq!(
        floor_plan.floors[0].coverage.len(),
        floor_plan.columns * floor_plan.rows
    );
}

/// A path that ends on another floor, and walls on a third one.
#[test]
fn floors() {
    let house = WALK
        .replace("[\"2 m, 0 m\", \"22 m, 0 m\"]", "[\"2 m, 0 m\", \"2 m, 1 m, floor 1\"]")
        .replace("walls = [", "walls = [\"0 m, 0 m, floor -1 to 1 m, 0 m, floor -1\", ");
    let floor_plan = FloorPlan::new(&plan(&house), None).unwrap();
    let numbers: Vec<i16> = floor_plan.floors.iter().map(|floor| floor.number).collect();
    assert_eq!(numbers, [-1, 0, 1]);
    let walls: Vec<usize> = floor_plan.floors.iter().map(|floor| floor.walls.len()).collect();
    assert_eq!(walls, [1, 2, 0]);
}
