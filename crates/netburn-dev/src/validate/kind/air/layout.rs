//! Construction of the air and its flows from a case.
//!
//! A case sets what a plan has no keys for: PHY vectors, EDCA parameters, interframe spaces, deviations from the standard. So
//! the nodes and channels of the medium's constructors, which `network` uses for plans too, are changed here.

use super::fields::{Access, Aggregation, Direction, Fields, Group, Tries};
use super::watch::{Watch, Watched};
use crate::datagrams::{Datagram, Flow, Load};
use netburn_medium::aggregation::{Framing, Limits};
use netburn_medium::air::{Air, AirConfig, ChannelConfig, LinkConfig, NodeConfig};
use netburn_medium::config::{Aql, Band, QueueLimit, Standard};
use netburn_medium::edca::EdcaParameters;
use netburn_medium::packet::{Ecn, NodeId};
use netburn_medium::phy::{Modulation, PhyError, TxVector, dsss, ofdm, response};
use netburn_medium::queue::QueueConfig;
use netburn_medium::queue::QueueKind;
use netburn_medium::queue::TransmitQueue;
use netburn_medium::queue::airtime::Airtime;
use netburn_medium::queue::codel::CodelParameters;
use netburn_medium::queue::driver::{ATH9K_DEPTH, Device, Order};
use netburn_medium::queue::fifo::Fifo;
use netburn_medium::queue::fq::FqParameters;
use netburn_medium::rate::RateChoice;
use netburn_units::{BitRate, Duration, Instant, Seed};

/// Node of the access point.
pub(super) const AP: NodeId = NodeId(0);

/// The air, its flows, and the groups of its stations.
pub(super) struct Layout {
    pub(super) air: Air<Datagram>,
    pub(super) flows: Vec<Flow<NodeId>>,
    /// Group of each station; station n is node n + 1.
    pub(super) group_of: Vec<usize>,
    /// Flows `probes..` are probes, one for each station.
    pub(super) probes: usize,
    pub(super) watch: Option<Watch>,
}

type Queue = Box<dyn TransmitQueue<Datagram>>;

/// Bytes of a probe with headers and of its content, as in the workload `probe`.
const PROBE: (u32, u32) = (92, 64);

pub(super) fn lay_out(fields: &Fields, groups: &[Group], seed: Seed) -> Result<Layout, PhyError> {
    let group_of: Vec<usize> = groups
        .iter()
        .enumerate()
        .flat_map(|(index, group)| std::iter::repeat_n(index, usize::from(group.count)))
        .collect();
    let first = vector(fields, &groups[0]);
    let watch = (fields.aql).then(Watch::default);
    let mut nodes = vec![node(
        fields,
        &first,
        group_of
            .iter()
            .enumerate()
            .map(|(station, group)| link(fields, &groups[*group], station + 1))
            .collect(),
    )];
    let down = fields.direction == Direction::Down;
    let mut queues = vec![if down { queue(fields, watch.as_ref()) } else { plain() }];
    for group in &group_of {
        nodes.push(node(fields, &first, vec![link(fields, &groups[*group], 0)]));
        queues.push(if down { plain() } else { queue(fields, None) });
    }
    let config = AirConfig {
        channels: vec![channel(fields, &first)],
        nodes,
        hidden: Vec::new(),
        seed,
    };
    let mut flows: Vec<Flow<NodeId>> = Vec::new();
    for (station, group) in group_of.iter().enumerate() {
        flows.extend(flow(fields, &groups[*group], station));
    }
    let probes = flows.len();
    if let Some(every) = fields.probe {
        for (station, group) in group_of.iter().enumerate() {
            flows.push(Flow {
                load: Load::Probe { every },
                length: PROBE.0,
                content: PROBE.1,
                delays: true,
                tid: groups[*group].category.unwrap_or(fields.category).tid(),
                ..Flow::saturating(AP, id(station), 0)
            });
        }
    }
    Ok(Layout {
        air: Air::new(&config, queues)?,
        flows,
        group_of,
        probes,
        watch,
    })
}

/// Node of a station.
pub(super) fn id(station: usize) -> NodeId {
    NodeId(station as u16 + 1)
}

fn vector(fields: &Fields, group: &Group) -> TxVector {
    group.phy.or(fields.phy).expect("checked when it was read").0
}

fn channel(fields: &Fields, vector: &TxVector) -> ChannelConfig {
    let dsss = matches!(vector.modulation, Modulation::Dsss(_));
    let band = if dsss || vector.signal_extension {
        Band::Ghz2_4
    } else {
        Band::Ghz5
    };
    let usual = ChannelConfig::for_band(band, dsss);
    let mut timing = usual.timing;
    timing.slot = fields.timing.slot.unwrap_or(timing.slot);
    timing.sifs = fields.timing.sifs.unwrap_or(timing.sifs);
    timing.receive_start = fields.timing.receive_start.unwrap_or(timing.receive_start);
    ChannelConfig {
        timing,
        eifs: fields
            .eifs
            .then(|| control(fields.model_overrides.eifs_rate, response::lowest(dsss))),
        failures_known_at_once: fields.model_overrides.failures_known_at_once,
        ..usual
    }
}

fn node(fields: &Fields, vector: &TxVector, links: Vec<LinkConfig>) -> NodeConfig {
    let standard = match vector.modulation {
        Modulation::Dsss(_) => Standard::B,
        _ => Standard::A,
    };
    let mut node = NodeConfig::for_standard(0, standard, links);
    for (parameters, txop) in node.edca.iter_mut().zip(fields.txop) {
        if fields.access == Access::Dcf {
            *parameters = EdcaParameters {
                aifsn: 2,
                cw_min: standard.cw_min(),
                cw_max: 1_023,
                txop: Duration::ZERO,
            };
        }
        if let Some([least, most]) = fields.cw {
            (parameters.cw_min, parameters.cw_max) = (least, most);
        }
        parameters.aifsn = fields.aifsn.unwrap_or(parameters.aifsn);
        parameters.txop = txop;
    }
    NodeConfig {
        hardware: fields.hardware,
        composition: fields.composition,
        rts_threshold: fields.rts,
        rts_rate: control(fields.rts_rate, node.rts_rate),
        framing: framing(fields),
        ..node
    }
}

/// Rate of control frames; `otherwise` if the case has none or the PHY does not support it.
fn control(rate: Option<BitRate>, otherwise: Modulation) -> Modulation {
    let found = match otherwise {
        Modulation::Dsss(_) => dsss::Rate::ALL
            .into_iter()
            .find(|known| Some(known.rate()) == rate)
            .map(Modulation::Dsss),
        _ => ofdm::Rate::ALL
            .into_iter()
            .find(|known| Some(known.rate()) == rate)
            .map(Modulation::Ofdm),
    };
    found.unwrap_or(otherwise)
}

fn framing(fields: &Fields) -> Framing {
    let plain = fields.access == Access::Dcf || fields.model_overrides.slots_counted_as_dcf;
    match (plain, fields.encrypted) {
        (true, _) => Framing::PLAIN,
        (false, true) => Framing::CCMP,
        (false, false) => Framing::QOS,
    }
}

fn link(fields: &Fields, group: &Group, to: usize) -> LinkConfig {
    LinkConfig {
        to,
        vector: vector(fields, group),
        rate: RateChoice::from(fields.rate_control),
        snr_db: group.snr.or(fields.snr),
        limits: limits(fields, group),
    }
}

fn limits(fields: &Fields, group: &Group) -> Limits {
    let tries = match fields.tries {
        Tries::Limited(tries) => tries,
        Tries::Unlimited(_) => u32::MAX,
    };
    let Some(aggregation) = group.aggregation.or(fields.aggregation) else {
        return Limits { tries, ..Limits::NONE };
    };
    Limits {
        ampdu: aggregation.ampdu.is_some(),
        frames: aggregation.frames,
        // Minimum BlockAck window for 64 MPDUs; HE and EHT cases set larger ones.
        window: aggregation.frames.max(64),
        time: aggregation.time.unwrap_or(Limits::PPDU).min(Limits::PPDU),
        bytes: aggregation.ampdu.unwrap_or(0),
        amsdu: aggregation.amsdu,
        tries,
    }
}

fn flow(fields: &Fields, group: &Group, station: usize) -> Option<Flow<NodeId>> {
    let (from, to) = match fields.direction {
        Direction::Up => (id(station), AP),
        Direction::Down => (AP, id(station)),
    };
    // Without QoS control the header is 2 bytes shorter. The packet compensates for it.
    let more = if fields.model_overrides.slots_counted_as_dcf {
        Framing::QOS.header - Framing::PLAIN.header
    } else {
        0
    };
    let load = match group.offered.or(fields.offered) {
        Some(rate) if rate.as_bps() == 0 => return None,
        Some(rate) => Load::Constant { rate, jitter: true },
        None => Load::Saturating {
            outstanding: fields
                .outstanding
                .unwrap_or_else(|| four_aggregates(group.aggregation.or(fields.aggregation), fields.packet)),
        },
    };
    Some(Flow {
        from,
        to,
        load,
        length: fields.packet + more,
        content: fields.content.unwrap_or_else(|| fields.packet.saturating_sub(28)),
        tid: group.category.unwrap_or(fields.category).tid(),
        ecn: Ecn::NotEct,
        start: Instant::ZERO,
        delays: false,
    })
}

fn four_aggregates(aggregation: Option<Aggregation>, packet: u32) -> u32 {
    let Some(aggregation) = aggregation else { return 4 };
    let mpdus = if aggregation.ampdu.is_some() {
        aggregation.frames
    } else {
        1
    };
    4 * mpdus * (aggregation.amsdu / packet).max(1)
}

/// Capacity in packets of queues that must not drop.
const UNLIMITED_QUEUE: u32 = 1_000;

/// Queue of stations that only respond.
fn plain() -> Queue {
    let fifo = Fifo::new(QueueLimit::Packets(UNLIMITED_QUEUE));
    Box::new(Device::new(fifo, usize::from(ATH9K_DEPTH), Order::Arrival))
}

/// Capacity of a station's device in packets.
const STATION_DEPTH: u16 = 512;

/// Queue of the sender in the case.
fn queue(fields: &Fields, watch: Option<&Watch>) -> Queue {
    let usual = fields.queue.default_limit();
    let config = QueueConfig {
        limit: fields.queue_limit.map_or(usual, QueueLimit::Packets),
        aql: fields.aql.then(Aql::default),
        depth: match fields.direction {
            Direction::Down => ATH9K_DEPTH,
            _ => STATION_DEPTH,
        },
        ..QueueConfig::for_station(fields.queue)
    };
    match watch {
        Some(watch) if fields.queue == QueueKind::Airtime => {
            let packets = fields.queue_limit.unwrap_or(FqParameters::MAC80211.packets);
            let parameters = FqParameters {
                packets,
                ..FqParameters::MAC80211
            };
            let queue = Airtime::new(parameters, CodelParameters::MAC80211, config.aql);
            Box::new(Watched::new(queue, Aql::default(), watch.clone()))
        }
        // A case names a queue of a radio.
        _ => config.build().unwrap_or_else(plain),
    }
}
