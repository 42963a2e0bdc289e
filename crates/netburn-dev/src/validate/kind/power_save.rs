//! Delay of packets to a station that dozes, in the network that the simulator and the lab use.
//!
//! ```toml
//! kind       = "power-save"
//! power-save = { mode = "legacy", listen_interval = 3 }    # the keys of [station.NAME.power_save]
//! packets    = 2000                                        # one to the station at a random time in each period
//! period     = "10 s"
//! uplink     = "20 ms"                                     # the station itself sends a packet each 20 ms; default: none
//! ```
//!
//! Metrics are `mean delay`, `longest delay` and `lost` packets to the station.

use super::Metrics;
use super::phy::time;
use crate::validate::quantity::Dimension;
use crate::validate::toml_value::deserialize;
use netburn_medium::packet::{Ecn, Packet};
use netburn_network::{Endpoint, Network, Output};
use netburn_scenario::{Document, Plan};
use netburn_units::{Duration, Instant, Seed};
use serde::{Deserialize, Deserializer};
use std::ops::Range;
use toml::de::DeTable;

/// One station at an idle access point of 802.11ax, at a fixed MCS.
const NETWORK: &str =
    "baseline = \"0 s\"\n[ap.x.radio.5g]\nstandard = \"802.11ax\"\n[station.s]\njoins = \"x.5g\"\nmcs = 5\n";
/// Length of each packet in bytes.
const LENGTH: u32 = 200;

/// A station that dozes, and its packets.
#[derive(Debug, Clone)]
pub struct PowerSaveInput {
    plan: Plan,
    fields: Fields,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
struct Fields {
    power_save: toml::Table,
    packets: u16,
    #[serde(deserialize_with = "time")]
    period: Duration,
    #[serde(default, deserialize_with = "optional_time")]
    uplink: Option<Duration>,
}

fn optional_time<'de, D: Deserializer<'de>>(from: D) -> Result<Option<Duration>, D::Error> {
    time(from).map(Some)
}

/// Delays of the packets to the station in ms, and the number of lost ones.
struct Delays {
    delays: Vec<f64>,
    lost: usize,
}

impl PowerSaveInput {
    pub(super) fn read(table: DeTable<'_>, span: Range<usize>) -> Result<Self, (String, Range<usize>)> {
        let fields: Fields = deserialize(table, span.clone())?;
        let wrong = |why: String| (why, span.clone());
        if fields.packets == 0 || fields.period.is_zero() || fields.uplink.is_some_and(Duration::is_zero) {
            return Err(wrong(
                "expected at least one packet, and times greater than 0".to_owned(),
            ));
        }
        let text = format!("{NETWORK}[station.s.power_save]\n{}", fields.power_save);
        let document = Document::from_toml("power-save", &text).map_err(|error| wrong(error.to_string()))?;
        let plan = document.resolve().map_err(|error| wrong(error.to_string()))?;
        Network::<()>::new(&plan).map_err(|error| wrong(error.to_string()))?;
        Ok(PowerSaveInput { plan, fields })
    }

    pub(super) fn metrics() -> Metrics {
        let names = [
            ("mean delay", Dimension::Time),
            ("longest delay", Dimension::Time),
            ("lost", Dimension::Count),
        ];
        names.into_iter().map(|(name, of)| (name.to_owned(), of)).collect()
    }

    pub(super) fn run(&self, wanted: &[&str]) -> Vec<f64> {
        let Delays { delays, lost } = self.delays();
        let value = |metric: &&str| match *metric {
            "mean delay" => 1e3 * delays.iter().sum::<f64>() / delays.len() as f64,
            "longest delay" => 1e3 * delays.iter().copied().fold(f64::NAN, f64::max),
            _ => lost as f64,
        };
        wanted.iter().map(value).collect()
    }

    /// Sending times, in order, and whether the packet is for the station.
    fn packets(&self) -> Vec<(Instant, bool)> {
        let Fields {
            packets,
            period,
            uplink,
            ..
        } = self.fields;
        let mut phase = Seed(1).stream("packets", 0);
        let down = |number: u64| (Instant::ZERO + period * number + phase.duration_below(period), true);
        let mut all: Vec<(Instant, bool)> = (0..u64::from(packets)).map(down).collect();
        if let Some(uplink) = uplink {
            // Until after the last packet to the station.
            let end = period.as_nanos().saturating_mul(u64::from(packets));
            let up = |number: u64| (Instant::ZERO + uplink * number, false);
            all.extend((0..=1 + end / uplink.as_nanos()).map(up));
        }
        all.sort_unstable();
        all
    }

    fn delays(&self) -> Delays {
        let mut network: Network<Instant> = Network::new(&self.plan).expect("the network was built before");
        let mut delays = Vec::new();
        let (server, station) = (Endpoint::Server, Endpoint::Station(0));
        let mut drain = |network: &mut Network<Instant>| {
            while let Some(output) = network.poll_output() {
                if let Output::Delivered { at, to, packet, .. } = output
                    && to == station
                {
                    delays.push(at.since(packet.payload).as_millis_f64());
                }
            }
        };
        let packets = self.packets();
        for (now, down) in &packets {
            network.handle_timeout(*now);
            let packet = Packet {
                length: LENGTH,
                flow: u32::from(*down),
                tid: 6,
                ecn: Ecn::NotEct,
                payload: *now,
            };
            let (from, to) = if *down { (server, station) } else { (station, server) };
            network.handle_packet(*now, from, to, packet);
            drain(&mut network);
        }
        let last = packets.last().map_or(Instant::ZERO, |(at, _)| *at);
        network.handle_timeout(last + Duration::from_secs(120));
        drain(&mut network);
        let lost = usize::from(self.fields.packets).saturating_sub(delays.len());
        Delays { delays, lost }
    }
}
