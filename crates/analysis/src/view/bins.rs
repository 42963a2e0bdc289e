//! Division of time into bins.

use netburn_scenario::Plan;
use netburn_workload::config::BIN;

/// Maximum number of bins of a run.
const MAX_BINS: u64 = 600;

/// The fewest into which a run is cut for the sake of memory.
const MIN_BINS: u64 = 60;

/// Maximum number of bins of all workloads together, which limits memory.
const ALTOGETHER: u64 = 40_000;

/// Bins of equal width from the beginning of the load on, a multiple of the record's 100 ms.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Bins {
    /// In ns.
    pub(super) width: u64,
    pub(super) count: usize,
}

impl Bins {
    /// Bins are `duration` / 600 wide and at least 100 ms; wider with more than 66 workloads, or if
    /// the drain may take longer than the load. They reach to the time at which the last operation
    /// is settled.
    pub(super) fn for_plan(plan: &Plan) -> Self {
        let workloads: usize = plan.stations.iter().map(|station| station.workloads.len().max(1)).sum();
        let most = (ALTOGETHER / (workloads as u64).max(1)).clamp(MIN_BINS, MAX_BINS);
        let settled = plan.settled().as_nanos();
        let width = plan.duration.as_nanos().div_ceil(most).max(settled.div_ceil(2 * most));
        let width = width.max(1).next_multiple_of(BIN.as_nanos());
        Bins {
            width,
            count: settled.div_ceil(width).max(1) as usize,
        }
    }

    /// The bin of an instant, in ns since the load began.
    pub(super) fn at(self, nanos: i64) -> Option<usize> {
        let bin = usize::try_from(u64::try_from(nanos).ok()? / self.width).ok()?;
        (bin < self.count).then_some(bin)
    }

    /// The width in s.
    pub(super) fn seconds(self) -> f64 {
        self.width as f64 / 1e9
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use netburn_scenario::{Station, StationWorkload};
    use netburn_units::Duration;
    use netburn_workload::Config;

    fn plan(seconds: u64, stations: usize) -> Plan {
        let station = Station {
            workloads: vec![StationWorkload::new("voip", Config::voip())],
            ..Station::new("s")
        };
        Plan {
            duration: Duration::from_secs(seconds),
            drain: Duration::from_secs(5),
            stations: vec![station; stations],
            ..Plan::new("bins")
        }
    }

    #[test]
    fn bins_are_a_six_hundredth_of_the_load_and_no_shorter_than_the_records() {
        for (seconds, stations, width, count) in [
            (10, 4, 100_000_000, 150),
            (300, 4, 500_000_000, 610),
            (3600, 4, 6_000_000_000, 601),
            (3600, 1000, 60_000_000_000, 61),
        ] {
            assert_eq!(
                Bins::for_plan(&plan(seconds, stations)),
                Bins { width, count },
                "{seconds} s"
            );
        }
    }

    #[test]
    fn a_drain_of_hours_has_no_more_bins_than_twice_a_load() {
        let plan = Plan {
            drain: Duration::from_secs(36_000),
            ..plan(10, 4)
        };
        // 36,010 s in 1,200 are 30.008 s each, which are 30.1 in steps of a tenth.
        let (width, count) = (30_100_000_000, 1_197);
        assert_eq!(Bins::for_plan(&plan), Bins { width, count });
    }

    #[test]
    fn instants_outside_have_no_bin() {
        let bins = Bins { width: 100, count: 2 };
        assert_eq!(
            [-1, 0, 99, 100, 199, 200].map(|at| bins.at(at)),
            [None, Some(0), Some(0), Some(1), Some(1), None]
        );
    }
}
