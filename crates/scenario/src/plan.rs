//! A scenario with every default filled in, every unit resolved, and checked.

use netburn_medium::config::{
    AdapterRate, Aggregation, Aql, Band, Guard, HardwareQueue, LinkQuality, QueueKind, QueueLimit, RadioConfig,
    RadioSelection, RateControl, Rating, Standard, Width,
};
use netburn_tcp::config::{CongestionControl, Tsq};
use netburn_units::{BitRate, ByteSize, Dbm, Duration, Probability, Seed};
use netburn_workload::Config;
use std::fmt;

mod change;
mod wire;

pub use change::{ApSetting, Change, LinkSetting, RadioSetting, Setting, StationSetting};
pub use wire::StationLink;

/// The resolved scenario.
#[derive(Debug, Clone, PartialEq)]
pub struct Plan {
    /// The file's stem, the name of a built-in scenario, or the file's own `name`: letters, digits and `-`.
    pub name: String,
    /// One line for people.
    pub title: Option<String>,
    /// What it is meant to find out.
    pub question: Option<String>,
    /// What it takes for granted, and why, for people.
    pub assumptions: Vec<String>,
    /// How long the load runs; up to 30 days.
    pub duration: Duration,
    /// The beginning of the load that isn't judged; shorter than the load.
    pub warmup: Duration,
    /// How long idle latency is measured before the load.
    pub baseline: Duration,
    /// What is under way at the end has this long to finish.
    pub drain: Duration,
    /// What all chance comes from.
    pub seed: Seed,
    /// How many times it runs; 1 to 10 000.
    pub repeat: u32,
    /// The server and the wired hop to it.
    pub server: Server,
    /// The networks (SSIDs), in the file's order.
    pub networks: Vec<Network>,
    /// The access points, in the file's order.
    pub aps: Vec<Ap>,
    /// The stations, in the file's order; at least one.
    pub stations: Vec<Station>,
    /// What changes while it runs, by time, then in the file's order.
    pub changes: Vec<Change>,
}

/// The server.
#[derive(Debug, Clone, PartialEq)]
pub struct Server {
    /// The hop between server and access point; on `local` its rate caps the server.
    pub link: Hop,
    /// The HTTP version it is spoken to in.
    pub http: Http,
    /// Whether it is spoken to over TLS.
    pub tls: bool,
    /// The congestion control of what it sends; `None`: the system's, CUBIC where it is modelled.
    pub cc: Option<CongestionControl>,
    /// Whether it agrees to ECN where a station asks for it. Default: yes.
    pub ecn: bool,
    /// The least time between two interrupts of its Ethernet card. Default: [`DEFAULT_INTERRUPT_INTERVAL`].
    pub interrupt_interval: Duration,
}

/// The least time between two interrupts of an Ethernet card: 20 000 per second, the limit that the adaptive moderation of Intel's drivers
/// sets under mixed load (`IGB_20K_ITR` of igb, `low_latency` of e1000e).
pub const DEFAULT_INTERRUPT_INTERVAL: Duration = Duration::from_micros(50);

/// A wired hop.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Hop {
    /// Its rate, each way. `None`: not said (1 Gbit/s where it matters).
    pub rate: Option<BitRate>,
    /// One-way delay.
    pub delay: Duration,
    /// Share of packets lost.
    pub loss: Probability,
    /// Bytes it can hold each way; `None`: 100 ms at its rate, at least 64 KiB.
    pub queue: Option<ByteSize>,
}

/// The HTTP versions.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Http {
    /// HTTP/1.1 (RFC 9112).
    #[default]
    H1,
    /// HTTP/2 (RFC 9113).
    H2,
}

/// A network: one name (SSID) over one or several radios.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Network {
    /// Its name.
    pub name: String,
    /// Its radios; at least one.
    pub radios: Vec<RadioRef>,
}

/// A radio of an access point, written `c7.5g`.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct RadioRef {
    /// The access point's name.
    pub ap: String,
    /// The radio's name.
    pub radio: RadioName,
}

/// The name of a radio: its band, and a number when it isn't the band's first (`5g`, `5g-2`).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct RadioName {
    /// Its band.
    pub band: Band,
    /// 1 to 4.
    pub number: u8,
}

/// An access point.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Ap {
    /// Its name.
    pub name: String,
    /// The figure on its box; then it has the radios that the figure stands for, and `radios` says what is known
    /// better.
    pub rating: Option<Rating>,
    /// Its radios; at least one when there is no rating.
    pub radios: Vec<Radio>,
    /// Its transmit queue.
    pub queue: QueueKind,
    /// How much that holds.
    pub queue_limit: QueueLimit,
    /// Whether its queue marks packets of connections that can do ECN (RFC 3168), where the discipline can mark.
    pub ecn: bool,
    /// Whether slow stations get more time before CoDel drops, where the discipline has CoDel per station.
    pub slow_stations: bool,
    /// What its hardware takes ahead of time.
    pub hardware_queue: HardwareQueue,
    /// Packets that the driver's lists hold together, below a queue that knows no stations; at least one.
    pub driver_queue: u16,
    /// Its airtime queue limits; `None`: none.
    pub aql: Option<Aql>,
    /// How long after the last frame received its radios tell its host, and at the latest four times as long after the first, where TCP is
    /// modelled.
    pub rx_interrupt_delay: Duration,
    /// The most that it can forward, both ways together; `None`: whatever comes.
    pub forwarding: Option<BitRate>,
    /// Bytes that can wait for that; `None`: 100 ms at its rate, at least 64 KiB.
    pub forwarding_queue: Option<ByteSize>,
    /// The line from it to the world; `None`: the server is next to it.
    pub wan: Option<Wan>,
}

/// The line between an access point and the world.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Wan {
    /// Its rate towards the access point; `None`: unlimited.
    pub down: Option<BitRate>,
    /// Its rate away from it; `None`: unlimited.
    pub up: Option<BitRate>,
    /// One-way delay.
    pub delay: Duration,
    /// Share of packets lost.
    pub loss: Probability,
    /// Bytes it can hold each way; `None`: 100 ms at its rate, at least 64 KiB.
    pub queue: Option<ByteSize>,
}

/// One radio. What a rating decides is `None` until the rating is decoded; without a rating nothing is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Radio {
    /// Its name.
    pub name: RadioName,
    /// What it speaks.
    pub standard: Option<Standard>,
    /// The number of its primary channel.
    pub channel: u16,
    /// Its channel's width.
    pub width: Option<Width>,
    /// Spatial streams.
    pub streams: Option<u8>,
    /// Guard interval.
    pub guard: Option<Guard>,
    /// Transmit power.
    pub power: Dbm,
    /// How frames are put together.
    pub aggregation: Aggregation,
    /// Aggregates of this size and more are preceded by RTS/CTS.
    pub rts: Option<ByteSize>,
    /// Share of the air that others take.
    pub channel_busy: Probability,
}

/// One station.
#[derive(Debug, Clone, PartialEq)]
pub struct Station {
    /// Its name.
    pub name: String,
    /// What it does, one or several; possibly nothing.
    pub workloads: Vec<StationWorkload>,
    /// When its load begins; before the end of the run.
    pub start: Duration,
    /// When it ends, later than `start`; `None`: with the run.
    pub stop: Option<Duration>,
    /// The congestion control of what it sends; `None`: the system's, CUBIC where it is modelled.
    pub cc: Option<CongestionControl>,
    /// Whether its connections ask for ECN. Default: no.
    pub ecn: bool,
    /// Its TCP Small Queues; `None`: the system's, the latest where it is modelled.
    pub tsq: Option<Tsq>,
    /// Whether its network device takes bursts of segments, where TCP is modelled. Default: yes.
    pub gso: bool,
    /// Whether its host joins segments that come at once before TCP sees them, where TCP is modelled. Default: yes.
    pub gro: bool,
    /// How long after the end of a transmission its TCP learns that packets have left, where TCP is modelled. Default: 0.
    pub tx_completion_delay: Duration,
    /// How long after the last frame received its card tells the host, and at the latest four times as long after the first, where TCP is
    /// modelled. Default: 0.
    pub rx_interrupt_delay: Duration,
    /// Its own wire; then it has no place on the air, and of `air` only the queue counts.
    pub link: Option<StationLink>,
    /// Its place on the air.
    pub air: StationAir,
    /// The fleet agent meant for it.
    pub agent: Option<String>,
    /// The label of the agents that will do.
    pub label: Option<String>,
}

/// A station's place on the air.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StationAir {
    /// What it joins.
    pub joins: Option<Joins>,
    /// How it picks among a network's radios.
    pub radio_selection: RadioSelection,
    /// What it speaks; `None`: what the radio it joins does.
    pub standard: Option<Standard>,
    /// Spatial streams. Default 2: few clients have more.
    pub streams: u8,
    /// How good its link is.
    pub quality: Option<LinkQuality>,
    /// The power of its signal at the access point; `None`: the same as the other way.
    pub signal_up: Option<Dbm>,
    /// Stations that it can't hear and that can't hear it.
    pub hidden_from: Vec<String>,
    /// How the rate is chosen, both ways.
    pub rate_control: RateControl,
    /// What its adapter can move.
    pub adapter_rate: AdapterRate,
    /// Its transmit queue.
    pub queue: QueueKind,
    /// What its hardware takes ahead of time.
    pub hardware_queue: HardwareQueue,
    /// Its weight in a schedule by airtime; 1 to 65 535. Default 256, as in Linux.
    pub weight: u16,
}

/// What a station joins.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Joins {
    /// A network: it picks the radio.
    Network(String),
    /// One radio.
    Radio(RadioRef),
}

/// A workload of a station.
#[derive(Debug, Clone, PartialEq)]
pub struct StationWorkload {
    /// Its name: one of the six uses, or the file's own.
    pub name: String,
    /// Its settings.
    pub config: Config,
    /// The congestion control of its connections, both ways; `None`: the station's and the server's.
    pub cc: Option<CongestionControl>,
}

impl StationWorkload {
    /// A workload of that name with these settings.
    #[must_use]
    pub fn new(name: impl Into<String>, config: Config) -> Self {
        StationWorkload {
            name: name.into(),
            config,
            cc: None,
        }
    }
}

impl Default for Server {
    fn default() -> Self {
        Server {
            link: Hop::default(),
            http: Http::default(),
            tls: false,
            cc: None,
            ecn: true,
            interrupt_interval: DEFAULT_INTERRUPT_INTERVAL,
        }
    }
}

impl Plan {
    /// When all that is under way is settled at the latest: `duration` + `drain`. A station that leaves before the end
    /// has its drain from there.
    #[must_use]
    pub fn settled(&self) -> Duration {
        self.duration + self.drain
    }

    /// The station of that name.
    #[must_use]
    pub fn station(&self, name: &str) -> Option<&Station> {
        self.stations.iter().find(|s| s.name == name)
    }
}

impl Station {
    /// When its load ends in a run of `duration`.
    #[must_use]
    pub fn end(&self, duration: Duration) -> Duration {
        self.stop.map_or(duration, |stop| stop.min(duration))
    }
}

impl Radio {
    /// Its settings in full; `None` while its rating is not decoded.
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
        })
    }
}

impl Http {
    /// As it is written: `1.1` or `2`.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Http::H1 => "1.1",
            Http::H2 => "2",
        }
    }
}

impl Default for StationAir {
    fn default() -> Self {
        StationAir {
            joins: None,
            radio_selection: RadioSelection::default(),
            standard: None,
            streams: 2,
            quality: None,
            signal_up: None,
            hidden_from: Vec::new(),
            rate_control: RateControl::default(),
            adapter_rate: AdapterRate::default(),
            queue: QueueKind::FqCodel,
            hardware_queue: HardwareQueue::default(),
            weight: 256,
        }
    }
}

impl fmt::Display for RadioName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.band.name())?;
        match self.number {
            1 => Ok(()),
            number => write!(f, "-{number}"),
        }
    }
}

impl fmt::Display for RadioRef {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}", self.ap, self.radio)
    }
}

impl fmt::Display for Joins {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Joins::Network(name) => f.write_str(name),
            Joins::Radio(radio) => radio.fmt(f),
        }
    }
}

impl Plan {
    /// A plan of that name with everything at its default, and no station yet.
    #[must_use]
    pub fn new(name: &str) -> Self {
        Plan {
            name: name.to_owned(),
            title: None,
            question: None,
            assumptions: Vec::new(),
            duration: Duration::from_secs(60),
            warmup: Duration::ZERO,
            baseline: Duration::from_secs(3),
            drain: Duration::from_secs(5),
            seed: Seed(1),
            repeat: 1,
            server: Server::default(),
            networks: Vec::new(),
            aps: Vec::new(),
            stations: Vec::new(),
            changes: Vec::new(),
        }
    }
}

impl Station {
    /// A station of that name with everything at its default, doing nothing yet.
    #[must_use]
    pub fn new(name: &str) -> Self {
        Station {
            name: name.to_owned(),
            workloads: Vec::new(),
            start: Duration::ZERO,
            stop: None,
            cc: None,
            ecn: false,
            tsq: None,
            gso: true,
            gro: true,
            tx_completion_delay: Duration::ZERO,
            rx_interrupt_delay: Duration::ZERO,
            link: None,
            air: StationAir::default(),
            agent: None,
            label: None,
        }
    }
}
