//! Meshes: metrics and discovery of 802.11s, and throughput over several hops.

use super::phy::Phy;
use super::{FixedMetrics, Kind, Metric, Metrics, network_plan};
use crate::validate::quantity::{Dimension, micros, parse, parsed};
use netburn_medium::packet::{Ecn, Packet};
use netburn_network::mesh::constants::Constants;
use netburn_network::mesh::hwmp::{Hwmp, Output as HwmpOutput, RootMode};
use netburn_network::mesh::{MeshId, metric};
use netburn_network::{Endpoint, Network, Output};
use netburn_scenario::Plan;
use netburn_units::{BitRate, Duration, Instant, Probability, Seed};
use serde::Deserialize;
use std::fmt::Write as _;

/// Airtime metric of a link. `rate`: as Linux counts; `phy`: as the standard counts.
#[derive(Debug, Clone, Deserialize)]
#[serde(try_from = "MetricFields")]
pub(super) struct LinkMetric {
    link: MetricInput,
    failing: Probability,
}

#[derive(Debug, Clone)]
enum MetricInput {
    Linux(BitRate),
    Standard(Phy),
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct MetricFields {
    rate: Option<String>,
    phy: Option<Phy>,
    failing: Option<String>,
}

impl TryFrom<MetricFields> for LinkMetric {
    type Error = String;

    fn try_from(fields: MetricFields) -> Result<Self, String> {
        let link = match (fields.rate, fields.phy) {
            (Some(rate), None) => MetricInput::Linux(parse(&rate)?),
            (None, Some(phy)) => {
                metric::standard(&phy.0, Probability::ZERO).map_err(|error| error.to_string())?;
                MetricInput::Standard(phy)
            }
            _ => return Err("expected `rate` (as Linux counts) or `phy` (as the standard counts)".to_owned()),
        };
        let failing = fields.failing.map_or(Ok(Probability::ZERO), |text| parse(&text))?;
        Ok(LinkMetric { link, failing })
    }
}

impl FixedMetrics for LinkMetric {
    type Result = f64;
    const METRICS: &'static [Metric<f64>] = &[Metric("metric", Dimension::Count, |metric| *metric)];

    fn result(&self) -> f64 {
        let value = match &self.link {
            MetricInput::Linux(rate) => metric::linux(*rate, self.failing.as_ppb() / 10_000_000),
            MetricInput::Standard(phy) => metric::standard(&phy.0, self.failing).unwrap_or(metric::BROKEN),
        };
        f64::from(value)
    }
}

/// A discovery without an answer. Metrics: `request 1` and so on, and `end`.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Discovery {
    timers: Timers,
}

#[derive(Debug, Clone, Copy, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum Timers {
    Linux,
    #[serde(rename = "ns-3")]
    Ns3,
}

impl Discovery {
    /// Times of the requests, and of the end.
    fn times(&self) -> (Vec<Duration>, Duration) {
        let constants = match self.timers {
            Timers::Linux => Constants::LINUX,
            Timers::Ns3 => Constants::NS3,
        };
        let mut node = Hwmp::new(Instant::ZERO, MeshId(0), constants, RootMode::None);
        let mut now = Instant::ZERO;
        node.send(now, MeshId(1), ());
        let (mut requests, mut end) = (Vec::new(), Duration::ZERO);
        loop {
            while let Some(output) = node.poll_output() {
                match output {
                    HwmpOutput::Send(..) => requests.push(now.since(Instant::ZERO)),
                    HwmpOutput::Drop(()) => end = now.since(Instant::ZERO),
                    _ => {}
                }
            }
            let Some(next) = node.poll_timeout() else { break };
            now = next;
            node.handle_timeout(now);
        }
        (requests, end)
    }
}

impl Kind for Discovery {
    fn metrics(&self) -> Metrics {
        let requests = (1..=self.times().0.len()).map(|number| format!("request {number}"));
        let names = requests.chain(["end".to_owned()]);
        names.map(|name| (name, Dimension::Time)).collect()
    }

    fn run(&self, wanted: &[&str]) -> Vec<f64> {
        let (requests, end) = self.times();
        let value = |metric: &&str| {
            let number = metric.strip_prefix("request ");
            let number = number.and_then(|number| number.parse::<usize>().ok());
            let at = number.map_or(Some(end), |number| requests.get(number.checked_sub(1)?).copied());
            at.map_or(f64::NAN, micros)
        };
        wanted.iter().map(value).collect()
    }
}

/// UDP from the server over a chain of access points, to a station at its end. Metrics:
///
/// - `throughput`: of the network layer
/// - `of-sum`: its share of 1/Σ(1/R), with the rate R of each link alone
/// - `of-last`, `of-slowest`: its share of the rate of the last, or of the slowest link alone
/// - `round-trip`: median of single packets on an idle chain
#[derive(Debug, Deserialize)]
#[serde(try_from = "Chain")]
pub(super) struct Hops(Chain);

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
struct Chain {
    /// Keys of all radios in a scenario file, as an inline table.
    radio: String,
    /// MCS of each hop, that of the station last.
    mcs: Vec<u8>,
    /// Channel of each hop.
    channels: Vec<u16>,
    /// Bytes of a packet, with its IP header.
    #[serde(default = "full")]
    bytes: u32,
    /// Rate of the source.
    #[serde(default = "flood", deserialize_with = "parsed")]
    offered: BitRate,
    #[serde(default = "seconds", deserialize_with = "parsed")]
    duration: Duration,
    /// Number of runs with different seeds, whose throughput is averaged.
    #[serde(default = "one")]
    seeds: u32,
}

const fn one() -> u32 {
    1
}

const fn full() -> u32 {
    1_500
}

const fn flood() -> BitRate {
    BitRate::from_mbps(1_000)
}

const fn seconds() -> Duration {
    Duration::from_secs(6)
}

impl TryFrom<Chain> for Hops {
    type Error = String;

    fn try_from(chain: Chain) -> Result<Self, String> {
        if chain.mcs.is_empty() || chain.mcs.len() != chain.channels.len() {
            return Err("expected one of `mcs` and one of `channels` for each hop".to_owned());
        }
        chain.plan(&chain.mcs, &chain.channels)?;
        Ok(Hops(chain))
    }
}

impl Kind for Hops {
    fn metrics(&self) -> Metrics {
        vec![
            ("throughput".to_owned(), Dimension::Rate),
            ("of-sum".to_owned(), Dimension::Share),
            ("of-last".to_owned(), Dimension::Share),
            ("of-slowest".to_owned(), Dimension::Share),
            ("round-trip".to_owned(), Dimension::Time),
        ]
    }

    fn run(&self, wanted: &[&str]) -> Vec<f64> {
        wanted.iter().map(|metric| self.0.value(metric)).collect()
    }

    fn effort(&self) -> u64 {
        1_000_000
    }
}

impl Chain {
    fn plan(&self, mcs: &[u8], channels: &[u16]) -> Result<Plan, String> {
        let mut text = String::from("[server]\nlink = { rate = \"10 Gbit/s\" }\n");
        let radio = self.radio.trim().trim_start_matches('{').trim_end_matches('}');
        let name = |unit: usize| match unit.checked_sub(1).map(|link| channels[link]) {
            Some(up) if up != channels[unit] => "5g-2",
            _ => "5g",
        };
        for unit in 0..mcs.len() {
            let _ = writeln!(text, "[ap.u{unit}]\nqueue = \"fifo\"");
            let mut own = vec![("5g", channels[unit])];
            if let Some(link) = unit.checked_sub(1) {
                let (parent, mcs) = (name(link), mcs[link]);
                let _ = writeln!(text, "backhaul = \"u{link}.{parent}\"\nbackhaul_mcs = {mcs}");
                if name(unit) == "5g-2" {
                    own = vec![("5g", channels[link]), ("5g-2", channels[unit])];
                }
            }
            for (name, channel) in own {
                let _ = writeln!(text, "radio.{name} = {{ channel = {channel}, {radio} }}");
            }
        }
        let last = mcs.len() - 1;
        let _ = writeln!(
            text,
            "[station.s]\njoins = \"u{last}.{}\"\nmcs = {}",
            name(last),
            mcs[last]
        );
        network_plan(&text)
    }

    fn packet<T>(&self, payload: T) -> Packet<T> {
        Packet {
            length: self.bytes,
            flow: 1,
            tid: 0,
            ecn: Ecn::NotEct,
            payload,
        }
    }

    /// Mean throughput over hops in Mbit/s.
    fn throughput(&self, mcs: &[u8], channels: &[u16], offered: BitRate) -> f64 {
        let runs = self.seeds.max(1);
        let all = (0..runs).map(|run| self.throughput_of(mcs, channels, offered, run));
        all.sum::<f64>() / f64::from(runs)
    }

    /// Throughput of a run in Mbit/s. The first second doesn't count.
    fn throughput_of(&self, mcs: &[u8], channels: &[u16], offered: BitRate, run: u32) -> f64 {
        let mut plan = self.plan(mcs, channels).expect("the input was checked");
        plan.seed = Seed(plan.seed.0 + u64::from(run));
        let mut network: Network<()> = Network::new(&plan).expect("the input was checked");
        let gap = Duration::from_nanos(u64::from(self.bytes) * 8_000_000_000 / offered.as_bps().max(1));
        let (mut next, mut bytes) = (Instant::ZERO, 0);
        let begin = Instant::ZERO + Duration::from_secs(1);
        while next < Instant::ZERO + self.duration {
            network.handle_packet(next, Endpoint::Server, Endpoint::Station(0), self.packet(()));
            while let Some(output) = network.poll_output() {
                if matches!(output, Output::Delivered { at, .. } if at >= begin) {
                    bytes += u64::from(self.bytes);
                }
            }
            next += gap;
        }
        let seconds = (self.duration.as_nanos() as f64 / 1e9 - 1.0).max(1e-3);
        bytes as f64 * 8e-6 / seconds
    }

    /// Round-trip times of single packets in µs, sorted.
    fn round_trips(&self) -> Vec<f64> {
        let plan = self.plan(&self.mcs, &self.channels).expect("the input was checked");
        let mut network: Network<Instant> = Network::new(&plan).expect("the input was checked");
        let (server, station) = (Endpoint::Server, Endpoint::Station(0));
        let mut times = Vec::new();
        for number in 0..200 {
            let begin = Instant::ZERO + Duration::from_millis(50) * number;
            network.handle_packet(begin, server, station, self.packet(begin));
            while let Some(at) = network.handle_until(begin + Duration::from_millis(50)) {
                while let Some(output) = network.poll_output() {
                    let Output::Delivered { to, packet, .. } = output else {
                        continue;
                    };
                    if to == station {
                        network.handle_packet(at, station, server, packet);
                    } else {
                        times.push(micros(at.since(packet.payload)));
                    }
                }
            }
        }
        times.sort_by(f64::total_cmp);
        times
    }

    fn value(&self, metric: &str) -> f64 {
        if metric == "round-trip" {
            let times = self.round_trips();
            return times.get(times.len() / 2).copied().unwrap_or(f64::NAN);
        }
        let found = self.throughput(&self.mcs, &self.channels, self.offered);
        if metric == "throughput" {
            return found;
        }
        let alone = self.mcs.iter().map(|mcs| self.throughput(&[*mcs], &[36], flood()));
        let alone: Vec<f64> = alone.collect();
        let of = match metric {
            "of-sum" => 1.0 / alone.iter().map(|rate| 1.0 / rate).sum::<f64>(),
            "of-last" => alone[alone.len() - 1],
            _ => alone.iter().copied().fold(f64::INFINITY, f64::min),
        };
        found / of
    }
}
