//! Limits of the stations' adapters.

use super::Family;
use crate::causes::factor::{Factor, Part, Rank};
use crate::causes::scene::Scene;
use netburn_analysis::explain::Kind;
use netburn_medium::config::AdapterRate;
use netburn_scenario::plan::{Setting, StationSetting};

pub(super) const FAMILY: Family = Family {
    without: "no `adapter_rate`",
    find,
};

fn find(scene: &Scene<'_>) -> Vec<Factor> {
    let is_changed = |name: &str| {
        let mut settings = scene.plan.changes.iter().flat_map(|change| &change.settings);
        settings.any(|setting| matches!(setting, Setting::Station(of, StationSetting::AdapterRate(_)) if of == name))
    };
    let stations = scene.plan.stations.iter().enumerate();
    let limited = stations.filter(|(_, station)| {
        let rate = station.air.adapter_rate;
        rate.up.is_some() || rate.down.is_some() || is_changed(&station.name)
    });
    let limited: Vec<usize> = limited.map(|(station, _)| station).collect();
    if limited.is_empty() {
        return Vec::new();
    }
    let factor = Factor::builder(Part::Station, Kind::Adapter, Rank::Disturbance)
        .only(limited)
        .edit(|plan| {
            for station in &mut plan.stations {
                station.air.adapter_rate = AdapterRate::default();
            }
            for change in &mut plan.changes {
                change
                    .settings
                    .retain(|setting| !matches!(setting, Setting::Station(_, StationSetting::AdapterRate(_))));
            }
        });
    vec![factor.words(
        |names| format!("The Wi-Fi adapter of {names} is too slow for its workloads"),
        "with a fast Wi-Fi adapter",
        "Use a faster adapter, or a faster port for it (USB 3 instead of USB 2). Changes of the access point do not help.",
    )]
}
