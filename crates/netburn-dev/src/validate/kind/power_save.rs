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

use super::{FixedMetrics, Metric, network_plan};
use crate::validate::quantity::{Dimension, optional, parsed};
use netburn_medium::packet::{Ecn, Packet};
use netburn_network::{Endpoint, Network, Output};
use netburn_scenario::Plan;
use netburn_units::{Duration, Instant, Seed};
use serde::Deserialize;

/// One station at an idle access point of 802.11ax, at a fixed MCS.
const NETWORK: &str =
    "baseline = \"0 s\"\n[ap.x.radio.5g]\nstandard = \"802.11ax\"\n[station.s]\njoins = \"x.5g\"\nmcs = 5\n";
/// Length of each packet in bytes.
const LENGTH: u32 = 200;

/// A station that dozes, and its packets.
#[derive(Debug, Deserialize)]
#[serde(try_from = "Fields")]
pub(super) struct PowerSave {
    plan: Plan,
    fields: Fields,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
struct Fields {
    power_save: toml::Table,
    packets: u16,
    #[serde(deserialize_with = "parsed")]
    period: Duration,
    #[serde(default, deserialize_with = "optional")]
    uplink: Option<Duration>,
}

/// Delays of the packets to the station in ms, and the number of lost ones.
pub(super) struct Delays {
    delays: Vec<f64>,
    lost: usize,
}

impl TryFrom<Fields> for PowerSave {
    type Error = String;

    fn try_from(fields: Fields) -> Result<Self, String> {
        if fields.packets == 0 || fields.period.is_zero() || fields.uplink.is_some_and(Duration::is_zero) {
            return Err("expected at least one packet, and times greater than 0".to_owned());
        }
        let plan = network_plan(&format!("{NETWORK}[station.s.power_save]\n{}", fields.power_save))?;
        Ok(PowerSave { plan, fields })
    }
}

impl PowerSave {
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
}

impl FixedMetrics for PowerSave {
    type Result = Delays;
    const METRICS: &'static [Metric<Delays>] = &[
        Metric("mean delay", Dimension::Time, |Delays { delays, .. }| {
            1e3 * delays.iter().sum::<f64>() / delays.len() as f64
        }),
        Metric("longest delay", Dimension::Time, |Delays { delays, .. }| {
            1e3 * delays.iter().copied().fold(f64::NAN, f64::max)
        }),
        Metric("lost", Dimension::Count, |delays| delays.lost as f64),
    ];

    fn result(&self) -> Delays {
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
