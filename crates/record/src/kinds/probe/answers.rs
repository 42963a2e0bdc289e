//! Answers of a station's probes, by the host that answered.

use super::SplitEvidence;
use super::one_way::{Clocks, OneWay, one_way};
use netburn_scenario::Station;
use netburn_units::Duration;
use netburn_workload::{Operation, ProbeTarget};

/// Collects the answers of a station with a probe to its access point.
#[derive(Debug)]
pub(crate) struct SplitCounter {
    /// By workload: the host that answers; `None` for other kinds.
    targets: Vec<Option<ProbeTarget>>,
    /// By host, in the order of [`ProbeTarget::ALL`]: due time and latency in ns.
    answers: [Vec<(i64, u64)>; 3],
    /// Times of probes to the server, before the load and in the evaluated time.
    idle_one_way: Vec<OneWay>,
    one_way: Vec<OneWay>,
    /// The longest interval of the probes.
    interval: Duration,
}

impl SplitCounter {
    /// Counter for a station; `None` if it has no probe to its access point.
    pub(crate) fn new(station: &Station) -> Option<Self> {
        let configs = || station.workloads.iter().map(|workload| &workload.config);
        let probes = configs().filter(|config| config.target().is_some());
        let counter = SplitCounter {
            targets: configs().map(|config| config.target()).collect(),
            answers: Default::default(),
            idle_one_way: Vec::new(),
            one_way: Vec::new(),
            interval: probes.filter_map(|config| config.interval()).max().unwrap_or_default(),
        };
        counter.targets.contains(&Some(ProbeTarget::Near)).then_some(counter)
    }

    /// Records an answered operation of a workload.
    pub(crate) fn answer(&mut self, workload: usize, operation: &Operation, latency: Duration) {
        let target = self.targets.get(workload).copied().flatten();
        let place = ProbeTarget::ALL.iter().position(|known| Some(*known) == target);
        if let Some(place) = place {
            self.answers[place].push((operation.due.as_nanos(), latency.as_nanos()));
            self.one_way.extend(one_way(operation));
        }
    }

    /// Records an answered idle probe to the server.
    pub(crate) fn idle(&mut self, operation: &Operation) {
        self.idle_one_way.extend(one_way(operation));
    }

    /// Compares the answers. `idle`: idle round trips to the server, in ns.
    pub(crate) fn finish(mut self, idle: &[u64], clocks: Clocks<'_>, to: &mut SplitEvidence) {
        self.answers.iter_mut().for_each(|answers| answers.sort_unstable());
        let [near, line, server] = &self.answers;
        let has = |target| self.targets.contains(&Some(target));
        to.set(
            idle,
            near,
            has(ProbeTarget::Line).then_some(&line[..]),
            has(ProbeTarget::Server).then_some(&server[..]),
            self.interval.as_nanos(),
        );
        let delays = |of: &[OneWay]| of.iter().filter_map(|one| clocks.delays(one)).collect::<Vec<_>>();
        to.set_one_way(&delays(&self.idle_one_way), &delays(&self.one_way));
    }
}
