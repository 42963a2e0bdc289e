//! Delay of broadcast packets to the stations of an access point, in the network that the simulator and
//! the lab use.
//!
//! ```toml
//! kind     = "broadcast"
//! stations = ["off", "legacy"]                      # the mode of power save of each station
//! network  = { broadcast_interval = "2 s" }         # the keys of [network.NAME]
//! duration = "4000 s"
//! ```
//!
//! Metrics:
//!
//! - `mean delay`, `longest delay`: of all receptions
//! - `buffered`: share of the frames that waited for a DTIM beacon
//! - `lost`: frames that a station did not receive

use super::Metrics;
use super::phy::time;
use crate::validate::quantity::Dimension;
use crate::validate::toml_value::deserialize;
use netburn_network::{BroadcastStats, Network};
use netburn_scenario::{Document, Plan};
use netburn_units::{Duration, Instant};
use serde::Deserialize;
use std::fmt::Write as _;
use std::ops::Range;
use toml::de::DeTable;

/// An access point without other traffic, and its stations.
#[derive(Debug, Clone)]
pub struct BroadcastInput {
    plan: Plan,
    duration: Duration,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
struct Fields {
    stations: Vec<String>,
    network: toml::Table,
    #[serde(deserialize_with = "time")]
    duration: Duration,
}

impl BroadcastInput {
    pub(super) fn read(table: DeTable<'_>, span: Range<usize>) -> Result<Self, (String, Range<usize>)> {
        let fields: Fields = deserialize(table, span.clone())?;
        let wrong = |why: String| (why, span.clone());
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
        let document = Document::from_toml("broadcast", &text).map_err(|error| wrong(error.to_string()))?;
        let plan = document.resolve().map_err(|error| wrong(error.to_string()))?;
        let network = Network::<()>::new(&plan).map_err(|error| wrong(error.to_string()))?;
        if network.broadcast_stats(0).is_none() {
            return Err(wrong("`network` has no `broadcast_interval`".to_owned()));
        }
        Ok(BroadcastInput {
            plan,
            duration: fields.duration,
        })
    }

    pub(super) fn metrics() -> Metrics {
        let names = [
            ("mean delay", Dimension::Time),
            ("longest delay", Dimension::Time),
            ("buffered", Dimension::Share),
            ("lost", Dimension::Count),
        ];
        names.into_iter().map(|(name, of)| (name.to_owned(), of)).collect()
    }

    pub(super) fn run(&self, wanted: &[&str]) -> Vec<f64> {
        let mut network = Network::<()>::new(&self.plan).expect("the network was built before");
        network.handle_timeout(Instant::ZERO + self.duration);
        let stats = network.broadcast_stats(0).expect("the network has broadcast traffic");
        let micros = |delay: Option<Duration>| delay.map_or(f64::NAN, |delay| delay.as_nanos() as f64 / 1e3);
        let BroadcastStats {
            packets,
            buffered,
            lost,
            longest_delay,
            ..
        } = stats;
        let value = |metric: &&str| match *metric {
            "mean delay" => micros(stats.mean_delay()),
            "longest delay" => micros(Some(longest_delay)),
            "buffered" => buffered as f64 / packets as f64,
            _ => lost as f64,
        };
        wanted.iter().map(value).collect()
    }
}
