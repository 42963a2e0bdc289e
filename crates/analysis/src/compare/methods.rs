//! Programs and methods by which the runs of a side were measured.

use netburn_record::header::{Method, Source, WorkloadMethod};
use netburn_record::{Header, Run};
use netburn_workload::Kind;
use netburn_workload::kinds::Transport;
use std::collections::{BTreeMap, BTreeSet};

/// Program that measured a run.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum Origin {
    /// netburn.
    Netburn,
    /// Another one, of which the run was imported.
    Program(String),
    /// Another one, of which only the summary is known, which does not name it.
    Unknown,
}

/// Methods of the workloads of a side, by names of station and workload. A side with several runs can have several.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Methods(BTreeMap<(String, String), BTreeSet<Method>>);

impl Methods {
    /// Adds the methods of a run.
    pub(super) fn add(&mut self, run: &Run) {
        self.add_header(run.header());
    }

    fn add_header(&mut self, header: &Header) {
        let methods = header.source.iter().flat_map(|source: &Source| &source.methods);
        let known: Vec<&WorkloadMethod> = methods.collect();
        for (place, station) in header.plan.stations.iter().enumerate() {
            for (number, workload) in station.workloads.iter().enumerate() {
                let is_this =
                    |of: &&&WorkloadMethod| (usize::from(of.station), usize::from(of.workload)) == (place, number);
                let method = known.iter().find(is_this).map(|of| of.method);
                let method = method.unwrap_or_else(|| of_kind(workload.config.settings.pattern().kind()));
                self.insert(&station.name, &workload.name, method);
            }
        }
    }

    /// Adds a method of a workload.
    pub fn insert(&mut self, station: &str, workload: &str, method: Method) {
        let key = (station.to_owned(), workload.to_owned());
        self.0.entry(key).or_default().insert(method);
    }

    /// Methods of a workload; `None` if only its kind is known.
    pub(super) fn get(&self, station: &str, workload: &str) -> Option<&BTreeSet<Method>> {
        self.0.get(&(station.to_owned(), workload.to_owned()))
    }
}

/// Method by which netburn measures workloads of a kind.
pub(super) fn of_kind(kind: &Kind) -> Method {
    match kind.transport {
        Transport::Http if kind.is_bulk => Method::Tcp,
        Transport::Http => Method::Http,
        Transport::Echo | Transport::OneWay => Method::Udp,
    }
}
