//! Power save of stations.

use super::factor::{Factor, Part, Rank};
use super::intervention::{Effort, InterventionBuilder};
use super::scene::Scene;
use super::{Cause, Definition, Family, Kind};
use netburn_medium::config::PowerSaveMode;

pub(super) const CAUSE: Definition = Definition {
    rule: None,
    what_ifs,
    changes: "no power save",
};

pub(super) const FAMILY: Family = Family {
    without: "no power save of the stations",
    find: factors,
};

fn factors(scene: &Scene<'_>) -> Vec<Factor> {
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

fn what_ifs(builder: &mut InterventionBuilder<'_>, cause: &Cause) {
    for name in &cause.stations {
        let key = format!("station.{name}.power_save");
        builder.propose(
            Kind::PowerSave,
            Effort::Setting,
            format!("{name} does not doze"),
            &[(&key, "off")],
        );
    }
}
