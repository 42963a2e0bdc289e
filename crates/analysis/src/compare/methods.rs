//! Methods by which other programs measured the workloads of imported runs.

use netburn_record::Run;
use netburn_record::header::{Method, Source};
use std::collections::BTreeMap;

/// Methods of the workloads of a side that netburn measures in another way, by names of station and workload.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Methods(BTreeMap<(String, String), Method>);

impl Methods {
    /// Adds the methods of an imported run.
    pub(super) fn add(&mut self, run: &Run) {
        let header = run.header();
        for of in header.source.iter().flat_map(|source: &Source| &source.methods) {
            let station = header.plan.stations.get(usize::from(of.station));
            let workload = station.and_then(|station| station.workloads.get(usize::from(of.workload)));
            if let Some((station, workload)) = station.zip(workload) {
                self.insert(&station.name, &workload.name, of.method);
            }
        }
    }

    /// Sets the method of a workload.
    pub fn insert(&mut self, station: &str, workload: &str, method: Method) {
        self.0.insert((station.to_owned(), workload.to_owned()), method);
    }

    /// Method of a workload; `None` for that of netburn.
    pub(super) fn get(&self, station: &str, workload: &str) -> Option<Method> {
        self.0.get(&(station.to_owned(), workload.to_owned())).copied()
    }
}
