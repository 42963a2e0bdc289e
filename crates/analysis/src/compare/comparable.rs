//! Metrics of imported runs that other programs measured in different ways, and so are not compared.

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
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Incomparable {
    /// They were measured by different protocols: by the first one in the candidate, by the second one in the baseline.
    Methods([Method; 2]),
    /// Only one of the sides had a load.
    Load,
    /// At least one of the sides measured no throughput.
    NoThroughput,
}

impl fmt::Display for Incomparable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Incomparable::Methods([these, against]) => write!(f, "{} against {}", these.name(), against.name()),
            Incomparable::Load => f.write_str("only one side had a load"),
            Incomparable::NoThroughput => f.write_str("a side measured no throughput"),
        }
    }
}

/// Reason for which the values of `key` are not compared. `None` if they are, as always between runs of netburn.
pub(super) fn reason(key: &Key, these: &Side, against: &Side) -> Option<Incomparable> {
    let sides = [these, against];
    let is_imported = |side: &Side| side.environment() == Some(Environment::Imported);
    if !sides.into_iter().any(is_imported) {
        return None;
    }
    let is_throughput = key.quantity.path.ends_with("throughput_mbps");
    if let (Some(station), Some(workload)) = (&key.station, &key.workload) {
        let [mine, theirs] = sides.map(|side| method(side, station, workload));
        return match mine.zip(theirs) {
            Some((mine, theirs)) if mine != theirs => Some(Incomparable::Methods([mine, theirs])),
            _ if !is_throughput && has_load(these) != has_load(against) => Some(Incomparable::Load),
            _ => None,
        };
    }
    if !is_throughput {
        return None;
    }
    let [mine, theirs] = sides.map(|side| loads(side, key.station.as_deref()));
    match (mine.first(), theirs.first()) {
        // Two runs without a load have the same throughput, which is none.
        (None, None) => differ(these, against).then_some(Incomparable::NoThroughput),
        _ if mine == theirs => None,
        (Some(mine), Some(theirs)) if mine != theirs => Some(Incomparable::Methods([*mine, *theirs])),
        // One of them has a further protocol.
        (Some(_), Some(_)) => {
            let [mine, theirs] = [mine.last(), theirs.last()].map(|last| last.copied());
            mine.zip(theirs)
                .map(|(mine, theirs)| Incomparable::Methods([mine, theirs]))
        }
        _ => Some(Incomparable::NoThroughput),
    }
}

/// Returns true if a workload of both sides was measured in different ways.
fn differ(these: &Side, against: &Side) -> bool {
    workloads(these).any(|(station, workload)| {
        let theirs = method(against, &station.name, &workload.name);
        theirs.is_some_and(|theirs| method_of(these, station, workload) != Some(theirs))
    })
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

fn method(side: &Side, station: &str, workload: &str) -> Option<Method> {
    let named = |(of, one): &(&StationSummary, &WorkloadSummary)| of.name == station && one.name == workload;
    let (station, workload) = workloads(side).find(named)?;
    method_of(side, station, workload)
}

/// That of the imported run, or that of the workload's kind.
fn method_of(side: &Side, station: &StationSummary, workload: &WorkloadSummary) -> Option<Method> {
    side.methods.get(&station.name, &workload.name).or_else(|| {
        let kind = KINDS.iter().find(|kind| kind.name == workload.kind)?;
        Some(match kind.transport {
            Transport::Http if kind.is_bulk => Method::Tcp,
            Transport::Http => Method::Http,
            Transport::Echo | Transport::OneWay => Method::Udp,
        })
    })
}

/// Returns true for a workload that loads the network.
fn is_load(workload: &WorkloadSummary) -> bool {
    let kind = KINDS.iter().find(|kind| kind.name == workload.kind);
    let is_probe = kind.is_some_and(|kind| kind.transport == Transport::Echo);
    !is_probe && workload.throughput_mbps > 0.0
}

fn has_load(side: &Side) -> bool {
    workloads(side).any(|(_, workload)| is_load(workload))
}

/// Protocols of the load of a station, or of all stations.
fn loads(side: &Side, station: Option<&str>) -> BTreeSet<Method> {
    workloads(side)
        .filter(|(of, workload)| station.is_none_or(|station| of.name == station) && is_load(workload))
        .filter_map(|(of, workload)| method_of(side, of, workload))
        .collect()
}

#[cfg(test)]
#[path = "comparable_tests.rs"]
mod tests;
