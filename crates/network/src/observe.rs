//! What can be seen of a network while it runs.

use netburn_medium::air::{Account, ChannelAccount};
use netburn_units::{BitRate, Dbm, Duration};

/// What has become of the packets of one direction of a station.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Traffic {
    /// Packets that were to go that way.
    pub offered: u64,
    /// Of which arrived.
    pub delivered: u64,
    /// Bytes of those.
    pub delivered_bytes: u64,
    /// Of which carried a mark of congestion (CE).
    pub marked: u64,
    /// Of which were dropped or lost.
    pub dropped: u64,
}

impl Traffic {
    /// Packets under way or waiting.
    #[must_use]
    pub const fn backlog(&self) -> u64 {
        self.offered - self.delivered - self.dropped
    }
}

/// A station, as it is seen.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct StationSeen {
    /// From the server, or other stations, to it.
    pub down: Traffic,
    /// From it.
    pub up: Traffic,
    /// Its radio's account.
    pub air: Account,
    /// How long transmissions of networks that aren't modelled have held its channel; `None` for a station on a wire.
    pub others: Option<Duration>,
}

/// What came about between two looks at a station, both ways together where nothing else is said.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct StationGain {
    /// Airtime of data PPDUs addressed to it.
    pub airtime_down: Duration,
    /// Airtime of those it sent.
    pub airtime_up: Duration,
    /// Data PPDUs.
    pub transmissions: u64,
    /// MPDUs in them.
    pub mpdus: u64,
    /// MPDUs that had to be sent again.
    pub retries: u64,
    /// Packets under way or waiting at the later look.
    pub backlog: u64,
    /// Packets dropped or lost.
    pub drops: u64,
    /// Packets that arrived with a mark of congestion (CE).
    pub marks: u64,
    /// Bytes that arrived at it.
    pub bytes_down: u64,
    /// Bytes from it that arrived.
    pub bytes_up: u64,
    /// How long networks that aren't modelled held its channel; `None` for a station on a wire.
    pub others: Option<Duration>,
}

impl StationSeen {
    /// What came about since an earlier look at the same station.
    #[must_use]
    pub fn since(&self, before: &StationSeen) -> StationGain {
        let gain = |count: fn(&StationSeen) -> u64| count(self) - count(before);
        StationGain {
            airtime_down: self.air.received - before.air.received,
            airtime_up: self.air.sent - before.air.sent,
            transmissions: gain(|seen| seen.air.transmissions + seen.air.received_transmissions),
            mpdus: gain(|seen| seen.air.mpdus + seen.air.received_mpdus),
            retries: gain(|seen| seen.air.retries + seen.air.received_retries),
            backlog: self.down.backlog() + self.up.backlog(),
            drops: gain(|seen| seen.down.dropped + seen.up.dropped),
            marks: gain(|seen| seen.down.marked + seen.up.marked),
            bytes_down: gain(|seen| seen.down.delivered_bytes),
            bytes_up: gain(|seen| seen.up.delivered_bytes),
            others: self
                .others
                .zip(before.others)
                .map(|(now, before)| now.saturating_sub(before)),
        }
    }
}

/// How long transmissions of networks that aren't modelled have held a channel.
///
/// Of collisions the channel knows how long they took and how much of them was data. Two data PPDUs that meet count twice as data, one that
/// meets a transmission of others counts once: so what is missing to twice the time was others'. With others on the channel that is taken to be
/// so of all of it, though a few are answers that met data of hidden stations.
pub(crate) fn others(channel: &ChannelAccount) -> Duration {
    let met = (channel.overlapped * 2).saturating_sub(channel.overlapped_data);
    match channel.others.is_zero() {
        true => Duration::ZERO,
        false => channel.others + met.min(channel.overlapped),
    }
}

/// A station's link, as it is seen.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LinkSeen {
    /// The power of the access point's signal at the station; `None` where an MCS is given in its place.
    pub signal: Option<Dbm>,
    /// The data rate of what was sent to it last.
    pub rate_down: BitRate,
    /// The same the other way.
    pub rate_up: BitRate,
}

/// A radio of an access point, as it is seen.
#[derive(Debug, Clone, PartialEq)]
pub struct RadioSeen {
    /// Its name, `home.5g`.
    pub name: String,
    /// Its account.
    pub air: Account,
    /// Packets that wait at it.
    pub backlog: usize,
    /// The number of its channel in the model: radios with the same share the air.
    pub channel: usize,
    /// What became of that channel's time.
    pub time: ChannelAccount,
}
