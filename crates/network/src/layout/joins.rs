//! Choice of a station's radio.

use super::{PlacedRadio, link, placement};
use crate::error::NetworkError;
use netburn_medium::config::{LinkQuality, RadioSelection};
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
    spoken.sort_by_key(|index| {
        let band = radios[*index].config.band;
        let by_band = std::cmp::Reverse((wanted(*index), band, signal(*index)));
        let by_signal = std::cmp::Reverse((signal(*index), band));
        match station.air.radio_selection {
            RadioSelection::Strongest => (Some(by_signal), None),
            RadioSelection::HighestBand | RadioSelection::Band(_) => (None, Some(by_band)),
        }
    });
    let choices = spoken.iter().map(|index| (*index, qualities[*index]));
    Ok(choices.filter_map(|(index, quality)| Some((index, quality?))).collect())
}
