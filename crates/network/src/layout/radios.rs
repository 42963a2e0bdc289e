//! Radios of an access point: those with a section, and those of its rating.

use super::PlacedRadio;
use crate::error::NetworkError;
use netburn_scenario::plan::{Ap, RadioRef, RadiosError};

/// By band and number.
pub(super) fn for_ap(index: usize, ap: &Ap) -> Result<Vec<PlacedRadio>, NetworkError> {
    let radios = ap.all_radios().map_err(|error| {
        let ap = ap.name.clone();
        match error {
            RadiosError::Rating(reason) => NetworkError::Rating { ap, reason },
            RadiosError::Missing => NetworkError::MissingRadio { ap },
            RadiosError::Unrated { radio, rating, known } => NetworkError::UnratedRadio {
                ap,
                radio: radio.to_string(),
                rating,
                known,
            },
        }
    })?;
    let placed = radios.into_iter().map(|(name, config)| PlacedRadio {
        name: RadioRef {
            ap: ap.name.clone(),
            radio: name,
        },
        ap: index,
        config,
        slow_stations: ap.slow_stations,
    });
    Ok(placed.collect())
}
