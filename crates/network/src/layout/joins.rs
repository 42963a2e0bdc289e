//! Choice of a station's radio.

use super::{PlacedRadio, link, placement};
use crate::error::NetworkError;
use netburn_medium::config::{Band, LinkQuality, RadioSelection, SteeringPolicy};
use netburn_medium::signal::{PathLoss, received_dbm};
use netburn_scenario::Plan;
use netburn_scenario::plan::{Joins, RadioRef, Station};

/// Radios that the station can join, the preferred one first: the index of each, and the quality of the
/// link.
pub(super) fn choose(
    plan: &Plan,
    station: &Station,
    radios: &[PlacedRadio],
) -> Result<Vec<(usize, LinkQuality)>, NetworkError> {
    let Some(joins) = &station.air.joins else {
        return Err(NetworkError::MissingJoins {
            station: station.name.clone(),
            hint: radios
                .first()
                .map_or_else(|| "home.5g".to_owned(), |radio| radio.name.to_string()),
        });
    };
    let at = |index: usize| {
        placement::quality(plan, station, &radios[index]).ok_or_else(|| NetworkError::MissingQuality {
            station: station.name.clone(),
        })
    };
    let index = |name: &RadioRef| radios.iter().position(|radio| radio.name == *name);
    let offered: Vec<usize> = plan.radios_of(joins).into_iter().filter_map(index).collect();
    if offered.is_empty() {
        return Err(NetworkError::UnknownRadio {
            station: station.name.clone(),
            joins: joins.to_string(),
        });
    }
    let spoken = |index: &usize| link::common_standard(station.air.standard, &radios[*index].config).is_some();
    let mut spoken: Vec<usize> = offered.iter().copied().filter(spoken).collect();
    if spoken.is_empty() {
        let supported = |index: &usize| {
            format!(
                "{} supports {}",
                radios[*index].name,
                radios[*index].config.standard.name()
            )
        };
        return Err(NetworkError::NoCommonStandard {
            station: station.name.clone(),
            standard: station.air.standard.map_or("nothing", |standard| standard.name()),
            joins: joins.to_string(),
            radios: offered.iter().map(supported).collect::<Vec<_>>().join(", "),
        });
    }
    if let Joins::Radio(_) = joins {
        return Ok(vec![(spoken[0], at(spoken[0])?)]);
    }
    let mut qualities = Vec::new();
    for index in 0..radios.len() {
        let is_choice = spoken.contains(&index);
        qualities.push(if is_choice { Some(at(index)?) } else { None });
    }
    // Stable sort by descending preference: equal radios keep the network's order.
    let signal = |index: usize| {
        let config = &radios[index].config;
        let quality = qualities[index].as_ref();
        let dbm = quality
            .and_then(|quality| received_dbm(quality, config.power, config.band, &PathLoss::for_band(config.band)));
        (dbm.unwrap_or(0.0) * 100.0) as i64
    };
    let wanted = |index: usize| matches!(station.air.radio_selection, RadioSelection::Band(band) if band == radios[index].config.band);
    let silent = silent_radios(plan, joins, radios, &spoken, signal);
    spoken.sort_by_key(|index| {
        let band = radios[*index].config.band;
        let by_band = std::cmp::Reverse((wanted(*index), band, signal(*index)));
        let by_signal = std::cmp::Reverse((signal(*index), band));
        match station.air.radio_selection {
            RadioSelection::Strongest => (silent.contains(index), Some(by_signal), None),
            RadioSelection::HighestBand | RadioSelection::Band(_) => (silent.contains(index), None, Some(by_band)),
        }
    });
    let choices = spoken.iter().map(|index| (*index, qualities[*index]));
    let mut choices: Vec<(usize, LinkQuality)> =
        choices.filter_map(|(index, quality)| Some((index, quality?))).collect();
    // A station does not find a radio that it can't hear.
    let mut unheard = Vec::new();
    for (index, quality) in &choices {
        let link = link::Link::at_any_quality(station, &radios[*index])?;
        unheard.push((*index, link.too_weak(quality, station.air.signal_up).is_some()));
    }
    choices.sort_by_key(|(index, _)| unheard.contains(&(*index, true)));
    Ok(choices)
}

/// Signal in dBm from which a station is heard: the sensitivity of the lowest rate (802.11-2020 table
/// 17-18).
const AUDIBLE: i64 = -8_200;

/// Radios that do not answer a station's probe requests: with probe suppression, those on 2.4 GHz of
/// access points that hear it on a higher band.
fn silent_radios(
    plan: &Plan,
    joins: &Joins,
    radios: &[PlacedRadio],
    spoken: &[usize],
    signal: impl Fn(usize) -> i64,
) -> Vec<usize> {
    let Joins::Network(name) = joins else { return Vec::new() };
    let network = plan.networks.iter().find(|network| network.name == *name);
    if network.is_none_or(|network| network.steering.policy != SteeringPolicy::ProbeSuppression) {
        return Vec::new();
    }
    let band = |index: usize| radios[index].config.band;
    let heard = |ap: usize| {
        spoken
            .iter()
            .any(|index| radios[*index].ap == ap && band(*index) > Band::Ghz2_4 && signal(*index) >= AUDIBLE)
    };
    let on_2ghz = spoken.iter().copied().filter(|index| band(*index) == Band::Ghz2_4);
    on_2ghz.filter(|index| heard(radios[*index].ap)).collect()
}
