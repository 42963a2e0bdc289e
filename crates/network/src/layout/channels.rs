//! Assignment of radios to channels of the model.
//!
//! Radios with overlapping channels share one channel of the model, also if the overlap is
//! indirect, through a third radio: then all of them contend. This is correct for overlapping
//! primary channels. Real radios whose secondary channels overlap can send with a smaller width
//! meanwhile; that isn't modelled. There is no leakage between adjacent channels.

use super::{PlacedRadio, WifiStation};
use crate::error::NetworkError;
use netburn_medium::air::ChannelConfig;
use netburn_medium::config::spectrum::{Span, overlap};
use netburn_medium::config::{Band, Standard, Width};

/// Channels of the model, and the channel of each radio.
pub(super) fn assign(
    radios: &[PlacedRadio],
    wifi_stations: &[WifiStation],
) -> Result<(Vec<ChannelConfig>, Vec<usize>), NetworkError> {
    let spans = radios.iter().map(span).collect::<Result<Vec<_>, _>>()?;
    let mut channel_of: Vec<usize> = (0..radios.len()).collect();
    // The number of radios is small: merging two groups scans the list.
    for one in 0..radios.len() {
        for other in 0..one {
            if overlap(spans[one], spans[other]) {
                let (from, into) = (channel_of[one], channel_of[other]);
                for channel in &mut channel_of {
                    if *channel == from {
                        *channel = into;
                    }
                }
            }
        }
    }
    let mut names = channel_of.clone();
    names.sort_unstable();
    names.dedup();
    for channel in &mut channel_of {
        *channel = names.binary_search(channel).expect("it is one of them");
    }
    let channels = (0..names.len())
        .map(|channel| config(channel, &channel_of, radios, wifi_stations))
        .collect();
    Ok((channels, channel_of))
}

fn span(radio: &PlacedRadio) -> Result<Span, NetworkError> {
    let config = &radio.config;
    config.band.block(config.channel, config.width).ok_or_else(|| {
        let fits = |width: &Width| config.band.block(config.channel, *width).is_some();
        let widest = Width::ALL.into_iter().rev().find(fits);
        NetworkError::Channel {
            radio: radio.name.to_string(),
            channel: config.channel,
            mhz: config.width.as_mhz(),
            hint: match widest {
                Some(width) => format!("at most {} MHz", width.as_mhz()),
                None => format!("a channel of {}: {}", config.band.name(), config.band.channels()),
            },
        }
    })
}

fn config(
    channel: usize,
    channel_of: &[usize],
    radios: &[PlacedRadio],
    wifi_stations: &[WifiStation],
) -> ChannelConfig {
    let here = |radio: usize| channel_of[radio] == channel;
    let of_channel = || {
        radios
            .iter()
            .enumerate()
            .filter(|(index, _)| here(*index))
            .map(|(_, radio)| radio)
    };
    let band = of_channel().next().map_or(Band::Ghz5, |radio| radio.config.band);
    let dsss = of_channel().any(|radio| radio.config.standard == Standard::B)
        || wifi_stations
            .iter()
            .any(|wifi_station| here(wifi_station.radio.index()) && wifi_station.link.standard == Standard::B);
    let busy = of_channel()
        .map(|radio| radio.config.channel_busy.as_f64())
        .fold(0.0, f64::max);
    ChannelConfig {
        busy,
        ..ChannelConfig::for_band(band, dsss)
    }
}
