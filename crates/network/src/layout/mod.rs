//! A plan laid out: which radios there are, on which channels of the air, who joined which, and how each link sends.
//!
//! [`radios`] fills in what a rating decides, [`channels`] puts radios whose frequencies overlap on one channel, [`joins`] lets each
//! station choose, [`link`] finds what both sides of a link have in common.

mod channels;
mod joins;
pub(crate) mod link;
mod radios;

use crate::error::NetworkError;
use crate::hop::HopConfig;
use crate::queue::QueueConfig;
use link::Link;
use netburn_medium::aggregation::Framing;
use netburn_medium::air::{AirConfig, NodeConfig};
use netburn_medium::config::{AdapterRate, Quality, RadioConfig, RateControl};
use netburn_medium::edca::EdcaParameters;
use netburn_medium::packet::NodeId;
use netburn_medium::phy::{Modulation, ofdm};
use netburn_scenario::plan::{Ap, RadioRef};
use netburn_scenario::{Plan, plan};
use netburn_units::{BitRate, Dbm};

/// A radio in its place.
#[derive(Debug, Clone)]
pub(crate) struct PlacedRadio {
    pub(crate) name: RadioRef,
    /// Its access point's place in the plan.
    pub(crate) ap: usize,
    pub(crate) config: RadioConfig,
    /// Whether slow stations get more time before CoDel drops.
    pub(crate) slow_stations: bool,
}

/// Where a station is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Seat {
    /// On the air: its number among the places.
    Air(usize),
    /// On a wire of its own: its number among those.
    Wire(usize),
}

/// A station in its place on the air.
#[derive(Debug, Clone)]
pub(crate) struct Place {
    /// Its number in the plan.
    pub(crate) station: usize,
    /// The station's node.
    pub(crate) node: NodeId,
    /// The node of the radio it joined: the radio's place in the list, too.
    pub(crate) radio: NodeId,
    /// Its access point's place in the plan.
    pub(crate) ap: usize,
    /// What its link depends on, kept for changes.
    pub(crate) quality: Quality,
    pub(crate) signal_up: Option<Dbm>,
    pub(crate) control: RateControl,
    pub(crate) link: Link,
}

/// The wired part of an access point.
#[derive(Debug, Clone, Copy)]
pub(crate) struct PathConfig {
    pub(crate) wan_down: HopConfig,
    pub(crate) wan_up: HopConfig,
    /// What carries both ways together.
    pub(crate) forwarding: HopConfig,
}

/// The whole.
#[derive(Debug)]
pub(crate) struct Layout {
    pub(crate) air: AirConfig,
    /// By node.
    pub(crate) queues: Vec<QueueConfig>,
    pub(crate) radios: Vec<PlacedRadio>,
    pub(crate) places: Vec<Place>,
    /// By station.
    pub(crate) seats: Vec<Seat>,
    pub(crate) link: HopConfig,
    pub(crate) paths: Vec<PathConfig>,
}

/// What the wired hop to the server moves when nothing is said.
const LINK_RATE: BitRate = BitRate::from_mbps(1_000);

impl Layout {
    pub(crate) fn of(plan: &Plan) -> Result<Self, NetworkError> {
        let mut radios = Vec::new();
        for (ap, config) in plan.aps.iter().enumerate() {
            radios.extend(radios::of(ap, config)?);
        }
        let mut places = Vec::new();
        let mut seats = Vec::with_capacity(plan.stations.len());
        for (index, station) in plan.stations.iter().enumerate() {
            if station.link.is_some() {
                seats.push(Seat::Wire(seats.len() - places.len()));
                continue;
            }
            seats.push(Seat::Air(places.len()));
            let (radio, quality) = joins::choose(plan, station, &radios)?;
            let link = Link::between(station, &radios[radio], &quality)?;
            places.push(Place {
                station: index,
                node: node(radios.len() + places.len()),
                radio: node(radio),
                ap: radios[radio].ap,
                quality,
                signal_up: station.air.signal_up,
                control: station.air.rate_control,
                link,
            });
        }
        let queues = queues(plan, &radios, &places)?;
        let air = air(plan, &radios, &places)?;
        Ok(Layout {
            air,
            queues,
            link: hop(&plan.server.link),
            paths: plan.aps.iter().map(path).collect(),
            radios,
            places,
            seats,
        })
    }
}

/// Below this, for each station of its radio, a station is slow (`STA_SLOW_THRESHOLD`).
const SLOW: f64 = 6e6;

/// The stations of a radio that are slow for their number.
pub(crate) fn slow_stations(radio: usize, places: &[Place]) -> Vec<NodeId> {
    let joined = || places.iter().filter(|place| place.radio.index() == radio);
    let threshold = SLOW * joined().count() as f64;
    let slow = joined().filter(|place| place.link.expected_bps(&place.quality) < threshold);
    slow.map(|place| place.node).collect()
}

/// The node of that number.
fn node(index: usize) -> NodeId {
    NodeId(u16::try_from(index).expect("a plan has fewer than 65 536 radios and stations"))
}

fn queues(plan: &Plan, radios: &[PlacedRadio], places: &[Place]) -> Result<Vec<QueueConfig>, NetworkError> {
    let weights = |radio: usize| {
        let joined = places.iter().filter(|place| place.radio.index() == radio);
        joined
            .map(|place| (place.node, u32::from(plan.stations[place.station].air.weight)))
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
                slow_stations(index, places)
            } else {
                Vec::new()
            },
            weights: weights(index),
        }
    };
    let of_station = |place: &Place| QueueConfig::of_station(plan.stations[place.station].air.queue);
    let queues: Vec<QueueConfig> = radios
        .iter()
        .enumerate()
        .map(of_radio)
        .chain(places.iter().map(of_station))
        .collect();
    if let Some(empty) = queues.iter().position(QueueConfig::holds_nothing) {
        let whose = match radios.get(empty) {
            Some(radio) => format!("ap.{}", radio.name.ap),
            None => format!("station.{}", plan.stations[places[empty - radios.len()].station].name),
        };
        return Err(NetworkError::NoQueue { whose });
    }
    Ok(queues)
}

fn air(plan: &Plan, radios: &[PlacedRadio], places: &[Place]) -> Result<AirConfig, NetworkError> {
    let (channels, channel_of) = channels::of(radios, places)?;
    let joined = |radio: usize| places.iter().filter(move |place| place.radio.index() == radio);
    let of_radio = |(index, radio): (usize, &PlacedRadio)| NodeConfig {
        channel: channel_of[index],
        edca: EdcaParameters::default_set(radio.config.standard.cw_min()),
        hardware: plan.aps[radio.ap].hardware_queue,
        rts_threshold: radio.config.rts.map(|size| size.as_bytes()),
        rts_rate: control_rate(&radio.config),
        framing: Framing::CCMP,
        limit: AdapterRate::default(),
        links: joined(index).map(|place| place.link.down(place)).collect(),
    };
    let of_station = |place: &Place| {
        let station = &plan.stations[place.station];
        let radio = &radios[place.radio.index()];
        NodeConfig {
            channel: channel_of[place.radio.index()],
            edca: EdcaParameters::default_set(place.link.standard.cw_min()),
            hardware: station.air.hardware_queue,
            rts_threshold: radio.config.rts.map(|size| size.as_bytes()),
            rts_rate: control_rate(&radio.config),
            framing: Framing::CCMP,
            limit: station.air.adapter_rate,
            links: vec![place.link.up(place)],
        }
    };
    let nodes = radios
        .iter()
        .enumerate()
        .map(of_radio)
        .chain(places.iter().map(of_station))
        .collect();
    let mut hidden = Vec::new();
    for place in places {
        for other in &plan.stations[place.station].air.hidden_from {
            if let Some(other) = places.iter().find(|place| plan.stations[place.station].name == *other) {
                hidden.push((place.node.index(), other.node.index()));
            }
        }
    }
    let config = AirConfig {
        channels,
        nodes,
        hidden,
        seed: plan.seed,
    };
    for (channel, radio) in channel_of.iter().zip(radios) {
        let ways = config.ways_of_hearing(*channel).0.len();
        if ways > AirConfig::MOST_WAYS_OF_HEARING {
            return Err(NetworkError::Hidden {
                radio: radio.name.to_string(),
                ways,
                most: AirConfig::MOST_WAYS_OF_HEARING,
            });
        }
    }
    Ok(config)
}

/// RTS and CTS go at a basic rate that all on the channel have.
fn control_rate(radio: &RadioConfig) -> Modulation {
    match radio.standard {
        netburn_medium::config::Standard::B => Modulation::Dsss(netburn_medium::phy::dsss::Rate::M2),
        _ => Modulation::Ofdm(ofdm::Rate::M24),
    }
}

fn hop(hop: &plan::Hop) -> HopConfig {
    let rate = Some(hop.rate.unwrap_or(LINK_RATE));
    HopConfig {
        rate,
        delay: hop.delay,
        loss: hop.loss,
        queue: hop.queue.unwrap_or_else(|| HopConfig::usual_queue(rate)),
        ..HopConfig::default()
    }
}

fn path(ap: &Ap) -> PathConfig {
    let wan = ap.wan.unwrap_or_default();
    let way = |rate: Option<BitRate>| HopConfig {
        rate,
        delay: wan.delay,
        loss: wan.loss,
        queue: wan.queue.unwrap_or_else(|| HopConfig::usual_queue(rate)),
        ..HopConfig::default()
    };
    PathConfig {
        wan_down: way(wan.down),
        wan_up: way(wan.up),
        forwarding: forwarding(ap),
    }
}

/// What an access point's processor can forward. What waits for it lies in the Ethernet adapter's ring, or in the radio's.
fn forwarding(ap: &Ap) -> HopConfig {
    HopConfig {
        rate: ap.forwarding,
        queue: ap
            .forwarding_queue
            .unwrap_or_else(|| HopConfig::usual_queue(ap.forwarding)),
        framing: 0,
        ..HopConfig::default()
    }
}
