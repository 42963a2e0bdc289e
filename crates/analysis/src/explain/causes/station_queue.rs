//! Queues in the stations: the transmit queue, the hardware queue, and data below TCP.

use super::factor::{Factor, Part, Rank};
use super::scene::Scene;
use super::{Family, Kind};
use netburn_scenario::plan::{Setting, Station, StationAir, StationSetting};
use netburn_workload::Direction;

pub(super) const FAMILY: Family = Family {
    without: "a queue for each flow (FQ-CoDel) and current TCP Small Queues in the stations",
    find: factors,
};

fn factors(scene: &Scene<'_>) -> Vec<Factor> {
    let stations = scene.plan.stations.iter().enumerate();
    let poor =
        stations.filter(|(number, station)| is_poor(station) && !scene.elastic(&[*number], Direction::Up).is_empty());
    let poor: Vec<usize> = poor.map(|(station, _)| station).collect();
    if poor.is_empty() {
        return Vec::new();
    }
    let factor = Factor::builder(Part::Station, Kind::Device, Rank::Queue)
        .only(poor)
        .edit(|plan| {
            let usual = StationAir::default();
            for station in &mut plan.stations {
                (station.air.queue, station.air.hardware_queue) = (usual.queue, usual.hardware_queue);
                (station.tsq, station.gso) = (None, true);
            }
            for change in &mut plan.changes {
                change
                    .settings
                    .retain(|setting| !matches!(setting, Setting::Station(_, StationSetting::Queue(_))));
            }
        });
    vec![factor.words(
        |names| format!("{names}'s own upload fills its queue: the delay is in the device"),
        "with a queue for each flow in the device",
        "Use a queue for each flow in the device (FQ-CoDel), current TCP Small Queues, or a limit of the upload's rate. Changes of the access \
         point and of the line do not help.",
    )]
}

fn is_poor(station: &Station) -> bool {
    let usual = StationAir::default();
    station.air.queue != usual.queue
        || station.tsq.is_some()
        || !station.gso
        || station.link.is_none() && station.air.hardware_queue != usual.hardware_queue
}
