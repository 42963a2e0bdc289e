//! Stations that leave their channel at fixed times.

use super::factor::{Factor, Part, Rank};
use super::scene::Scene;
use super::{Family, Kind};
use crate::format::span;
use netburn_scenario::plan::Absence;

pub(super) const FAMILY: Family = Family {
    without: "a station that stays on its channel",
    find: factors,
};

fn factors(scene: &Scene<'_>) -> Vec<Factor> {
    let stations = scene.plan.stations.iter().enumerate();
    let absent = stations.filter_map(|(index, station)| Some((index, &station.name, station.air.absence?)));
    let factor = |(index, name, absence): (usize, &String, Absence)| {
        let factor = Factor::builder(Part::Station, Kind::Scans, Rank::Disturbance)
            .only(vec![index])
            .edit(move |plan| {
                if let Some(station) = plan.stations.get_mut(index) {
                    station.air.absence = None;
                }
            });
        factor.words(
            |names| format!("Absences from the channel interrupt {names}"),
            format!("with {name} always on its channel"),
            format!(
                "It is away for {} of each {}. Switch off what takes its radio away: AirDrop and similar discovery, Bluetooth, or programs that \
                 scan for networks.",
                span(absence.length.as_millis_f64()),
                span(absence.interval.as_millis_f64())
            ),
        )
    };
    absent.map(factor).collect()
}
