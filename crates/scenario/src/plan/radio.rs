//! A radio of an access point.

use super::{RadioName, RadioSetting};
use crate::scalars::{Power, Rate, Share, SizeOrOff, SomeTime, Whole};
use crate::section_macro::section;
use netburn_medium::config::{Aggregation, Band, Guard, RadioConfig, Standard, Width};
use netburn_units::{BitRate, ByteSize, Dbm, Probability};

/// One radio. Settings that depend on a rating are `None` until it is decoded; without a rating none are `None`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Radio {
    /// Name.
    pub name: RadioName,
    /// Wi-Fi standard.
    pub standard: Option<Standard>,
    /// Number of the primary channel.
    pub channel: u16,
    /// Channel width.
    pub width: Option<Width>,
    /// Spatial streams.
    pub streams: Option<u8>,
    /// Guard interval.
    pub guard: Option<Guard>,
    /// Transmit power.
    pub power: Dbm,
    /// Aggregation settings.
    pub aggregation: Aggregation,
    /// RTS threshold: aggregates of this size and more are preceded by RTS/CTS.
    pub rts: Option<ByteSize>,
    /// Share of airtime that other networks use.
    pub channel_busy: Probability,
    /// Rate of group-addressed data, a rate of DSSS or OFDM; `None`: the lowest basic rate.
    pub multicast_rate: Option<BitRate>,
}

section! {
    /// One radio of an access point.
    RadioSection(Radio = Radio::new(RadioName::first(Band::Ghz5))) changes RadioSetting {
        /// Wi-Fi standard.
        standard: Standard => standard, default "802.11n on 2.4 GHz, 802.11ac on 5 GHz, 802.11ax on 6 GHz";
        /// Number of the primary 20 MHz channel (802.11-2020 annex E).
        channel: Whole<1, 233> => channel, default "6 on 2.4 GHz, 36 on 5 GHz, 37 on 6 GHz";
        /// Channel width.
        width: Width => width, default "20 MHz on 2.4 GHz, 80 MHz on 5 GHz, 160 MHz on 6 GHz, or the standard's maximum";
        /// Spatial streams.
        streams: Whole<1, 8> => streams, default "2; 1 for 802.11a, b and g";
        /// Guard interval: 400 or 800 ns for 802.11n and ac, 800, 1600 or 3200 ns for ax and be.
        guard: Guard => guard, default "400 ns for 802.11n and ac, 800 ns for ax and be; older standards have one of 800 ns";
        /// Transmit power.
        power: Power => power, changes |value| (RadioSetting::Power(value));
        /// Maximum duration of an aggregate, up to 5484 us (limit of the L-SIG field). Linux drivers use 4 ms.
        aggregate_time: SomeTime => aggregation.time;
        /// Maximum number of MPDUs in an aggregate; 1 disables aggregation.
        aggregate_frames: Whole<1, 1024> => aggregation.frames, default "the BlockAck window: 64 for 802.11n and ac, 256 for ax, 1024 for be";
        /// Maximum A-MSDU size, up to 7935 B for 802.11n and 11398 B for later standards; `off`: one packet per MPDU.
        amsdu: SizeOrOff => aggregation.amsdu;
        /// RTS threshold: frames of this size and more are preceded by RTS/CTS; `off`: none.
        rts: SizeOrOff => rts;
        /// Share of airtime that other networks use, which are not modelled. Values above 95 % count as 95 %.
        channel_busy: Share => channel_busy, changes |value| (RadioSetting::ChannelBusy(value));
        /// Rate of group-addressed data frames: multicast and broadcast. One of 6, 9, 12, 18, 24, 36, 48 and 54 Mbit/s; on 2.4 GHz also 1, 2, 5.5 and 11 Mbit/s. Stations whose signal is too weak for the rate lose these frames.
        multicast_rate: Rate => multicast_rate, default "the lowest basic rate: 6 Mbit/s; on 2.4 GHz 1 Mbit/s for `multicast`, and for broadcast packets if a station uses 802.11b";
    }
}

impl Radio {
    /// Creates a radio with default settings. Those that depend on a rating are `None`.
    #[must_use]
    pub fn new(name: RadioName) -> Self {
        let default = RadioConfig::for_band(name.band);
        Radio {
            name,
            standard: None,
            channel: default.channel,
            width: None,
            streams: None,
            guard: None,
            power: default.power,
            aggregation: default.aggregation,
            rts: default.rts,
            channel_busy: default.channel_busy,
            multicast_rate: None,
        }
    }

    /// Creates a radio with these settings.
    #[must_use]
    pub const fn with_config(name: RadioName, config: &RadioConfig) -> Self {
        Radio {
            name,
            standard: Some(config.standard),
            channel: config.channel,
            width: Some(config.width),
            streams: Some(config.streams),
            guard: Some(config.guard),
            power: config.power,
            aggregation: config.aggregation,
            rts: config.rts,
            channel_busy: config.channel_busy,
            multicast_rate: config.multicast_rate,
        }
    }

    /// Returns the complete settings; `None` if a rating is not decoded yet.
    #[must_use]
    pub fn config(&self) -> Option<RadioConfig> {
        Some(RadioConfig {
            band: self.name.band,
            standard: self.standard?,
            channel: self.channel,
            width: self.width?,
            streams: self.streams?,
            guard: self.guard?,
            power: self.power,
            aggregation: self.aggregation,
            rts: self.rts,
            channel_busy: self.channel_busy,
            multicast_rate: self.multicast_rate,
        })
    }
}
