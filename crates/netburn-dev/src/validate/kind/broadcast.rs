//! Delay of broadcast packets to the stations of an access point, in the network that the simulator and
//! the lab use.
//!
//! ```toml
//! kind     = "broadcast"
//! stations = ["off", "legacy"]                      # the mode of power save of each station
//! network  = { broadcast_interval = "2 s" }         # the keys of [network.NAME]
//! duration = "4000 s"
//! ```

use super::{FixedMetrics, Metric, network_plan};
use crate::validate::quantity::{Dimension, micros, parsed};
use netburn_network::{BroadcastStats, Network};
use netburn_scenario::Plan;
use netburn_units::{Duration, Instant};
use serde::Deserialize;
use std::fmt::Write as _;

/// An access point without other traffic, and its stations.
#[derive(Debug, Deserialize)]
#[serde(try_from = "Fields")]
pub(super) struct Broadcast {
    plan: Plan,
    duration: Duration,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
struct Fields {
    stations: Vec<String>,
    network: toml::Table,
    #[serde(deserialize_with = "parsed")]
    duration: Duration,
}

impl TryFrom<Fields> for Broadcast {
    type Error = String;

    fn try_from(fields: Fields) -> Result<Self, String> {
        let mut text = format!(
            "baseline = \"0 s\"\n[ap.x.radio.5g]\nstandard = \"802.11ax\"\n[network.home]\nradios = [\"x.5g\"]\n{}\n",
            fields.network
        );
        for (number, mode) in fields.stations.iter().enumerate() {
            let _ = writeln!(
                text,
                "[station.s{number}]\njoins = \"x.5g\"\nmcs = 5\npower_save = \"{mode}\""
            );
        }
        let plan = network_plan(&text)?;
        if !fields.network.contains_key("broadcast_interval") {
            return Err("`network` has no `broadcast_interval`".to_owned());
        }
        Ok(Broadcast {
            plan,
            duration: fields.duration,
        })
    }
}

impl FixedMetrics for Broadcast {
    type Result = BroadcastStats;
    /// Delays are those of all receptions.
    const METRICS: &'static [Metric<BroadcastStats>] = &[
        Metric("mean delay", Dimension::Time, |stats| {
            stats.mean_delay().map_or(f64::NAN, micros)
        }),
        Metric("longest delay", Dimension::Time, |stats| micros(stats.longest_delay)),
        // Share of the frames that waited for a DTIM beacon.
        Metric("buffered", Dimension::Share, |stats| {
            stats.buffered as f64 / stats.packets as f64
        }),
        // Frames that a station did not receive.
        Metric("lost", Dimension::Count, |stats| stats.lost as f64),
    ];

    fn result(&self) -> BroadcastStats {
        let mut network = Network::<()>::new(&self.plan).expect("the network was built before");
        network.handle_timeout(Instant::ZERO + self.duration);
        network.broadcast_stats(0).expect("the network has broadcast traffic")
    }
}
