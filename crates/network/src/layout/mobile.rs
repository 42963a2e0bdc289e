//! The radios that a moving station can join.

use super::link::Link;
use super::{MobileStation, PlacedRadio, WifiStation, joins, node};
use crate::error::NetworkError;
use netburn_medium::config::SteeringPolicy;
use netburn_scenario::Plan;
use netburn_scenario::plan::{Joins, Station};

/// The stations that move, that have a roaming policy, or that their access points can move.
pub(super) fn mobile_stations(
    plan: &Plan,
    radios: &[PlacedRadio],
    wifi_stations: &[WifiStation],
) -> Result<Vec<MobileStation>, NetworkError> {
    let mut mobile = Vec::new();
    let mut free = radios.len() + wifi_stations.len();
    for (index, joined) in wifi_stations.iter().enumerate() {
        let station = &plan.stations[joined.station];
        let roams = station.air.roaming.is_some() || is_steered(plan, station);
        if !roams && station.air.path.len() < 2 && !has_changing_signals(station) {
            continue;
        }
        let mut choices = joins::choose(plan, station, radios)?;
        if !roams {
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
                link: Link::at_any_quality(station, &radios[radio])?,
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

/// Returns whether the plan has signals of a station that change over time.
fn has_changing_signals(station: &Station) -> bool {
    station.air.signals.iter().any(|signal| signal.points.len() > 1)
}

/// Returns whether the access points can ask a station to move.
fn is_steered(plan: &Plan, station: &Station) -> bool {
    let Some(Joins::Network(name)) = &station.air.joins else {
        return false;
    };
    let network = plan.networks.iter().find(|network| network.name == *name);
    let policy = network.map_or(SteeringPolicy::None, |network| network.steering.policy);
    !matches!(policy, SteeringPolicy::None | SteeringPolicy::ProbeSuppression)
}
