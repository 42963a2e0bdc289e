//! What can be seen of a network while it runs.

use netburn_medium::air::{Account, ChannelAccount};
use netburn_units::{BitRate, Dbm};

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
