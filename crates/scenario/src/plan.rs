//! Resolved scenario: checked, with every default filled in.

use netburn_medium::config::{
    AdapterRate, Aggregation, Aql, Band, Composition, Guard, HardwareQueue, LinkQuality, PowerSave, QueueLimit,
    RadioConfig, RadioSelection, RateControl, Rating, Roaming, Security, Standard, Steering, Width,
};
use netburn_medium::geometry::Position;
use netburn_medium::queue::QueueKind;
use netburn_medium::queue::driver::ATH9K_DEPTH;
use netburn_tcp::config::{CongestionControl, Tsq};
use netburn_units::{BitRate, ByteSize, Dbm, DscpMapping, Duration, Probability, Seed, Speed};
use netburn_workload::Config;
use std::fmt;

mod backhaul;
mod building;
mod capacity;
mod change;
mod line;
mod radios;
mod rename;
mod signals;
mod topology;
mod trace;
mod wire;

pub use backhaul::{Backhaul, Mesh, MeshRoot, MeshTimers};
pub use building::{Building, Floors};
pub use capacity::Capacity;
pub use change::{ApSetting, Change, LinkSetting, RadioSetting, Setting, StationSetting};
pub use line::{Cake, Framing, Isolation, Outage, Policer, ShaperRate, Tins, Wan};
pub use radios::RadiosError;
pub use rename::NameKind;
pub use signals::{RadioSignal, SignalPoint};
pub use topology::{Device, Line, Port, Router};
pub use trace::{Trace, TraceError};
pub use wire::StationLink;

/// The resolved scenario.
#[derive(Debug, Clone, PartialEq)]
pub struct Plan {
    /// Name from the file's `name`, the file's stem, or the built-in scenario: letters, digits and `-`.
    pub name: String,
    /// One line that describes the scenario.
    pub title: Option<String>,
    /// Question that the scenario answers.
    pub question: Option<String>,
    /// Assumptions of the scenario, with reasons.
    pub assumptions: Vec<String>,
    /// Duration of the load; up to 30 days.
    pub duration: Duration,
    /// Time at the beginning of the load that verdicts do not cover; shorter than the load.
    pub warmup: Duration,
    /// Time before the load in which idle latency is measured.
    pub baseline: Duration,
    /// Time after the load in which running operations can finish.
    pub drain: Duration,
    /// Random seed.
    pub seed: Seed,
    /// Number of runs; 1 to 10 000.
    pub repeat: u32,
    /// Server, and its link to the access points.
    pub server: Server,
    /// Building in which access points and stations have positions; `None`: without walls.
    pub building: Option<Building>,
    /// Router behind which all wired access points are; `None`: each access point is a router itself.
    pub router: Option<Router>,
    /// Networks (SSIDs), in the file's order.
    pub networks: Vec<Network>,
    /// Access points, in the file's order.
    pub aps: Vec<Ap>,
    /// Meshes of 802.11s, in the file's order.
    pub meshes: Vec<Mesh>,
    /// Stations, in the file's order; at least one.
    pub stations: Vec<Station>,
    /// Changes during the run, ordered by time, then by the file's order.
    pub changes: Vec<Change>,
}

/// The server that answers the stations' requests.
#[derive(Debug, Clone, PartialEq)]
pub struct Server {
    /// Link between server and access points; on `local` its rate limits the server.
    pub link: Hop,
    /// HTTP version of the requests.
    pub http: Http,
    /// Use of TLS.
    pub tls: bool,
    /// Congestion control of sent data; `None`: the system's, or CUBIC where TCP is modelled.
    pub cc: Option<CongestionControl>,
    /// Acceptance of ECN when a station requests it. Default: `true`.
    pub ecn: bool,
    /// Minimum time between two interrupts of the Ethernet card. Default: [`DEFAULT_INTERRUPT_INTERVAL`].
    pub interrupt_interval: Duration,
}

/// Minimum time between two interrupts of an Ethernet card: 20 000 per second. This is the limit of the adaptive
/// moderation of Intel's drivers under mixed load (`IGB_20K_ITR` of igb, `low_latency` of e1000e).
pub const DEFAULT_INTERRUPT_INTERVAL: Duration = Duration::from_micros(50);

/// Default capacity of a queue in front of a wired link or of the forwarding: this time at its rate, at least
/// [`MIN_DEFAULT_QUEUE`].
pub const DEFAULT_QUEUE_TIME: Duration = Duration::from_millis(100);

/// Minimum of the default capacity of a queue in front of a wired link or of the forwarding.
pub const MIN_DEFAULT_QUEUE: ByteSize = ByteSize::from_kib(64);

/// A wired link with the same properties in both directions.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Hop {
    /// Rate in each direction. `None`: 1 Gbit/s where a rate is needed.
    pub rate: Option<BitRate>,
    /// One-way delay.
    pub delay: Duration,
    /// Share of packets lost in each direction.
    pub loss: Probability,
    /// Capacity of the queue in each direction; `None`: [`DEFAULT_QUEUE_TIME`] at the rate.
    pub queue: Option<ByteSize>,
}

/// HTTP version.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Http {
    /// HTTP/1.1 (RFC 9112).
    #[default]
    H1,
    /// HTTP/2 (RFC 9113).
    H2,
}

/// Speed of a station on its path by default: a slow walk.
pub const DEFAULT_SPEED: Speed = Speed::from_millimetres_per_second(1_000);

/// Round trip to a RADIUS server in the same building.
pub const DEFAULT_RADIUS_DELAY: Duration = Duration::from_millis(5);

/// Length of the absence of an access point that scans: what a vendor's default disturbs.
pub const DEFAULT_SCAN_AWAY: Duration = Duration::from_millis(100);

/// A network: one SSID over one or more radios.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Network {
    /// SSID.
    pub name: String,
    /// Radios; at least one.
    pub radios: Vec<RadioRef>,
    /// Key management. Default: `psk`.
    pub security: Security,
    /// Round trip from the access points to the RADIUS server, with [`Security::Enterprise`]; `None`:
    /// [`DEFAULT_RADIUS_DELAY`].
    pub radius_delay: Option<Duration>,
    /// 802.11k: neighbour reports name the channels of the network's radios.
    pub k: bool,
    /// 802.11v: BSS transition management.
    pub v: bool,
    /// 802.11r: fast BSS transition over the air.
    pub r: bool,
    /// 802.11r over the distribution system.
    pub r_over_ds: bool,
    /// Caching of keys by each access point. Default: true.
    pub key_caching: bool,
    /// Opportunistic key caching: all access points know a station's keys.
    pub okc: bool,
    /// Steering of stations by the access points.
    pub steering: Steering,
    /// Mean time between two broadcast packets of [`BROADCAST_BYTES`] from the wire; `None`: there are
    /// none.
    pub broadcast_interval: Option<Duration>,
    /// Beacons from one DTIM beacon to the next, 1 to 255. Default: 2, as in hostapd.
    pub dtim_period: u8,
}

/// Length of a broadcast packet in bytes, with its IP header: between ARP (28) and mDNS (60 to 500).
pub const BROADCAST_BYTES: u32 = 200;

/// Reference to a radio of an access point, written `c7.5g`.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct RadioRef {
    /// Name of the access point.
    pub ap: String,
    /// Name of the radio.
    pub radio: RadioName,
}

/// Name of a radio: its band, and a number for further radios in the band (`5g`, `5g-2`).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct RadioName {
    /// Band of the radio.
    pub band: Band,
    /// Number within the band, 1 to 4.
    pub number: u8,
}

/// An access point.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Ap {
    /// Name.
    pub name: String,
    /// Speed rating from which radios are derived. Settings in `radios` override them.
    pub rating: Option<Rating>,
    /// Radios; at least one if there is neither a rating nor a WAN link.
    pub radios: Vec<Radio>,
    /// Queue discipline for transmission.
    pub queue: QueueKind,
    /// Capacity of the queue.
    pub queue_limit: QueueLimit,
    /// ECN marking (RFC 3168) in disciplines that can mark.
    pub ecn: bool,
    /// Relaxed CoDel parameters for slow stations, in disciplines with CoDel per station.
    pub slow_stations: bool,
    /// Depth of the driver and hardware queue, per access category.
    pub hardware_queue: HardwareQueue,
    /// When the frames of an aggregate are chosen.
    pub composition: Composition,
    /// Capacity of the driver's lists in packets, below a queue that does not distinguish stations; at least 1.
    pub driver_queue: u16,
    /// Airtime queue limits; `None`: unlimited.
    pub aql: Option<Aql>,
    /// RX interrupt coalescing on simulate. The host is notified this long after the last received frame, but at most
    /// four times this long after the first.
    pub rx_interrupt_delay: Duration,
    /// Maximum forwarding rate, sum of both directions; `None`: unlimited.
    pub forwarding: Option<BitRate>,
    /// Capacity of the forwarding queue; `None`: [`DEFAULT_QUEUE_TIME`] at the rate.
    pub forwarding_queue: Option<ByteSize>,
    /// WAN link, with which the access point is a router; `None`: it is behind one, or next to the server's link.
    pub wan: Option<Wan>,
    /// Mapping from the DSCP of the packets that it sends over the air to their user priority.
    pub dscp_mapping: DscpMapping,
    /// Position in the building.
    pub position: Option<Position>,
    /// Time between two scans of its radios; `None`: it does not scan.
    pub scan_interval: Option<Duration>,
    /// Length of such an absence; `None`: [`DEFAULT_SCAN_AWAY`].
    pub scan_away: Option<Duration>,
    /// Connection to the server.
    pub backhaul: Backhaul,
    /// Quality of a wireless backhaul; `None`: the signal follows from the positions.
    pub backhaul_quality: Option<LinkQuality>,
    /// Mean time for which a frame from the air is held before it is sent on over the air, with a wireless backhaul.
    pub relay_delay: Duration,
}

/// Mean forwarding delay of an access point between two frames on the air: the middle of 300 to 400 µs, from
/// measured devices (ns-3, `HwmpProtocol`).
pub const DEFAULT_RELAY_DELAY: Duration = Duration::from_micros(350);

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
}

/// One station.
#[derive(Debug, Clone, PartialEq)]
pub struct Station {
    /// Name.
    pub name: String,
    /// Workloads; possibly none.
    pub workloads: Vec<StationWorkload>,
    /// Start of the load; before the end of the run.
    pub start: Duration,
    /// End of the load, after `start`; `None`: the end of the run.
    pub stop: Option<Duration>,
    /// Congestion control of sent data; `None`: the system's, or CUBIC where TCP is modelled.
    pub cc: Option<CongestionControl>,
    /// Request of ECN. Default: `false`.
    pub ecn: bool,
    /// TCP Small Queues; `None`: the system's, or the latest preset where TCP is modelled.
    pub tsq: Option<Tsq>,
    /// Generic segmentation offload of the network device. Default: `true`.
    pub gso: bool,
    /// Generic receive offload of the host, on simulate. Default: `true`.
    pub gro: bool,
    /// Time from the end of a transmission until the host's TCP is notified, on simulate. Default: 0.
    pub tx_completion_delay: Duration,
    /// RX interrupt coalescing on simulate. The host is notified this long after the last received frame, but at most
    /// four times this long after the first. Default: 0.
    pub rx_interrupt_delay: Duration,
    /// Wired link instead of Wi-Fi. With a link, only the queue of `air` applies.
    pub link: Option<StationLink>,
    /// Wi-Fi settings.
    pub air: StationAir,
    /// Name of the fleet agent that plays the station.
    pub agent: Option<String>,
    /// Label of the fleet agents that can play the station.
    pub label: Option<String>,
}

/// Wi-Fi settings of a station.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StationAir {
    /// Network or radio that the station joins.
    pub joins: Option<Joins>,
    /// Selection among the radios of a network.
    pub radio_selection: RadioSelection,
    /// Wi-Fi standard; `None`: that of the radio.
    pub standard: Option<Standard>,
    /// Spatial streams. Default: 2, because few clients have more.
    pub streams: u8,
    /// Link quality.
    pub quality: Option<LinkQuality>,
    /// Received power at the access point; `None`: the same as at the station.
    pub signal_up: Option<Dbm>,
    /// Hidden nodes: stations that this station cannot hear and that cannot hear it.
    pub hidden_from: Vec<String>,
    /// Rate control in both directions.
    pub rate_control: RateControl,
    /// Maximum rates of the adapter.
    pub adapter_rate: AdapterRate,
    /// Queue discipline for transmission.
    pub queue: QueueKind,
    /// Depth of the driver and hardware queue, per access category.
    pub hardware_queue: HardwareQueue,
    /// When the frames of an aggregate are chosen.
    pub composition: Composition,
    /// Capacity of the driver's lists in packets, below a queue that does not distinguish receivers; at least 1.
    pub driver_queue: u16,
    /// Airtime weight; 1 to 65 535. Default: 256, as in Linux.
    pub weight: u16,
    /// Mapping from the DSCP of the packets that it sends to their user priority.
    pub dscp_mapping: DscpMapping,
    /// Positions that it visits in this order, starting with the load; one if it stays; none if `quality`
    /// describes the link.
    pub path: Vec<Position>,
    /// Speed on the path; `None`: [`DEFAULT_SPEED`].
    pub speed: Option<Speed>,
    /// Signals of all radios that it can join, instead of `path` and `quality`; otherwise none.
    pub signals: Vec<RadioSignal>,
    /// Roaming between the radios of its network; `None`: it stays with the radio that it joined.
    pub roaming: Option<Roaming>,
    /// Power save; `None`: it never dozes.
    pub power_save: Option<PowerSave>,
    /// Absences from its channel, only of a station without roaming and power save; `None`: it is always present.
    pub absence: Option<Absence>,
}

/// Absences of a station at fixed times. The first one begins one interval after the start of the load.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Absence {
    /// Time from the beginning of an absence to that of the next one.
    pub interval: Duration,
    /// Duration of an absence; less than `interval`.
    pub length: Duration,
    /// True if the access point knows of them, by the power management bit (802.11-2020, clause 9.2.4.1.7).
    pub announced: bool,
}

/// Network or radio that a station joins.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Joins {
    /// A network, of which the station selects a radio.
    Network(String),
    /// One radio.
    Radio(RadioRef),
}

/// A workload of a station.
#[derive(Debug, Clone, PartialEq)]
pub struct StationWorkload {
    /// Name: one of the built-in workloads, or one of the file.
    pub name: String,
    /// Settings of the workload.
    pub config: Config,
    /// Congestion control in both directions; `None`: the station's and the server's.
    pub cc: Option<CongestionControl>,
    /// Station that is the server of the workload, such as a NAS; `None`: the plan's server.
    pub server: Option<String>,
}

impl StationWorkload {
    /// Creates a workload without its own congestion control, with the plan's server.
    #[must_use]
    pub fn new(name: impl Into<String>, config: Config) -> Self {
        StationWorkload {
            name: name.into(),
            config,
            cc: None,
            server: None,
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
    /// Returns the latest end of all operations: `duration` + `drain`. The drain of a station that stops earlier starts at
    /// its stop.
    #[must_use]
    pub fn settled(&self) -> Duration {
        self.duration + self.drain
    }

    /// Returns the number of the station that is the server of a workload; `None`: the plan's server.
    #[must_use]
    pub fn server_of(&self, workload: &StationWorkload) -> Option<usize> {
        let name = workload.server.as_ref()?;
        self.stations.iter().position(|station| station.name == *name)
    }

    /// Returns the station with this name.
    #[must_use]
    pub fn station(&self, name: &str) -> Option<&Station> {
        self.stations.iter().find(|s| s.name == name)
    }
}

impl Station {
    /// Returns the end of the load in a run of `duration`.
    #[must_use]
    pub fn end(&self, duration: Duration) -> Duration {
        self.stop.map_or(duration, |stop| stop.min(duration))
    }
}

impl RadioName {
    /// Name of the first radio of a band.
    #[must_use]
    pub const fn first(band: Band) -> Self {
        RadioName { band, number: 1 }
    }
}

impl Network {
    /// Creates a network without radios.
    #[must_use]
    pub fn new(name: &str) -> Self {
        Network {
            name: name.to_owned(),
            radios: Vec::new(),
            security: Security::default(),
            radius_delay: None,
            k: false,
            v: false,
            r: false,
            r_over_ds: false,
            key_caching: true,
            okc: false,
            steering: Steering::default(),
            broadcast_interval: None,
            dtim_period: 2,
        }
    }
}

impl Ap {
    /// Creates an access point with default settings and no radios.
    #[must_use]
    pub fn new(name: &str) -> Self {
        let queue = QueueKind::default();
        Ap {
            name: name.to_owned(),
            rating: None,
            radios: Vec::new(),
            queue,
            queue_limit: queue.default_limit(),
            ecn: true,
            slow_stations: false,
            hardware_queue: HardwareQueue::default(),
            composition: Composition::default(),
            driver_queue: ATH9K_DEPTH,
            aql: None,
            rx_interrupt_delay: Duration::ZERO,
            forwarding: None,
            forwarding_queue: None,
            wan: None,
            dscp_mapping: DscpMapping::default(),
            position: None,
            scan_interval: None,
            scan_away: None,
            backhaul: Backhaul::default(),
            backhaul_quality: None,
            relay_delay: DEFAULT_RELAY_DELAY,
        }
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
        })
    }
}

impl Http {
    /// Name in files: `1.1` or `2`.
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
            composition: Composition::default(),
            driver_queue: ATH9K_DEPTH,
            weight: 256,
            dscp_mapping: DscpMapping::default(),
            path: Vec::new(),
            speed: None,
            signals: Vec::new(),
            roaming: None,
            power_save: None,
            absence: None,
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
    /// Creates a plan with default settings and no stations.
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
            building: None,
            router: None,
            networks: Vec::new(),
            aps: Vec::new(),
            meshes: Vec::new(),
            stations: Vec::new(),
            changes: Vec::new(),
        }
    }
}

impl Station {
    /// Creates a station with default settings and no workloads.
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
