//! Metrics of imported runs that other programs measured in different ways, and so are not compared.

use super::methods::{Origin, of_kind};
use super::metric::Key;
use super::side::Side;
use netburn_record::Environment;
use netburn_record::header::Method;
use netburn_record::summary::{StationSummary, WorkloadSummary};
use netburn_workload::kinds::{KINDS, Transport};
use std::collections::BTreeSet;
use std::fmt;

/// A station or workload of both sides of which values are not compared.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NotCompared {
    /// The station; `None` for the whole run.
    pub station: Option<String>,
    /// The workload; `None` for the whole station.
    pub workload: Option<String>,
    /// The reason.
    pub reason: Incomparable,
}

/// Reason for which values of two sides are not compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Incomparable {
    /// They were measured by different protocols: by the first one in the candidate, by the second one in the baseline.
    Methods([Method; 2]),
    /// A side has runs of different protocols.
    Mixed,
    /// Only one of the sides had a load.
    Load,
    /// At least one of the sides measured no throughput.
    NoThroughput,
    /// They were measured by different programs, each in its own way.
    Programs,
    /// A side is the summary of an imported run, which does not name the program.
    UnknownProgram,
}

impl fmt::Display for Incomparable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Incomparable::Methods([these, against]) => write!(f, "{} against {}", these.name(), against.name()),
            Incomparable::Mixed => f.write_str("a side has runs of different protocols"),
            Incomparable::Load => f.write_str("only one side had a load"),
            Incomparable::NoThroughput => f.write_str("a side measured no throughput"),
            Incomparable::Programs => f.write_str("measured by different programs"),
            Incomparable::UnknownProgram => {
                f.write_str("the summary of an imported run does not name its program; compare the run's folder")
            }
        }
    }
}

/// Reason for which the values of `key` are not compared. `None` if they are, as always between runs of netburn.
pub(super) fn reason(key: &Key, these: &Side, against: &Side) -> Option<Incomparable> {
    let sides = [these, against];
    if !sides.into_iter().any(is_imported) {
        return None;
    }
    if sides.iter().any(|side| side.origins.contains(&Origin::Unknown)) {
        return Some(Incomparable::UnknownProgram);
    }
    let is_throughput = key.quantity.path.ends_with("throughput_mbps");
    if let (Some(station), Some(workload)) = (&key.station, &key.workload) {
        let [mine, theirs] = sides.map(|side| methods(side, station, workload));
        return match differ(&mine, &theirs) {
            Some(reason) => Some(reason),
            None if !is_throughput && had_load(these, workload) != had_load(against, workload) => {
                Some(Incomparable::Load)
            }
            None => None,
        };
    }
    if !is_throughput {
        let has_other = these.origins != against.origins || these.origins.len() > 1;
        return (has_other && key.quantity.path == "idle_latency_ms").then_some(Incomparable::Programs);
    }
    let [mine, theirs] = sides.map(|side| loads(side, key.station.as_deref()));
    match (mine.is_empty(), theirs.is_empty()) {
        // Two runs without a load have the same throughput, which is none.
        (true, true) => {
            let has_other = workloads(these).any(|(station, workload)| {
                let theirs = methods(against, &station.name, &workload.name);
                differ(&methods_of(these, station, workload), &theirs).is_some()
            });
            has_other.then_some(Incomparable::NoThroughput)
        }
        (false, false)
            if sides
                .into_iter()
                .any(|side| has_mixed_load(side, key.station.as_deref())) =>
        {
            Some(Incomparable::Mixed)
        }
        (false, false) => differ_in_load(&mine, &theirs),
        _ => Some(Incomparable::NoThroughput),
    }
}

/// Returns true if another program measured one of the runs.
fn is_imported(side: &Side) -> bool {
    side.runs.iter().any(|run| run.environment == Environment::Imported)
}

/// Reason for which a workload of such methods is not compared; `None` if a side does not have it.
fn differ(mine: &BTreeSet<Method>, theirs: &BTreeSet<Method>) -> Option<Incomparable> {
    let one = |methods: &BTreeSet<Method>| methods.first().copied().filter(|_| methods.len() == 1);
    match (one(mine), one(theirs)) {
        _ if mine.is_empty() || theirs.is_empty() => None,
        (Some(mine), Some(theirs)) => (mine != theirs).then_some(Incomparable::Methods([mine, theirs])),
        _ => Some(Incomparable::Mixed),
    }
}

/// Reason for which the sum of loads of such methods is not compared. A run can have loads of several.
fn differ_in_load(mine: &BTreeSet<Method>, theirs: &BTreeSet<Method>) -> Option<Incomparable> {
    let first = mine.iter().copied().zip(theirs.iter().copied());
    let last = mine.iter().rev().copied().zip(theirs.iter().rev().copied());
    if mine == theirs {
        return None;
    }
    let (mine, theirs) = first.chain(last).find(|(mine, theirs)| mine != theirs)?;
    Some(Incomparable::Methods([mine, theirs]))
}

/// Reason for which the values of `key` of two of several sides are not compared. It does not depend on their order.
pub(super) fn reason_of_any(key: &Key, sides: &[Side]) -> Option<Incomparable> {
    let pairs = sides
        .iter()
        .enumerate()
        .flat_map(|(place, one)| sides[..place].iter().map(move |other| (one, other)));
    let reasons = pairs.filter_map(|(one, other)| reason(key, one, other));
    let in_order = reasons.map(|reason| match reason {
        Incomparable::Methods([one, other]) => Incomparable::Methods([one.min(other), one.max(other)]),
        other => other,
    });
    in_order.min()
}

/// Adds what is not compared. Of several metrics with one reason, it is listed once.
pub(super) fn add(to: &mut Vec<NotCompared>, key: &Key, reason: Incomparable) {
    let not = NotCompared {
        station: key.station.clone(),
        workload: key.workload.clone(),
        reason,
    };
    if !to.contains(&not) {
        to.push(not);
    }
}

/// Stations and workloads of a side, of all runs.
fn workloads(side: &Side) -> impl Iterator<Item = (&StationSummary, &WorkloadSummary)> {
    let stations = side.runs.iter().flat_map(|run| &run.stations);
    stations.flat_map(|station| station.workloads.iter().map(move |workload| (station, workload)))
}

/// Methods of a workload of a side; empty if it does not have the workload.
fn methods(side: &Side, station: &str, workload: &str) -> BTreeSet<Method> {
    let named = |(of, one): &(&StationSummary, &WorkloadSummary)| of.name == station && one.name == workload;
    let found = workloads(side).find(named);
    found.map_or_else(BTreeSet::new, |(station, workload)| methods_of(side, station, workload))
}

/// Those of its runs, or that of the workload's kind.
fn methods_of(side: &Side, station: &StationSummary, workload: &WorkloadSummary) -> BTreeSet<Method> {
    if let Some(known) = side.methods.get(&station.name, &workload.name) {
        return known.clone();
    }
    let kind = KINDS.iter().find(|kind| kind.name == workload.kind);
    kind.map(|kind| of_kind(kind)).into_iter().collect()
}

/// Returns true for a workload that loads the network.
fn is_load(workload: &WorkloadSummary) -> bool {
    let kind = KINDS.iter().find(|kind| kind.name == workload.kind);
    let is_probe = kind.is_some_and(|kind| kind.transport == Transport::Echo);
    !is_probe && workload.throughput_mbps > 0.0
}

/// Returns true if a workload of a side ran beside a load. The probes of a test of responsiveness always do
/// (draft-ietf-ippm-responsiveness), but programs write the load into other files.
fn had_load(side: &Side, workload: &str) -> bool {
    let probe = workload.split('-').next();
    let is_responsiveness = is_imported(side) && matches!(probe, Some("self" | "foreign"));
    is_responsiveness || workloads(side).any(|(_, workload)| is_load(workload))
}

/// Loads of a station, or of all stations.
fn load_workloads<'a>(
    side: &'a Side,
    station: Option<&str>,
) -> impl Iterator<Item = (&'a StationSummary, &'a WorkloadSummary)> {
    workloads(side).filter(move |(of, workload)| station.is_none_or(|station| of.name == station) && is_load(workload))
}

/// Returns true if a load has different protocols in different runs.
fn has_mixed_load(side: &Side, station: Option<&str>) -> bool {
    load_workloads(side, station).any(|(of, workload)| methods_of(side, of, workload).len() > 1)
}

/// Protocols of the load of a station, or of all stations.
fn loads(side: &Side, station: Option<&str>) -> BTreeSet<Method> {
    load_workloads(side, station)
        .flat_map(|(of, workload)| methods_of(side, of, workload))
        .collect()
}

#[cfg(test)]
#[path = "comparable_tests.rs"]
mod tests;
