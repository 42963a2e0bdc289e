//! Stations and workloads are numbers in rows and names in columns.

use crate::row::{BASELINE, OUTCOMES, outcome_name};
use netburn_scenario::Plan;
use netburn_workload::Outcome;
use parquet::data_type::ByteArray;
use std::collections::BTreeMap;

/// The workload name of the idle-latency probe: no scenario can name a workload so.
pub(crate) const BASELINE_NAME: &str = "(baseline)";

/// The names of a plan, each once. A number that the plan doesn't have is written as `#17`, so that every row can be
/// written and read back.
#[derive(Debug, Clone)]
pub(crate) struct Names {
    stations: Vec<StationNames>,
    by_name: BTreeMap<Vec<u8>, u16>,
    baseline: ByteArray,
    /// In the order of [`OUTCOMES`].
    outcomes: Vec<ByteArray>,
}

#[derive(Debug, Clone)]
struct StationNames {
    name: ByteArray,
    workloads: Vec<ByteArray>,
}

impl Names {
    pub(crate) fn new(plan: &Plan) -> Self {
        let stations: Vec<StationNames> = plan
            .stations
            .iter()
            .map(|station| StationNames {
                name: ByteArray::from(station.name.as_str()),
                workloads: distinct(station.workloads.iter().map(|workload| workload.name.as_str()))
                    .iter()
                    .map(|name| ByteArray::from(name.as_str()))
                    .collect(),
            })
            .collect();
        let by_name = stations
            .iter()
            .zip(0..)
            .map(|(station, number)| (station.name.data().to_vec(), number))
            .collect();
        Names {
            stations,
            by_name,
            baseline: ByteArray::from(BASELINE_NAME),
            outcomes: OUTCOMES.map(|outcome| ByteArray::from(outcome_name(outcome))).into(),
        }
    }

    pub(crate) fn station(&self, number: u16) -> ByteArray {
        match self.stations.get(usize::from(number)) {
            Some(station) => station.name.clone(),
            None => numbered(number),
        }
    }

    pub(crate) fn outcome(&self, outcome: Outcome) -> ByteArray {
        let place = OUTCOMES.iter().position(|known| *known == outcome);
        self.outcomes[place.expect("all outcomes are listed")].clone()
    }

    pub(crate) fn workload(&self, station: u16, number: u16) -> ByteArray {
        if number == BASELINE {
            return self.baseline.clone();
        }
        let station = self.stations.get(usize::from(station));
        match station.and_then(|station| station.workloads.get(usize::from(number))) {
            Some(name) => name.clone(),
            None => numbered(number),
        }
    }
}

/// Finds the numbers of names again. Rows of one station tend to follow each other, so the last one found is tried
/// first.
#[derive(Debug)]
pub(crate) struct Lookup<'a> {
    names: &'a Names,
    last: u16,
}

impl<'a> Lookup<'a> {
    pub(crate) fn new(names: &'a Names) -> Self {
        Lookup { names, last: 0 }
    }

    pub(crate) fn station(&mut self, name: &[u8]) -> Option<u16> {
        let last = self.names.stations.get(usize::from(self.last));
        if last.is_some_and(|station| station.name.data() == name) {
            return Some(self.last);
        }
        let number = match self.names.by_name.get(name) {
            Some(number) => *number,
            None => unnumbered(name)?,
        };
        self.last = number;
        Some(number)
    }

    pub(crate) fn workload(&self, station: u16, name: &[u8]) -> Option<u16> {
        let known = self.names.stations.get(usize::from(station));
        let place = known.and_then(|station| station.workloads.iter().position(|known| known.data() == name));
        match place {
            Some(place) => u16::try_from(place).ok(),
            None if name == BASELINE_NAME.as_bytes() => Some(BASELINE),
            None => unnumbered(name),
        }
    }
}

/// Names told apart: the second `voip` becomes `voip#2`.
pub(crate) fn distinct<'a>(names: impl Iterator<Item = &'a str>) -> Vec<String> {
    let mut seen: BTreeMap<&str, u32> = BTreeMap::new();
    names
        .map(|name| {
            let count = seen.entry(name).or_default();
            *count += 1;
            match *count {
                1 => name.to_owned(),
                count => format!("{name}#{count}"),
            }
        })
        .collect()
}

fn numbered(number: u16) -> ByteArray {
    ByteArray::from(format!("#{number}").as_str())
}

fn unnumbered(name: &[u8]) -> Option<u16> {
    std::str::from_utf8(name).ok()?.strip_prefix('#')?.parse().ok()
}
