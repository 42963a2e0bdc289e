//! Names of stations and workloads, which are numbers in rows.

use super::dictionary::Name;
use crate::row::{BASELINE, BASELINE_LINE, BASELINE_NEAR, OUTCOMES, outcome_name};
use netburn_scenario::Plan;
use netburn_workload::Outcome;
use parquet::data_type::ByteArray;
use std::collections::BTreeMap;

/// The workload names of the idle-latency probes: no scenario can name a workload so.
const BASELINES: [(&str, u16); 3] = [
    (BASELINE_NAME, BASELINE),
    ("(baseline line)", BASELINE_LINE),
    ("(baseline near)", BASELINE_NEAR),
];
/// The workload name of the idle-latency probe to the server.
pub(crate) const BASELINE_NAME: &str = "(baseline)";

/// Names of a plan. An unknown number is written as `#17`, so that every row can be written and
/// read back.
#[derive(Debug, Clone)]
pub(crate) struct Names {
    stations: Vec<StationNames>,
    by_name: BTreeMap<Vec<u8>, u16>,
    /// In the order of [`BASELINES`].
    baselines: [ByteArray; 3],
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
            baselines: BASELINES.map(|(name, _)| ByteArray::from(name)),
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

    /// A workload's number within the station at `place`.
    fn number(&self, place: usize, name: &[u8]) -> Option<u16> {
        let known = self.stations.get(place);
        let number = known.and_then(|station| station.workloads.iter().position(|known| known.data() == name));
        match number {
            Some(number) => u16::try_from(number).ok(),
            None => {
                let baseline = BASELINES.iter().find(|(known, _)| known.as_bytes() == name);
                baseline.map_or_else(|| unnumbered(name), |(_, number)| Some(*number))
            }
        }
    }

    pub(crate) fn workload(&self, station: u16, number: u16) -> ByteArray {
        if let Some(place) = BASELINES.iter().position(|(_, known)| *known == number) {
            return self.baselines[place].clone();
        }
        let station = self.stations.get(usize::from(station));
        match station.and_then(|station| station.workloads.get(usize::from(number))) {
            Some(name) => name.clone(),
            None => numbered(number),
        }
    }
}

/// Finds the numbers of names. Each dictionary entry is looked up once per row group.
#[derive(Debug)]
pub(crate) struct Lookup<'a> {
    names: &'a Names,
    /// Stations by the code of their names.
    stations: Vec<Option<u16>>,
    /// For each station, its workloads by the code of their names.
    workloads: Vec<Vec<(u32, u16)>>,
    outcomes: Vec<Option<Outcome>>,
}

impl<'a> Lookup<'a> {
    pub(crate) fn new(names: &'a Names) -> Self {
        Lookup {
            names,
            stations: Vec::new(),
            workloads: Vec::new(),
            outcomes: Vec::new(),
        }
    }

    /// Starts another row group, with other codes.
    pub(super) fn begin(&mut self) {
        self.stations.clear();
        self.workloads.clear();
        self.outcomes.clear();
    }

    pub(crate) fn station(&mut self, name: Name<'_>) -> Option<u16> {
        let names = self.names;
        remembered(&mut self.stations, name, |name| match names.by_name.get(name) {
            Some(number) => Some(*number),
            None => unnumbered(name),
        })
    }

    pub(crate) fn workload(&mut self, station: u16, name: Name<'_>) -> Option<u16> {
        let place = usize::from(station);
        if self.workloads.len() <= place {
            self.workloads.resize_with(place + 1, Vec::new);
        }
        let known = &mut self.workloads[place];
        if let Some((_, number)) = known.iter().find(|(code, _)| *code == name.code) {
            return Some(*number);
        }
        let number = self.names.number(place, name.bytes)?;
        known.push((name.code, number));
        Some(number)
    }

    pub(crate) fn outcome(&mut self, name: Name<'_>) -> Option<Outcome> {
        remembered(&mut self.outcomes, name, |name| {
            OUTCOMES
                .into_iter()
                .find(|known| outcome_name(*known).as_bytes() == name)
        })
    }
}

/// Result of `find` for a name, cached for each code.
fn remembered<T: Copy>(
    memory: &mut Vec<Option<T>>,
    name: Name<'_>,
    find: impl FnOnce(&[u8]) -> Option<T>,
) -> Option<T> {
    let place = name.code as usize;
    if let Some(Some(known)) = memory.get(place) {
        return Some(*known);
    }
    let found = find(name.bytes)?;
    if memory.len() <= place {
        memory.resize(place + 1, None);
    }
    memory[place] = Some(found);
    Some(found)
}

/// Makes names distinct: the second `voip` becomes `voip#2`.
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
