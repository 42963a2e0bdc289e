//! Changes of settings during a run.

use super::RadioRef;
use netburn_medium::config::{AdapterRate, LinkQuality, RateControl};
use netburn_medium::geometry::Position;
use netburn_medium::queue::QueueKind;
use netburn_units::{BitRate, ByteSize, Dbm, Duration, Probability};

/// A change of settings during a run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Change {
    /// Time since the start of the load; not after its end.
    pub time: Duration,
    /// New settings.
    pub settings: Vec<Setting>,
}

/// New value of one key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Setting {
    /// `server.link.*`
    Link(LinkSetting),
    /// `router.*`; not every setting of an access point applies to it.
    Router(ApSetting),
    /// `ap.NAME.*`
    Ap(String, ApSetting),
    /// `ap.NAME.radio.RADIO.*`
    Radio(RadioRef, RadioSetting),
    /// `station.NAME.*`
    Station(String, StationSetting),
}

/// Changeable settings of the server's link.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LinkSetting {
    /// Rate in each direction.
    Rate(BitRate),
    /// One-way delay.
    Delay(Duration),
    /// Share of packets lost.
    Loss(Probability),
    /// Capacity of the queue.
    Queue(ByteSize),
}

/// Changeable settings of an access point or of the router.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ApSetting {
    /// Queue discipline for transmission. Packets in the old queue are dropped.
    Queue(QueueKind),
    /// Maximum forwarding rate.
    Forwarding(BitRate),
    /// Downlink rate of the WAN link.
    WanDown(BitRate),
    /// Uplink rate of the WAN link.
    WanUp(BitRate),
    /// One-way delay of the WAN link.
    WanDelay(Duration),
    /// Share of packets lost on the WAN link.
    WanLoss(Probability),
}

/// Changeable settings of a radio.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RadioSetting {
    /// Share of airtime that other networks use.
    ChannelBusy(Probability),
    /// Transmit power.
    Power(Dbm),
}

/// Changeable settings of a station.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StationSetting {
    /// Link quality with all radios: `signal`, `distance` or `mcs`. It replaces positions and signals of radios.
    Quality(LinkQuality),
    /// Position. A walk on a path ends.
    Position(Position),
    /// Received power at the access point.
    SignalUp(Dbm),
    /// Rate control.
    RateControl(RateControl),
    /// Maximum rates of the adapter.
    AdapterRate(AdapterRate),
    /// Queue discipline for transmission. Packets in the old queue are dropped.
    Queue(QueueKind),
    /// Airtime weight.
    Weight(u16),
    /// Rate of the wired link in both directions.
    LinkRate(BitRate),
    /// Downlink rate of the wired link.
    LinkDown(BitRate),
    /// Uplink rate of the wired link.
    LinkUp(BitRate),
    /// One-way delay of the wired link.
    LinkDelay(Duration),
    /// Share of packets lost on the wired link.
    LinkLoss(Probability),
}
