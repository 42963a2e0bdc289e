//! Power save of stations.

use super::factor::{Factor, Part, Rank};
use super::intervention::{Effort, InterventionBuilder};
use super::scene::Scene;
use super::{Cause, Definition, Family, Kind, severity, worst_symptom};
use crate::explain::facts::{DOZING, LOCKED, RunFacts};
use crate::format::percent;
use netburn_medium::config::PowerSaveMode;

pub(super) const CAUSE: Definition = Definition {
    rule: Some((find, criterion)),
    what_ifs,
    changes: "no power save",
};

pub(super) const FAMILY: Family = Family {
    without: "no power save of the stations",
    find: factors,
};

/// Condition under which the rule names its cause.
fn criterion() -> String {
    format!(
        "{} or more of a station's probes and packets arrived later than the fastest one by a wait, and these waits ended with the \
         beacons of an access point (each 102.4 ms): the mean resultant length of the phases was {LOCKED} or more. The times at \
         which they were due did not follow the beacons.",
        percent(DOZING)
    )
}

fn find(facts: &RunFacts<'_>, _: &[Cause]) -> Vec<Cause> {
    let stations = 0..facts.plan.stations.len();
    let dozing = stations.filter_map(|station| Some((station, facts.waits_for_beacons(station)?)));
    dozing
        .map(|(station, strength)| {
            let name = facts.name(station);
            Cause {
                kind: Kind::PowerSave,
                severity: severity(facts, [station]),
                title: format!("{name} saves power: packets wait until it wakes"),
                evidence: format!(
                    "The waits of {name} end with the beacons of its access point, each 102.4 ms (mean resultant length {strength:.2}).{}",
                    worst_symptom(facts, &[station])
                ),
                advice: "Switch off power save on the device (`iw dev wlan0 set power_save off` on Linux), or accept delays of up to its listen \
                         interval."
                    .to_owned(),
                stations: vec![name.clone()],
                by: vec![name],
            }
        })
        .collect()
}

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
