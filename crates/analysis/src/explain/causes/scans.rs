//! Scans of stations at rest.

use super::factor::{Factor, Part, Rank};
use super::intervention::{Effort, InterventionBuilder};
use super::scene::Scene;
use super::{Cause, Definition, Family, Kind};
use netburn_scenario::plan::Joins;

pub(super) const CAUSE: Definition = Definition {
    rule: None,
    what_ifs,
    changes: "no search for other access points, or only below −80 dBm",
};

pub(super) const FAMILY: Family = Family {
    without: "no scans of the stations that do not move",
    find: factors,
};

fn factors(scene: &Scene<'_>) -> Vec<Factor> {
    let stations = scene.plan.stations.iter().enumerate();
    let rests = stations.filter(|(_, station)| {
        station.air.roaming.is_some() && station.air.path.len() < 2 && station.air.signals.is_empty()
    });
    let resting: Vec<usize> = rests.map(|(station, _)| station).collect();
    if resting.is_empty() {
        return Vec::new();
    }
    let radios: Vec<_> = resting
        .iter()
        .filter_map(|station| Some((*station, scene.joined[*station].clone()?)))
        .collect();
    let factor = Factor::builder(Part::Station, Kind::Scans, Rank::Disturbance)
        .only(resting)
        .edit(move |plan| {
            for (station, radio) in &radios {
                if let Some(station) = plan.stations.get_mut(*station) {
                    station.air.roaming = None;
                    station.air.joins = Some(Joins::Radio(radio.clone()));
                }
            }
        });
    vec![factor.words(
        |names| format!("Scans of other channels interrupt {names}"),
        "without scans",
        "The device leaves its channel to look for other access points. Find the program that asks for scans, fix the network to one access \
         point (BSSID), scan less often, or improve the signal so that it has no reason to look for another one.",
    )]
}

fn what_ifs(builder: &mut InterventionBuilder<'_>, cause: &Cause) {
    for name in &cause.stations {
        let key = format!("station.{name}.roaming");
        let label = format!("{name} never looks for another access point");
        builder.propose(Kind::Scans, Effort::Setting, label, &[(&key, "never")]);
        let key = format!("station.{name}.roaming.trigger");
        let label = format!("{name} looks for another access point only below -80 dBm");
        builder.propose(Kind::Scans, Effort::Setting, label, &[(&key, "-80 dBm")]);
    }
}
