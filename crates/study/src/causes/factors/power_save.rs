//! Power save of stations.

use super::Family;
use crate::causes::factor::{Factor, Part, Rank};
use crate::causes::scene::Scene;
use netburn_analysis::explain::Kind;
use netburn_medium::config::PowerSaveMode;

pub(super) const FAMILY: Family = Family {
    without: "no power save of the stations",
    find,
};

fn find(scene: &Scene<'_>) -> Vec<Factor> {
    let stations = scene.plan.stations.iter().enumerate();
    let dozes =
        |air: &netburn_scenario::plan::StationAir| air.power_save.is_some_and(|save| save.mode != PowerSaveMode::Off);
    let dozing: Vec<usize> = stations
        .filter(|(_, station)| dozes(&station.air))
        .map(|(station, _)| station)
        .collect();
    if dozing.is_empty() {
        return Vec::new();
    }
    let factor = Factor::builder(Part::Station, Kind::PowerSave, Rank::Disturbance)
        .only(dozing)
        .edit(|plan| {
            for station in &mut plan.stations {
                station.air.power_save = None;
            }
        });
    vec![factor.words(
        |names| format!("{names} saves power: packets wait until it wakes"),
        "without power save",
        "Switch off power save on the device (`iw dev wlan0 set power_save off` on Linux), or accept delays of up to its listen interval.",
    )]
}
