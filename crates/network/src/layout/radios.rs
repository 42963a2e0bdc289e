//! Radios of an access point: those with a section, and those of its rating.

use super::PlacedRadio;
use crate::error::NetworkError;
use netburn_medium::config::{Band, RadioConfig};
use netburn_medium::rating;
use netburn_scenario::plan::{Ap, Radio, RadioName, RadioRef};

/// By band and number.
pub(super) fn for_ap(index: usize, ap: &Ap) -> Result<Vec<PlacedRadio>, NetworkError> {
    let rated = rated(ap)?;
    let mut radios: Vec<(RadioName, RadioConfig)> = Vec::new();
    for radio in &ap.radios {
        let usual = rated
            .iter()
            .find(|(name, _)| *name == radio.name)
            .map(|(_, config)| config);
        let config = usual.map(|usual| over(usual, radio)).or_else(|| radio.config());
        let config = config.ok_or_else(|| NetworkError::UnratedRadio {
            ap: ap.name.clone(),
            radio: radio.name.to_string(),
            rating: ap.rating.map(|rating| rating.to_string()).unwrap_or_default(),
            known: rated
                .iter()
                .map(|(name, _)| name.to_string())
                .collect::<Vec<_>>()
                .join(", "),
        })?;
        radios.push((radio.name, config));
    }
    for (name, config) in rated {
        if !radios.iter().any(|(known, _)| *known == name) {
            radios.push((name, config));
        }
    }
    if radios.is_empty() {
        return Err(NetworkError::MissingRadio { ap: ap.name.clone() });
    }
    radios.sort_by_key(|(name, _)| *name);
    let wifi_station = |(name, config)| PlacedRadio {
        name: RadioRef {
            ap: ap.name.clone(),
            radio: name,
        },
        ap: index,
        config,
        slow_stations: ap.slow_stations,
    };
    Ok(radios.into_iter().map(wifi_station).collect())
}

/// Radios of the rating; two radios of one band are on different channels.
fn rated(ap: &Ap) -> Result<Vec<(RadioName, RadioConfig)>, NetworkError> {
    let Some(rating) = ap.rating else {
        return Ok(Vec::new());
    };
    let decoded = rating::decode(rating, 1).map_err(|reason| NetworkError::Rating {
        ap: ap.name.clone(),
        reason,
    })?;
    let mut radios: Vec<(RadioName, RadioConfig)> = Vec::new();
    for radio in &decoded.best.radios {
        let before = radios.iter().filter(|(name, _)| name.band == radio.band).count();
        let name = RadioName {
            band: radio.band,
            number: before as u8 + 1,
        };
        let mut config = radio.settings();
        config.channel = match (radio.band, before) {
            (_, 0) => config.channel,
            // Upper half of the band: routers with two 5 GHz radios put the second one there.
            (Band::Ghz5, _) => 149,
            (Band::Ghz2_4, _) => 11,
            (Band::Ghz6, _) => 133,
        };
        radios.push((name, config));
    }
    Ok(radios)
}

/// The defaults, with the plan's settings.
fn over(usual: &RadioConfig, said: &Radio) -> RadioConfig {
    let standard = said.standard.unwrap_or(usual.standard);
    let guard = said.guard.unwrap_or(if standard.has_guard(usual.guard) {
        usual.guard
    } else {
        standard.default_guard()
    });
    RadioConfig {
        band: usual.band,
        standard,
        channel: said.channel,
        width: said.width.unwrap_or(usual.width.min(standard.widest(usual.band))),
        streams: said.streams.unwrap_or(usual.streams.min(standard.max_streams())),
        guard,
        power: said.power,
        aggregation: said.aggregation,
        rts: said.rts,
        channel_busy: said.channel_busy,
    }
}
