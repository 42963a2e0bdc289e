//! Radios of an access point: those with a section, and those of its rating.

use super::{Ap, Radio, RadioName};
use netburn_medium::config::{Band, RadioConfig, Rating};
use netburn_medium::rating::{self, Unexplained};

/// Error of an access point's radios.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum RadiosError {
    /// No known combination of radios has the rating.
    #[error(transparent)]
    Rating(#[from] Unexplained),
    /// No rating and no radio.
    #[error("missing radio")]
    Missing,
    /// A radio that the rating doesn't include and that doesn't have all settings itself.
    #[error("unknown radio {radio}; {rating} has {known}")]
    Unrated {
        /// Radio.
        radio: RadioName,
        /// Rating; empty without one.
        rating: String,
        /// Radios of the rating.
        known: String,
    },
}

impl Ap {
    /// Returns the complete settings of all radios by band and number: those with a section, and those of the rating.
    /// Settings of a section override the rating.
    ///
    /// # Errors
    /// If the rating has no known combination of radios, if the settings of a radio are incomplete, or if there is no
    /// radio and no WAN link. With a WAN link and without radios the access point is a router only.
    pub fn all_radios(&self) -> Result<Vec<(RadioName, RadioConfig)>, RadiosError> {
        let rated = self.rating.map(rated).transpose()?.unwrap_or_default();
        let mut radios: Vec<(RadioName, RadioConfig)> = Vec::new();
        for radio in &self.radios {
            let usual = rated
                .iter()
                .find(|(name, _)| *name == radio.name)
                .map(|(_, config)| config);
            let config = usual.map(|usual| over(usual, radio)).or_else(|| radio.config());
            let config = config.ok_or_else(|| RadiosError::Unrated {
                radio: radio.name,
                rating: self.rating.map(|rating| rating.to_string()).unwrap_or_default(),
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
        if radios.is_empty() && self.wan.is_none() {
            return Err(RadiosError::Missing);
        }
        radios.sort_by_key(|(name, _)| *name);
        Ok(radios)
    }
}

/// Radios of the rating; two radios of one band are on different channels.
fn rated(rating: Rating) -> Result<Vec<(RadioName, RadioConfig)>, Unexplained> {
    let decoded = rating::decode(rating, 1)?;
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
        multicast_rate: said.multicast_rate,
    }
}
