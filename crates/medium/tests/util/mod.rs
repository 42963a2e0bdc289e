//! An access point and its stations on one channel, with saturated or constant load.
#![allow(dead_code, reason = "each test uses its part")]
#![allow(unreachable_pub, reason = "shared by several tests")]
#![allow(clippy::allow_attributes, reason = "dead_code is not expected in every test")]

use netburn_medium::aggregation::{Framing, Limits};
use netburn_medium::air::{Air, AirConfig, ChannelConfig, LinkConfig, NodeConfig, Output};
use netburn_medium::config::{AdapterRate, Composition, Guard, HardwareQueue, QueueLimit, Width};
use netburn_medium::edca::EdcaParameters;
use netburn_medium::packet::{Ecn, NodeId, Packet};
use netburn_medium::phy::{Modulation, TxVector, ofdm::Rate};
use netburn_medium::queue::TransmitQueue;
use netburn_medium::queue::driver::{Device, Order};
use netburn_medium::queue::fifo::Fifo;
use netburn_medium::rate::RateChoice;
use netburn_units::{Duration, Instant, Seed};

pub type Queue = Box<dyn TransmitQueue<u64>>;

/// HT on 20 MHz with the short guard interval: `mcs` 0 to 7 on `streams`.
pub fn ht20(mcs: u8, streams: u8, guard: Guard) -> TxVector {
    TxVector {
        modulation: Modulation::Ht { mcs },
        width: Width::Mhz20,
        guard,
        streams,
        signal_extension: false,
        short_preamble: false,
    }
}

/// A-MPDUs of up to 64 frames and 65 535 bytes that last up to `time`.
pub fn ampdu(time: Duration) -> Limits {
    Limits {
        ampdu: true,
        frames: 64,
        window: 64,
        time,
        bytes: 65_535,
        amsdu: 0,
        tries: 10,
    }
}

pub fn fifo(packets: u32) -> Queue {
    Box::new(Device::new(
        Fifo::new(QueueLimit::Packets(packets)),
        123,
        Order::Arrival,
    ))
}

/// An access point that sends to stations, which only acknowledge.
pub struct Cell {
    pub vectors: Vec<TxVector>,
    pub limits: Limits,
    pub hardware: HardwareQueue,
    pub seed: u64,
    pub limit: AdapterRate,
}

impl Cell {
    pub fn open(&self, queue: Queue) -> Air<u64> {
        self.open_with(queue, EdcaParameters::default_set(15))
    }

    pub fn open_with(&self, queue: Queue, edca: [EdcaParameters; 4]) -> Air<u64> {
        let node = |links| NodeConfig {
            channel: 0,
            edca,
            hardware: self.hardware,
            composition: Composition::default(),
            rts_threshold: None,
            rts_rate: Modulation::Ofdm(Rate::M24),
            framing: Framing::QOS,
            limit: self.limit,
            links,
        };
        let link = |(index, vector): (usize, &TxVector)| LinkConfig {
            to: index + 1,
            vector: *vector,
            rate: RateChoice::Fixed,
            snr_db: None,
            limits: self.limits,
        };
        let mut nodes = vec![node(self.vectors.iter().enumerate().map(link).collect())];
        let mut queues = vec![queue];
        for vector in &self.vectors {
            nodes.push(node(vec![LinkConfig {
                to: 0,
                vector: *vector,
                rate: RateChoice::Fixed,
                snr_db: None,
                limits: self.limits,
            }]));
            queues.push(fifo(1_000));
        }
        let config = AirConfig {
            channels: vec![ChannelConfig::ofdm()],
            nodes,
            hidden: Vec::new(),
            seed: Seed(self.seed),
        };
        Air::new(&config, queues).unwrap()
    }
}

pub fn packet(length: u32, flow: u32, payload: u64) -> Packet<u64> {
    Packet {
        length,
        flow,
        tid: 0,
        ecn: Ecn::NotEct,
        payload,
    }
}

/// Offers each station packets of 1500 bytes at `mbps` until `end`. Returns goodput in Mbit/s of
/// payload (1472 bytes per packet) by station, over the last nine tenths of the time.
pub fn offer(air: &mut Air<u64>, stations: usize, mbps: u64, end: Instant) -> Vec<f64> {
    offer_kbps(air, stations, mbps * 1_000, end)
}

/// The same, in kbit/s.
pub fn offer_kbps(air: &mut Air<u64>, stations: usize, kbps: u64, end: Instant) -> Vec<f64> {
    let gap = Duration::from_nanos(1_500 * 8 * 1_000_000 / kbps);
    let mut next = Instant::ZERO;
    let (mut number, mut round) = (0, 0);
    let mut bytes = vec![0_u64; stations + 1];
    let from = Instant::from_nanos(end.as_nanos() / 10);
    loop {
        let due = air.poll_timeout().map(|(at, _)| at).filter(|at| *at <= next);
        let now = due.unwrap_or(next);
        if now > end {
            break;
        }
        if due.is_some() {
            air.handle_timeout(now);
        } else {
            // The order must not determine which station gets the last free position.
            for turn in 0..stations {
                number += 1;
                let station = 1 + (turn + round) % stations;
                air.handle_packet(
                    now,
                    NodeId(0),
                    NodeId(station as u16),
                    packet(1_500, station as u32, number),
                );
            }
            round += 1;
            next += gap;
        }
        while let Some(output) = air.poll_output() {
            match output {
                Output::Delivered { at, to, packet, .. } if at > from => {
                    bytes[to.index()] += u64::from(packet.length - 28);
                }
                _ => {}
            }
        }
    }
    let seconds = end.since(from).as_secs_f64();
    bytes[1..]
        .iter()
        .map(|bytes| *bytes as f64 * 8.0 / seconds / 1e6)
        .collect()
}

/// Saturated stations that send to an access point; its node is 0.
pub struct Uplink {
    pub stations: usize,
    pub vector: TxVector,
    pub limits: Limits,
    pub rate: RateChoice,
    pub snr_db: Option<f64>,
    pub seed: u64,
    pub edca: [EdcaParameters; 4],
    pub framing: Framing,
    pub rts_threshold: Option<u64>,
    pub channel: ChannelConfig,
    pub hidden: Vec<(usize, usize)>,
    pub limit: AdapterRate,
    pub hardware: HardwareQueue,
}

impl Default for Uplink {
    /// One station, HT20 at 65 Mbit/s, without aggregation, as in the published comparisons.
    fn default() -> Self {
        Uplink {
            stations: 1,
            vector: ht20(7, 1, Guard::Ns800),
            limits: Limits::NONE,
            rate: RateChoice::Fixed,
            snr_db: None,
            seed: 1,
            edca: EdcaParameters::default_set(15).map(|parameters| EdcaParameters {
                txop: Duration::ZERO,
                ..parameters
            }),
            framing: Framing::QOS,
            rts_threshold: None,
            channel: ChannelConfig::ofdm(),
            hidden: Vec::new(),
            limit: AdapterRate::default(),
            hardware: HardwareQueue::Aggregates(2),
        }
    }
}

impl Uplink {
    pub fn open(&self) -> Air<u64> {
        let node = |links| NodeConfig {
            channel: 0,
            edca: self.edca,
            hardware: self.hardware,
            composition: Composition::default(),
            rts_threshold: self.rts_threshold,
            rts_rate: Modulation::Ofdm(Rate::M24),
            framing: self.framing,
            limit: self.limit,
            links,
        };
        let mut nodes = vec![node(Vec::new())];
        for _ in 0..self.stations {
            nodes.push(node(vec![LinkConfig {
                to: 0,
                vector: self.vector,
                rate: self.rate,
                snr_db: self.snr_db,
                limits: self.limits,
            }]));
        }
        let config = AirConfig {
            channels: vec![self.channel.clone()],
            nodes,
            hidden: self.hidden.clone(),
            seed: Seed(self.seed),
        };
        let queue = || -> Queue { Box::new(Device::new(Fifo::new(QueueLimit::Packets(1_000)), 512, Order::Arrival)) };
        let queues = (0..=self.stations).map(|_| queue()).collect();
        Air::new(&config, queues).unwrap()
    }
}

/// Keeps 800 packets of 1500 bytes queued at each of the nodes 1 to `stations`, for node 0. Returns
/// the bytes delivered by node.
pub fn saturate(air: &mut Air<u64>, stations: usize, from: Instant, end: Instant) -> Vec<u64> {
    saturate_tids(air, &vec![0; stations], from, end)
}

/// The same, each station with its TID.
pub fn saturate_tids(air: &mut Air<u64>, tids: &[u8], from: Instant, end: Instant) -> Vec<u64> {
    let mut bytes = vec![0; tids.len() + 1];
    let next = |node: NodeId| Packet {
        tid: tids[node.index() - 1],
        ..packet(1_500, u32::from(node.0), 0)
    };
    for station in 1..=tids.len() {
        let id = NodeId(station as u16);
        for _ in air.backlog(id)..800 {
            air.handle_packet(from, id, NodeId(0), next(id));
        }
    }
    while let Some((at, _)) = air.poll_timeout() {
        if at > end {
            break;
        }
        air.handle_timeout(at);
        while let Some(output) = air.poll_output() {
            let (from, at) = match output {
                Output::Delivered { at, from, packet, .. } => {
                    bytes[from.index()] += u64::from(packet.length);
                    (from, at)
                }
                Output::Dropped { at, from, .. } => (from, at),
                Output::Sent { .. } | Output::Group { .. } => continue,
            };
            air.handle_packet(at, from, NodeId(0), next(from));
        }
    }
    bytes
}

/// Goodput in Mbit/s of payload (1472 bytes per packet) by station, from 0.5 s.
pub fn goodput(air: &mut Air<u64>, tids: &[u8], seconds: i64) -> Vec<f64> {
    let begin = Instant::from_millis(500);
    saturate_tids(air, tids, Instant::ZERO, begin);
    let bytes = saturate_tids(air, tids, begin, begin + Duration::from_secs(seconds as u64));
    let rate = |bytes: &u64| *bytes as f64 / 1_500.0 * 1_472.0 * 8.0 / seconds as f64 / 1e6;
    bytes[1..].iter().map(rate).collect()
}
