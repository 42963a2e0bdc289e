//! Series of flent's tests `rrul` and `rrul_be`.

use super::{Page, mean, sum};
use crate::export::flent::series::Ping;
use netburn_scenario::Station;
use netburn_units::Dscp;
use netburn_workload::{Config, Direction};
use serde_json::json;
use std::collections::BTreeMap;

/// Names of the series.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Naming {
    /// By the mark, as in `rrul`: BE, BK, CS5, EF. Workloads with the same mark are one series.
    Mark,
    /// By the order in the scenario, as in `rrul_be`: BE, BE2, BE3, BE4.
    Order,
}

impl Page<'_> {
    /// Adds the downloads, uploads and probes of all stations, with sums and means.
    pub(super) fn rrul(&mut self, stations: &[Station], naming: Naming) -> serde_json::Value {
        let mut all = Vec::new();
        for (direction, prefix) in [(Direction::Up, "TCP upload"), (Direction::Down, "TCP download")] {
            let names = self.streams(stations, naming, direction, prefix);
            self.computed(&format!("{prefix} avg"), "Mbits/s", &names, mean);
            self.computed(&format!("{prefix} sum"), "Mbits/s", &names, sum);
            all.extend(names);
        }
        self.computed("TCP totals", "Mbits/s", &all, sum);
        let names = self.probes(stations, naming);
        self.computed("Ping (ms) avg", "ms", &names, mean);
        let mut parameters = json!({});
        self.call(&mut parameters);
        parameters
    }

    /// Adds the bulk transfers of a direction, and returns the names of the series.
    fn streams(&mut self, stations: &[Station], naming: Naming, direction: Direction, prefix: &str) -> Vec<String> {
        let mut order = Vec::new();
        let mut series: BTreeMap<String, Vec<Option<u64>>> = BTreeMap::new();
        let gathered = self.of;
        for (station, of) in stations.iter().zip(&gathered.stations) {
            for (workload, bins) in station.workloads.iter().zip(&of.workloads) {
                if workload.config.bulk().is_none_or(|bulk| bulk.direction != direction) {
                    continue;
                }
                let name = match (naming, order.len()) {
                    (Naming::Mark, _) => format!("{prefix} {}", mark(&workload.config)),
                    (Naming::Order, 0) => format!("{prefix} BE"),
                    (Naming::Order, before) => format!("{prefix} BE{}", before + 1),
                };
                if let Some(sums) = series.get_mut(&name) {
                    sums.iter_mut().zip(bins).for_each(|(sum, bytes)| add(sum, *bytes));
                } else {
                    series.insert(name.clone(), bins.clone());
                    order.push(name);
                }
            }
        }
        for (name, bins) in series {
            self.rates(name, &bins);
        }
        order
    }

    /// Adds the probes, and returns the names of the series. The second unmarked probe of `rrul` and the fourth probe of
    /// `rrul_be` replace the ICMP ping.
    fn probes(&mut self, stations: &[Station], naming: Naming) -> Vec<String> {
        let mut names: Vec<String> = Vec::new();
        let gathered = self.of;
        for (station, of) in stations.iter().zip(&gathered.stations) {
            let probes = station
                .workloads
                .iter()
                .filter(|workload| workload.config.kind().is_probe());
            for (workload, loaded) in probes.zip(&of.probes) {
                let name = match naming {
                    Naming::Mark => format!("Ping (ms) UDP {}", mark(&workload.config)),
                    Naming::Order if names.len() == 3 => "Ping (ms) ICMP".to_owned(),
                    Naming::Order => format!("Ping (ms) UDP BE{}", names.len() + 1),
                };
                let icmp = "Ping (ms) ICMP".to_owned();
                let name = match names.contains(&name) {
                    false => name,
                    true if !names.contains(&icmp) && workload.config.marking().dscp == 0 => icmp,
                    true => format!("{name} {}", names.len() + 1),
                };
                let mut pings: Vec<Ping> = of.idle.iter().chain(loaded).copied().collect();
                pings.iter_mut().for_each(|ping| ping.sequence = None);
                pings.sort_unstable();
                self.pings(name.clone(), &pings);
                names.push(name);
            }
        }
        names
    }
}

/// Name of a mark in flent's series.
fn mark(config: &Config) -> String {
    match config.marking().dscp {
        0 => "BE".to_owned(),
        8 => "BK".to_owned(),
        dscp => match Dscp::new(dscp).and_then(Dscp::name) {
            Some(name) => name.to_owned(),
            None => format!("DSCP{dscp}"),
        },
    }
}

fn add(sum: &mut Option<u64>, bytes: Option<u64>) {
    if let Some(bytes) = bytes {
        *sum = Some(sum.unwrap_or(0).saturating_add(bytes));
    }
}
