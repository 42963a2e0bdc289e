//! A station.

use super::{
    Absence, AbsenceSection, RadioRef, RadioSignal, Signals, StationLink, StationLinkSection, StationSetting,
    StationWorkload, WiredChoice,
};
use crate::decode::{FromNode, List, OneOrMany};
use crate::enums::{PowerSaveChoice, RoamingChoice};
use crate::environment::{FLEET, MODELLED, SIMULATE};
use crate::goals::Rates;
use crate::path::is_name;
use crate::places::Place;
use crate::scalars::{Flag, Name, Range, Signal, SomeTime, Span, Text, Velocity, Whole};
use crate::section_macro::section;
use netburn_medium::config::{
    AdapterRate, Composition, HardwareQueue, LinkQuality, PowerSave, RadioSelection, RateControl, Roaming, Standard,
};
use netburn_medium::geometry::Position;
use netburn_medium::queue::QueueKind;
use netburn_medium::queue::driver::ATH9K_DEPTH;
use netburn_tcp::config::{CongestionControl, Tsq};
use netburn_units::{Dbm, DscpMapping, Duration, Speed};
use std::fmt;

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
    /// MCS of all frames in both directions, if the quality is a signal or a distance; `None`: the rate follows the signal.
    pub fixed_mcs: Option<u8>,
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

/// Speed of a station on its path by default: a slow walk.
pub const DEFAULT_SPEED: Speed = Speed::from_millimetres_per_second(1_000);

/// Network or radio that a station joins.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Joins {
    /// A network, of which the station selects a radio.
    Network(String),
    /// One radio.
    Radio(RadioRef),
}

section! {
    /// A station and its workloads.
    StationSection(Station = Station::new("")) changes StationSetting {
        /// Network, or one radio such as `c7.5g`. Simulate and lab need `joins`, `wired` or `link`.
        joins: JoinsText, on MODELLED else RealAir;
        /// Cable to a router, instead of Wi-Fi: `true`, its rate, the access point to whose port it leads, or a section with the keys of `link`. It leads to the `[router]`. Without one, it leads to the only access point that has a line or a wire. `wired = true` is the same as `link = { to = "router" }`.
        wired: WiredChoice, default "`false`: the station uses Wi-Fi", on MODELLED else RealAir;
        /// Wired link of the station, instead of Wi-Fi: Ethernet, or a modem. Without `to` it leads to the server's link, so that it bypasses the lines of all routers. Wi-Fi keys (`signal`, `adapter_rate`, `weight`, `hardware_queue` and others) cannot be combined with it.
        link: StationLinkSection => link, default "none: the station uses Wi-Fi", on MODELLED else RealAir;
        /// Selection among the radios of a network: `highest-band`, `strongest`, or a band (`2g`, `5g`, `6g`).
        radio_selection(wifi): RadioSelection => air.radio_selection;
        /// Wi-Fi standard.
        standard(wifi): Standard => air.standard, default "the radio's";
        /// Spatial streams. Few clients have more than two.
        streams(wifi): Whole<1, 8> => air.streams;
        /// Received power of the access point's signal at the station, −110 to 0 dBm. Simulate and lab need `signal`, `distance`, `mcs`, `position`, `path` or `signals`.
        signal(wifi): Signal, changes |value| (StationSetting::Quality(LinkQuality::Signal(value)));
        /// Distance from the access point, from which the signal is computed.
        distance(wifi): Range, changes |value| (StationSetting::Quality(LinkQuality::Distance(value)));
        /// Position in the building, from which the signal of every radio is computed. A change moves the station there at once, and ends its walk on a `path`.
        position(wifi): Place, changes |value| (StationSetting::Position(value));
        /// Positions that the station visits in this order, in straight lines. It leaves the first position when the load starts, and stays at the last one.
        path(wifi): List<Place> => air.path;
        /// Speed on the path.
        speed(wifi): Velocity => air.speed, default "1 m/s";
        /// Signals of all radios that the station can join, instead of `position` or `path`: for each radio a received power, or a list of times and powers. Times count from the start of the load. Between two times the signal in dB changes linearly. Before the first time and after the last one it is constant. The signals are updated each 100 ms. Shadowing and fading of the building do not apply.
        signals(wifi): Signals => air.signals;
        /// Roaming between the radios of the network: the name of a client policy (`never`, `linux`, `iwd`, `apple-phone`, `apple-laptop`, `qualcomm`, `broadcom`, `ap-directed`), or a section.
        roaming(wifi): RoamingChoice => air.roaming, default "none: the station stays with the radio that it joined";
        /// Power save: the name of a mode (`off`, `legacy`, `u-apsd`, `twt`), or a section.
        power_save(wifi): PowerSaveChoice => air.power_save, default "`off`";
        /// Absences from the channel at fixed times: for AirDrop, Bluetooth, or scans of a driver that does not return between the channels.
        absence(wifi): AbsenceSection => air.absence, default "none";
        /// Fixed MCS, counted per stream: MCS 15 of 802.11n is `mcs = 7` with `streams = 2`. No frame is lost by noise. With `signal` or `distance`, the signal determines the loss, and the rate does not follow it: a faulty rate control.
        mcs(wifi): Whole<0, 13>, changes |value| (StationSetting::Quality(LinkQuality::Mcs(value)));
        /// Received power of the station's signal at the access point.
        signal_up(wifi): Signal => air.signal_up, default "as `signal`", changes |value| (StationSetting::SignalUp(value));
        /// Hidden nodes: stations that this station cannot hear and that cannot hear it.
        hidden_from(wifi): List<Name> => air.hidden_from;
        /// Rate control. `minstrel`: by sampling, as in Linux. `ideal`: best rate for the signal. `fixed`: one rate. With `mcs` it is `fixed`.
        rate_control(wifi): RateControl => air.rate_control, changes |value| (StationSetting::RateControl(value));
        /// Maximum rate of the station's adapter: one rate, or `{ up = …, down = … }`.
        adapter_rate(wifi): Rates => air.adapter_rate, default "unlimited", changes |value| (StationSetting::AdapterRate(value));
        /// Workloads: `browsing`, `4kstream`, `voip`, `download`, `upload`, `probe`, `voice`, `datagrams`, `game`, `cloud-gaming`, `video-call`, `responsiveness`, or a `[workload.NAME]` of the file; one, a list, or `none`.
        workload: OneOrMany<Name>, default "none";
        /// Start of the station's load.
        start: Span => start;
        /// End of the station's load.
        stop: SomeTime => stop, default "`duration`";
        /// TCP congestion control of the station: `reno`, `cubic`, `bbr`, or another one of the operating system. Traffic to the station follows `server.cc`. A workload's `cc` overrides both.
        cc: CongestionControl => cc, default "`cubic`; on local and fleet the system's";
        /// Request of ECN (RFC 3168; `tcp_ecn` 1). Linux accepts ECN but does not request it.
        ecn: Flag => ecn, on MODELLED else SystemSettings;
        /// TCP Small Queues, the limit on one connection's data below TCP: as in Linux of that year over Wi-Fi, your own settings, or `off`. With `link`, the presets keep the 1 ms (shift 10) that only Wi-Fi drivers change.
        tsq: Tsq => tsq, default "`2025`, as current Wi-Fi drivers set it; on local and fleet the system's", on MODELLED else SystemSettings;
        /// Generic segmentation offload (GSO) of the network device. Linux before 4.17 sent single packets to devices without scatter-gather, such as ath9k.
        gso: Flag => gso, on MODELLED else RealHosts;
        /// Generic receive offload (GRO) of the host. With GRO, TCP acknowledges an aggregate once; without it, every second segment. ath9k passes frames up one by one.
        gro: Flag => gro, on SIMULATE else RealHosts;
        /// TX completion delay: time from the end of a transmission until the host's TCP is notified, for interrupt coalescing or USB latency. Completions in between are reported together.
        tx_completion_delay: Span => tx_completion_delay, on SIMULATE else RealHosts;
        /// RX interrupt coalescing: the host is notified this long after the last received frame, but at most four times this long after the first. ath9k with AR9300 and later uses 500 µs and 2 ms.
        rx_interrupt_delay: Span => rx_interrupt_delay, on SIMULATE else RealHosts;
        /// Queue discipline for transmission. With `link`: {wire queues}.
        queue: QueueKind => air.queue, changes |value| (StationSetting::Queue(value)), on MODELLED else RealAir;
        /// Depth of the driver and hardware queue: aggregates, frames, a time, or `unlimited`.
        hardware_queue(wifi): HardwareQueue => air.hardware_queue;
        /// When the frames of an aggregate are chosen: `txop` or `driver`, as of an access point.
        aggregate_composition(wifi): Composition => air.composition;
        /// Capacity of the driver's own lists, in packets, as of an access point.
        driver_queue(wifi): Whole<1, 65535> => air.driver_queue;
        /// Airtime weight of the station; 256 in Linux.
        weight(wifi): Whole<1, 65_535> => air.weight, changes |value| (StationSetting::Weight(value));
        /// Mapping from the DSCP of the station's packets to their access category, as of an access point.
        dscp_mapping(wifi): DscpMapping => air.dscp_mapping;
        /// Name of the fleet agent that plays this station.
        agent: Text => agent, default "any", on FLEET else FleetOnly;
        /// Label of the fleet agents that can play this station.
        label: Text => label, default "any", on FLEET else FleetOnly;
    }
}

/// Network or radio that a station joins, before its existence is checked.
#[derive(Debug, Clone)]
pub(crate) struct JoinsText(pub(crate) String);

impl FromNode for JoinsText {
    fn read(node: &crate::node::Node, cx: &mut crate::decode::Context) -> Option<Self> {
        let wanted = "the name of a network, or an access point and a radio, such as `\"c7.5g\"`";
        crate::scalars::parsed(node, cx, wanted, |text| {
            let parts: Vec<&str> = text.split('.').collect();
            (parts.len() <= 2 && parts.iter().all(|part| is_name(part))).then(|| JoinsText(text.to_owned()))
        })
    }

    fn schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
        schemars::json_schema!({ "type": "string", "pattern": "^[A-Za-z0-9-]{1,63}(\\.(2g|5g|6g)(-[234])?)?$", "x-value": "a network or a radio" })
    }
}

impl Station {
    /// Returns the end of the load in a run of `duration`.
    #[must_use]
    pub fn end(&self, duration: Duration) -> Duration {
        self.stop.map_or(duration, |stop| stop.min(duration))
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

impl Default for StationAir {
    fn default() -> Self {
        StationAir {
            joins: None,
            radio_selection: RadioSelection::default(),
            standard: None,
            streams: 2,
            quality: None,
            fixed_mcs: None,
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

impl fmt::Display for Joins {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Joins::Network(name) => f.write_str(name),
            Joins::Radio(radio) => radio.fmt(f),
        }
    }
}
