//! The radios that a moving station can join.

use super::link::Link;
use super::{MobileStation, PlacedRadio, WifiStation, joins, node};
use crate::error::NetworkError;
use netburn_scenario::Plan;

/// The stations that move, or that have a roaming policy.
pub(super) fn mobile_stations(
    plan: &Plan,
    radios: &[PlacedRadio],
    wifi_stations: &[WifiStation],
) -> Result<Vec<MobileStation>, NetworkError> {
    let mut mobile = Vec::new();
    let mut free = radios.len() + wifi_stations.len();
    for (index, joined) in wifi_stations.iter().enumerate() {
        let station = &plan.stations[joined.station];
        if station.air.roaming.is_none() && station.air.path.len() < 2 {
            continue;
        }
        let mut choices = joins::choose(plan, station, radios)?;
        if station.air.roaming.is_none() {
            choices.truncate(1);
        }
        // By radio, so that the order does not depend on the first position.
        choices.sort_by_key(|(radio, _)| *radio);
        let mut candidates = Vec::new();
        for (radio, quality) in choices {
            if radio == joined.radio.index() {
                candidates.push(joined.clone());
                continue;
            }
            candidates.push(WifiStation {
                node: node(free),
                radio: node(radio),
                ap: radios[radio].ap,
                quality,
                link: Link::out_of_range(station, &radios[radio])?,
                ..joined.clone()
            });
            free += 1;
        }
        let first = candidates.iter().position(|at| at.radio == joined.radio);
        mobile.push(MobileStation {
            wifi_station: index,
            candidates,
            first: first.expect("it has joined one of them"),
        });
    }
    Ok(mobile)
}
