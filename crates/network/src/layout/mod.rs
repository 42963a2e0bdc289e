//! Layout of a plan: its radios, their channels, the stations of each radio, and the settings of
//! each link.
//!
//! - [`radios`] – adds the radios of a rating
//! - [`channels`] – puts radios with overlapping frequencies on one channel
//! - [`joins`] – chooses each station's radio
//! - [`link`] – computes the common capabilities of both ends of a link
//! - [`placement`] – signals between positions
//! - [`parents`] – selection of a parent by access points with a wireless backhaul
//! - [`units`] – links of access points with a wireless backhaul
//! - [`mesh`] – links of meshes
//! - [`mobile`] – the radios that a moving station can join

mod channels;
mod joins;
pub(crate) mod link;
mod mesh;
mod mobile;
mod parents;
mod placement;
mod radios;
mod units;

pub(crate) use link::Control;
pub(crate) use mesh::{MESH_CONTROL, MeshLayout};
pub(crate) use placement::hundredths;
pub(crate) use units::{FOURTH_ADDRESS, UnitLink};

use crate::error::NetworkError;
use crate::hop::{HopConfig, HopFraming};
use crate::line::cake::CakeConfig;
use crate::line::pacer::PacerConfig;
use crate::line::policer::Policer;
use crate::link_service::Service;
use link::Link;
pub use link::{LinkRates, highest_rate};
use netburn_medium::air::{AirConfig, LinkConfig, NodeConfig};
use netburn_medium::config::{LinkQuality, RadioConfig};
use netburn_medium::edca::EdcaParameters;
use netburn_medium::packet::NodeId;
use netburn_medium::queue::{Place, QueueConfig, QueueKind};
use netburn_medium::rate::RateChoice;
use netburn_scenario::plan::{Ap, Isolation, RadioRef, Router, Trace, Wan};
use netburn_scenario::{Plan, plan};
use netburn_units::{BitRate, ByteSize, Dbm};
use netburn_workload::Direction;

/// A radio of the plan.
#[derive(Debug, Clone)]
pub(crate) struct PlacedRadio {
    pub(crate) name: RadioRef,
    /// Index of its access point in the plan.
    pub(crate) ap: usize,
    pub(crate) config: RadioConfig,
    /// True if CoDel allows slow stations more time before it drops.
    pub(crate) slow_stations: bool,
}

/// Attachment of a station to the network.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Attachment {
    /// Wi-Fi: index of the Wi-Fi station.
    Air(usize),
    /// Wired: index of the wired station.
    Wire(usize),
}

/// A Wi-Fi station.
#[derive(Debug, Clone)]
pub(crate) struct WifiStation {
    /// Number in the plan.
    pub(crate) station: usize,
    /// Node of the station.
    pub(crate) node: NodeId,
    /// Node of the radio it joined, which is also the radio's index.
    pub(crate) radio: NodeId,
    /// Index of its access point in the plan.
    pub(crate) ap: usize,
    /// Link quality, kept for changes.
    pub(crate) quality: LinkQuality,
    pub(crate) signal_up: Option<Dbm>,
    pub(crate) control: Control,
    pub(crate) link: Link,
    /// The signal is too weak for the slowest rate, so the station has not joined.
    pub(crate) is_out_of_range: bool,
}

impl WifiStation {
    /// Expected throughput to the station, in bit/s.
    fn expected_bps(&self) -> f64 {
        match self.control {
            Control::Mcs(mcs) => self.link.expected_bps(&LinkQuality::Mcs(mcs)),
            Control::By(_) => self.link.expected_bps(&self.quality),
        }
    }
}

/// A station that moves, or that can join several radios.
#[derive(Debug, Clone)]
pub(crate) struct MobileStation {
    /// Index of its Wi-Fi station.
    pub(crate) wifi_station: usize,
    /// The radios that it can join, each with a node of its own. All but one are away.
    pub(crate) candidates: Vec<WifiStation>,
    /// Index of the candidate that it has joined at the start.
    pub(crate) first: usize,
}

/// Wired part of an access point or of the router.
#[derive(Debug, Clone)]
pub(crate) struct PathConfig {
    pub(crate) wan_down: HopConfig,
    pub(crate) wan_up: HopConfig,
    /// Forwarding in both directions together.
    pub(crate) forwarding: HopConfig,
    /// Queue discipline downlink, if it is not the FIFO of the link.
    pub(crate) queue_down: Option<PacerConfig>,
    /// Queue discipline uplink, likewise.
    pub(crate) queue_up: Option<PacerConfig>,
    /// Outages and trace downlink.
    pub(crate) service_down: Option<Service>,
    /// Outages and trace uplink.
    pub(crate) service_up: Option<Service>,
    /// Policers downlink and uplink.
    pub(crate) policers: [Option<Policer>; 2],
}

/// Complete layout.
#[derive(Debug)]
pub(crate) struct Layout {
    pub(crate) air: AirConfig,
    /// By node.
    pub(crate) queues: Vec<QueueConfig>,
    pub(crate) radios: Vec<PlacedRadio>,
    pub(crate) wifi_stations: Vec<WifiStation>,
    pub(crate) mobile: Vec<MobileStation>,
    /// Links of access points with a wireless backhaul.
    pub(crate) units: Vec<UnitLink>,
    pub(crate) meshes: Vec<MeshLayout>,
    /// Station of each node after the radios.
    pub(crate) station_of_node: Vec<u16>,
    /// By station.
    pub(crate) attachments: Vec<Attachment>,
    pub(crate) link: HopConfig,
    /// By access point, then that of the router.
    pub(crate) paths: Vec<PathConfig>,
}

/// Default rate of the hop to the server.
const LINK_RATE: BitRate = BitRate::from_mbps(1_000);

impl Layout {
    pub(crate) fn from_plan(plan: &Plan) -> Result<Self, NetworkError> {
        let mut radios = Vec::new();
        for (ap, config) in plan.aps.iter().enumerate() {
            radios.extend(radios::for_ap(ap, config)?);
        }
        let selected = parents::select(plan, &radios)?;
        let units = units::links(plan, &radios, &selected)?;
        let meshes = mesh::meshes(plan, &radios)?;
        let mut wifi_stations = Vec::new();
        let mut attachments = Vec::with_capacity(plan.stations.len());
        for (index, station) in plan.stations.iter().enumerate() {
            if station.link.is_some() {
                attachments.push(Attachment::Wire(attachments.len() - wifi_stations.len()));
                continue;
            }
            attachments.push(Attachment::Air(wifi_stations.len()));
            let choices = joins::choose(plan, station, &radios)?;
            let (radio, quality) = choices[0];
            let link = Link::between(station, &radios[radio], &quality)?;
            let is_out_of_range = link.too_weak(&quality, station.air.signal_up).is_some();
            wifi_stations.push(WifiStation {
                is_out_of_range,
                station: index,
                node: node(radios.len() + wifi_stations.len()),
                radio: node(radio),
                ap: radios[radio].ap,
                quality,
                signal_up: station.air.signal_up,
                control: Control::for_station(station),
                link,
            });
        }
        let mobile = mobile::mobile_stations(plan, &radios, &wifi_stations)?;
        // A station that moves or roams has a client, which loses its link by itself and joins when it can.
        for station in &mobile {
            wifi_stations[station.wifi_station].is_out_of_range = false;
        }
        let mut nodes = wifi_stations.clone();
        for station in &mobile {
            let others = station.candidates.iter().enumerate();
            nodes.extend(
                others
                    .filter(|(index, _)| *index != station.first)
                    .map(|(_, at)| at.clone()),
            );
        }
        let queues = queues(plan, &radios, &wifi_stations, &nodes)?;
        let of_meshes = meshes.iter().flat_map(|mesh| &mesh.links).map(|(.., link)| link);
        let between: Vec<UnitLink> = units.iter().chain(of_meshes).cloned().collect();
        let air = air(plan, &radios, &nodes, wifi_stations.len(), &between)?;
        Ok(Layout {
            air,
            queues,
            link: hop(&plan.server.link),
            paths: paths(plan),
            radios,
            wifi_stations,
            mobile,
            units,
            meshes,
            station_of_node: nodes.iter().map(|at| at.station as u16).collect(),
            attachments,
        })
    }
}

/// A station is slow if its rate, divided by the number of stations of its radio, is below this
/// (`STA_SLOW_THRESHOLD`).
const SLOW: f64 = 6e6;

pub(crate) fn slow_stations(radio: usize, wifi_stations: &[WifiStation]) -> Vec<NodeId> {
    let joined = || {
        wifi_stations
            .iter()
            .filter(|wifi_station| wifi_station.radio.index() == radio)
    };
    let threshold = SLOW * joined().count() as f64;
    let slow = joined().filter(|wifi_station| wifi_station.expected_bps() < threshold);
    slow.map(|wifi_station| wifi_station.node).collect()
}

/// Node of that number.
fn node(index: usize) -> NodeId {
    NodeId(u16::try_from(index).expect("a plan has fewer than 65 536 radios and stations"))
}

fn queues(
    plan: &Plan,
    radios: &[PlacedRadio],
    wifi_stations: &[WifiStation],
    nodes: &[WifiStation],
) -> Result<Vec<QueueConfig>, NetworkError> {
    let weights = |radio: usize| {
        let joined = nodes.iter().filter(|wifi_station| wifi_station.radio.index() == radio);
        joined
            .map(|wifi_station| {
                (
                    wifi_station.node,
                    u32::from(plan.stations[wifi_station.station].air.weight),
                )
            })
            .collect()
    };
    let of_radio = |(index, radio): (usize, &PlacedRadio)| {
        let ap = &plan.aps[radio.ap];
        QueueConfig {
            kind: ap.queue,
            limit: ap.queue_limit,
            depth: ap.driver_queue,
            ecn: ap.ecn,
            aql: ap.aql,
            slow: if ap.slow_stations {
                slow_stations(index, wifi_stations)
            } else {
                Vec::new()
            },
            weights: weights(index),
        }
    };
    let for_station = |wifi_station: &WifiStation| {
        let air = &plan.stations[wifi_station.station].air;
        QueueConfig {
            depth: air.driver_queue,
            ..QueueConfig::for_station(air.queue)
        }
    };
    let queues: Vec<QueueConfig> = radios
        .iter()
        .enumerate()
        .map(of_radio)
        .chain(nodes.iter().map(for_station))
        .collect();
    let subject = |node: usize| match radios.get(node) {
        Some(radio) => format!("ap.{}", radio.name.ap),
        None => format!("station.{}", plan.stations[nodes[node - radios.len()].station].name),
    };
    if let Some(empty) = queues.iter().position(QueueConfig::is_zero_length) {
        return Err(NetworkError::EmptyQueue {
            subject: subject(empty),
        });
    }
    if let Some(other) = queues.iter().position(|queue| !queue.kind.is_on(Place::Radio)) {
        return Err(NetworkError::Queue {
            key: format!("{}.queue", subject(other)),
            queue: queues[other].kind.name(),
            place: Place::Radio,
        });
    }
    for line in plan.lines() {
        for (way, kind) in [Direction::Down, Direction::Up].map(|way| (way.key(), line.wan.discipline_in(way))) {
            if !kind.is_on(Place::Line) {
                return Err(NetworkError::Queue {
                    key: format!("{}.discipline_{way}", line.key),
                    queue: kind.name(),
                    place: Place::Line,
                });
            }
        }
    }
    Ok(queues)
}

/// The first `joined` of `wifi_stations` have joined their radios; the others are candidates of
/// stations that move. A candidate's rate control starts when it is joined, and needs no memory before.
fn air(
    plan: &Plan,
    radios: &[PlacedRadio],
    wifi_stations: &[WifiStation],
    joined: usize,
    units: &[UnitLink],
) -> Result<AirConfig, NetworkError> {
    let candidates = radios.len() + joined;
    let started = |at: &WifiStation, link: LinkConfig| LinkConfig {
        rate: if at.node.index() < candidates {
            link.rate
        } else {
            RateChoice::Fixed
        },
        ..link
    };
    let (channels, channel_of) = channels::assign(radios, wifi_stations)?;
    let joined = |radio: usize| {
        wifi_stations
            .iter()
            .filter(move |wifi_station| wifi_station.radio.index() == radio)
    };
    let of_units = |radio: usize| {
        // A radio of a mesh may have links in both roles.
        units.iter().filter_map(move |unit| {
            let down = (unit.parent.index() == radio).then(|| unit.down());
            down.or_else(|| (unit.own.index() == radio).then(|| unit.up()))
        })
    };
    let of_radio = |(index, radio): (usize, &PlacedRadio)| NodeConfig {
        hardware: plan.aps[radio.ap].hardware_queue,
        composition: plan.aps[radio.ap].composition,
        rts_threshold: radio.config.rts.map(|size| size.as_bytes()),
        ..NodeConfig::for_standard(
            channel_of[index],
            radio.config.standard,
            joined(index)
                .map(|wifi_station| started(wifi_station, wifi_station.link.down(wifi_station)))
                .chain(of_units(index))
                .collect(),
        )
    };
    let for_station = |wifi_station: &WifiStation| {
        let station = &plan.stations[wifi_station.station];
        let radio = &radios[wifi_station.radio.index()];
        let channel = channel_of[wifi_station.radio.index()];
        let links = vec![started(wifi_station, wifi_station.link.up(wifi_station))];
        NodeConfig {
            edca: EdcaParameters::default_set(wifi_station.link.standard.cw_min()),
            hardware: station.air.hardware_queue,
            composition: station.air.composition,
            rts_threshold: radio.config.rts.map(|size| size.as_bytes()),
            limit: station.air.adapter_rate,
            // RTS and CTS use a basic rate that all stations on the channel support.
            ..NodeConfig::for_standard(channel, radio.config.standard, links)
        }
    };
    let nodes = radios
        .iter()
        .enumerate()
        .map(of_radio)
        .chain(wifi_stations.iter().map(for_station))
        .collect();
    let mut hidden = Vec::new();
    for wifi_station in wifi_stations {
        for other in &plan.stations[wifi_station.station].air.hidden_from {
            let others = wifi_stations
                .iter()
                .filter(|wifi_station| plan.stations[wifi_station.station].name == *other);
            hidden.extend(others.map(|other| (wifi_station.node.index(), other.node.index())));
        }
    }
    let config = AirConfig {
        channels,
        nodes,
        hidden,
        seed: plan.seed,
    };
    for (channel, radio) in channel_of.iter().zip(radios) {
        let groups = config.hearing_groups(*channel).0.len();
        if groups > AirConfig::MAX_HEARING_GROUPS {
            return Err(NetworkError::Hidden {
                radio: radio.name.to_string(),
                groups,
                max: AirConfig::MAX_HEARING_GROUPS,
            });
        }
    }
    Ok(config)
}

fn hop(hop: &plan::Hop) -> HopConfig {
    let rate = Some(hop.rate.unwrap_or(LINK_RATE));
    HopConfig {
        rate,
        delay: hop.delay,
        loss: hop.loss,
        queue: hop.queue.unwrap_or_else(|| HopConfig::default_queue(rate)),
        ..HopConfig::default()
    }
}

fn paths(plan: &Plan) -> Vec<PathConfig> {
    let of_ap = |ap: &Ap| path(ap.wan.as_ref(), forwarding(ap.forwarding, ap.forwarding_queue));
    let of_router = |router: &Router| {
        path(
            router.wan.as_ref(),
            forwarding(router.forwarding, router.forwarding_queue),
        )
    };
    let aps = plan.aps.iter().map(of_ap);
    aps.chain(plan.router.as_ref().map(of_router)).collect()
}

fn path(wan: Option<&Wan>, forwarding: HopConfig) -> PathConfig {
    let wan = wan.cloned().unwrap_or_default();
    let usual = HopConfig::default();
    let framing = wan.framing.map_or(usual.framing, HopFraming::Line);
    let way = |direction: Direction, rate: Option<BitRate>, trace: Option<&Trace>| HopConfig {
        rate,
        delay: wan.delay,
        loss: wan.loss,
        queue: wan
            .queue_in(direction)
            .unwrap_or_else(|| HopConfig::default_queue(rate.or(trace.map(Trace::mean_rate)))),
        framing,
        ..usual
    };
    let cake = |isolation: Option<Isolation>| CakeConfig {
        tins: wan.cake.tins,
        isolation: isolation.unwrap_or(wan.cake.isolation),
        rtt: wan.cake.rtt,
        ack_filter: wan.cake.ack_filter,
        memory: wan.cake.memory.map(|size| size.as_bytes()),
        framing,
    };
    let mean = |trace: &Option<Trace>| trace.as_ref().map(Trace::mean_rate);
    let queue = |kind: QueueKind, shaper: Option<BitRate>, rate: Option<BitRate>, isolation| {
        let needed = kind != QueueKind::default() || shaper.is_some();
        needed.then(|| PacerConfig {
            kind,
            shaper,
            link: rate.unwrap_or(LINK_RATE),
            cake: cake(isolation),
        })
    };
    PathConfig {
        wan_down: way(Direction::Down, wan.down, wan.trace_down.as_ref()),
        wan_up: way(Direction::Up, wan.up, wan.trace_up.as_ref()),
        forwarding,
        queue_down: queue(
            wan.discipline_in(Direction::Down),
            wan.shaped_down(),
            wan.down.or(mean(&wan.trace_down)),
            wan.cake.isolation_down,
        ),
        queue_up: queue(
            wan.discipline_in(Direction::Up),
            wan.shaped_up(),
            wan.up.or(mean(&wan.trace_up)),
            wan.cake.isolation_up,
        ),
        service_down: Service::new(&wan.outages, wan.trace_down.as_ref()),
        service_up: Service::new(&wan.outages, wan.trace_up.as_ref()),
        policers: [wan.policer_down, wan.policer_up].map(|config| config.map(|config| Policer::new(config, framing))),
    }
}

/// Forwarding capacity of a device's processor. Packets that exceed it are queued in the
/// ring of the Ethernet adapter or of the radio.
fn forwarding(rate: Option<BitRate>, queue: Option<ByteSize>) -> HopConfig {
    HopConfig {
        rate,
        queue: queue.unwrap_or_else(|| HopConfig::default_queue(rate)),
        framing: HopFraming::Fixed(0),
        ..HopConfig::default()
    }
}
