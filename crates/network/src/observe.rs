//! Statistics of a running network.

use netburn_medium::air::{Account, ChannelAccount};
use netburn_units::{BitRate, Dbm, Duration};

/// Counters of one direction of a station.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Traffic {
    /// Packets offered in this direction.
    pub offered: u64,
    /// Packets delivered.
    pub delivered: u64,
    /// Bytes of the delivered packets.
    pub delivered_bytes: u64,
    /// Delivered packets with a congestion mark (CE).
    pub marked: u64,
    /// Packets dropped or lost.
    pub dropped: u64,
}

impl Traffic {
    /// Packets queued or in flight.
    #[must_use]
    pub const fn backlog(&self) -> u64 {
        self.offered - self.delivered - self.dropped
    }
}

/// Statistics of a station.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct StationStats {
    /// To the station, from the server or from other stations.
    pub down: Traffic,
    /// From the station.
    pub up: Traffic,
    /// Account of its radio.
    pub air: Account,
    /// Time in which other networks occupied its channel; `None` for a wired station.
    pub others: Option<Duration>,
}

/// Difference between two samples of a station's statistics, for both directions together unless
/// stated otherwise.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct StationDelta {
    /// Airtime of data PPDUs addressed to the station.
    pub airtime_down: Duration,
    /// Airtime of data PPDUs sent by the station.
    pub airtime_up: Duration,
    /// Number of data PPDUs.
    pub transmissions: u64,
    /// Number of MPDUs in them.
    pub mpdus: u64,
    /// Number of retransmitted MPDUs.
    pub retries: u64,
    /// Packets queued or in flight at the later sample.
    pub backlog: u64,
    /// Packets dropped or lost.
    pub drops: u64,
    /// Packets delivered with a congestion mark (CE).
    pub marks: u64,
    /// Bytes delivered to the station.
    pub bytes_down: u64,
    /// Bytes delivered from the station.
    pub bytes_up: u64,
    /// Time in which other networks occupied its channel; `None` for a wired station.
    pub others: Option<Duration>,
}

impl StationStats {
    /// Difference to an earlier sample of the same station.
    #[must_use]
    pub fn since(&self, before: &StationStats) -> StationDelta {
        let gain = |count: fn(&StationStats) -> u64| count(self) - count(before);
        StationDelta {
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

/// Time in which other networks occupied a channel.
///
/// For collisions the channel counts their duration and the part that was data. Two colliding data
/// PPDUs count twice as data; a PPDU that collides with a transmission of another network counts
/// once. So the difference to twice the duration belongs to other networks. If there are other
/// networks on the channel, all of the difference is attributed to them. A few collisions are in
/// fact responses with data of hidden stations.
pub(crate) fn others(channel: &ChannelAccount) -> Duration {
    let met = (channel.overlapped * 2).saturating_sub(channel.overlapped_data);
    if channel.others.is_zero() {
        Duration::ZERO
    } else {
        channel.others + met.min(channel.overlapped)
    }
}

/// Statistics of a station's link.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LinkStats {
    /// Power of the access point's signal at the station; `None` if the plan has an MCS instead.
    pub signal: Option<Dbm>,
    /// Data rate of the last transmission to the station.
    pub rate_down: BitRate,
    /// Data rate of the last transmission from the station.
    pub rate_up: BitRate,
    /// Radio that the station has joined; `None` if it is wired.
    pub radio: Option<JoinedRadio>,
}

/// Radio of an access point, as its stations see it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct JoinedRadio {
    /// Number in the model.
    pub number: usize,
    /// Centre of the primary channel in MHz.
    pub frequency_mhz: u32,
}

/// Wireless link of an access point with its parent.
#[derive(Debug, Clone, PartialEq)]
pub struct BackhaulHop {
    /// Number of the access point in the plan.
    pub ap: usize,
    /// Number of its parent in the plan.
    pub parent: usize,
    /// Channel number in the model, as in [`RadioStats::channel`].
    pub channel: usize,
    /// Throughput that the link's signal or MCS permits from the parent, with aggregation and acknowledgements, when no
    /// other sender uses the channel.
    pub rate: BitRate,
}

/// Statistics of a radio of an access point.
#[derive(Debug, Clone, PartialEq)]
pub struct RadioStats {
    /// Name, as `home.5g`.
    pub name: String,
    /// Account of the radio.
    pub air: Account,
    /// Packets in its queue.
    pub backlog: usize,
    /// Channel number in the model: radios with the same number share the air.
    pub channel: usize,
    /// Account of that channel's time.
    pub time: ChannelAccount,
}
