//! What changes while a scenario runs.

use super::RadioRef;
use netburn_medium::config::{AdapterRate, LinkQuality, QueueKind, RateControl};
use netburn_units::{BitRate, ByteSize, Dbm, Duration, Probability};

/// Something that changes while it runs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Change {
    /// When, after the load began; not beyond its end.
    pub time: Duration,
    /// What becomes what.
    pub settings: Vec<Setting>,
}

/// One key that gets another value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Setting {
    /// `server.link.*`
    Link(LinkSetting),
    /// `ap.NAME.*`
    Ap(String, ApSetting),
    /// `ap.NAME.radio.RADIO.*`
    Radio(RadioRef, RadioSetting),
    /// `station.NAME.*`
    Station(String, StationSetting),
}

/// What can change about the server's hop.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LinkSetting {
    /// Its rate.
    Rate(BitRate),
    /// Its one-way delay.
    Delay(Duration),
    /// Its share of packets lost.
    Loss(Probability),
    /// Bytes it can hold.
    Queue(ByteSize),
}

/// What can change about an access point.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ApSetting {
    /// Its transmit queue. What waits in the old one is dropped.
    Queue(QueueKind),
    /// The most that it can forward.
    Forwarding(BitRate),
    /// Its line's rate towards it.
    WanDown(BitRate),
    /// Its line's rate away from it.
    WanUp(BitRate),
    /// Its line's one-way delay.
    WanDelay(Duration),
    /// Its line's share of packets lost.
    WanLoss(Probability),
}

/// What can change about a radio.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RadioSetting {
    /// The share of the air that others take.
    ChannelBusy(Probability),
    /// Its transmit power.
    Power(Dbm),
}

/// What can change about a station.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StationSetting {
    /// `signal`, `distance` or `mcs`: how good its link is.
    Quality(LinkQuality),
    /// The power of its signal at the access point.
    SignalUp(Dbm),
    /// How the rate is chosen.
    RateControl(RateControl),
    /// What its adapter can move.
    AdapterRate(AdapterRate),
    /// Its transmit queue. What waits in the old one is dropped.
    Queue(QueueKind),
    /// Its weight in a schedule by airtime.
    Weight(u16),
    /// Its link's rate, both ways.
    LinkRate(BitRate),
    /// Its link's rate towards it.
    LinkDown(BitRate),
    /// Its link's rate away from it.
    LinkUp(BitRate),
    /// Its link's one-way delay.
    LinkDelay(Duration),
    /// Its link's share of packets lost.
    LinkLoss(Probability),
}
