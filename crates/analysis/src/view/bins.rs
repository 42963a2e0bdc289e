//! Division of time into bins.

use netburn_record::aggregate::Buckets;
use netburn_scenario::Plan;
use netburn_units::Duration;
use netburn_workload::config::BIN;

/// Maximum number of bins of a run.
const MAX_BINS: u64 = 600;

/// Minimum number of bins of a run, even if the run then exceeds [`ALTOGETHER`].
const MIN_BINS: u64 = 60;

/// Maximum number of bins of all workloads together, which limits memory.
const ALTOGETHER: u64 = 40_000;

/// Bins of a plan, whose width is a multiple of the record's 100 ms.
///
/// Bins are `duration` / 600 wide and at least 100 ms. They are wider with more than 66 workloads,
/// or if the drain may take longer than the load. They reach to the time at which the last
/// operation is settled.
pub(super) fn for_plan(plan: &Plan) -> Buckets {
    let workloads: usize = plan.stations.iter().map(|station| station.workloads.len().max(1)).sum();
    let most = (ALTOGETHER / (workloads as u64).max(1)).clamp(MIN_BINS, MAX_BINS);
    let settled = plan.settled().as_nanos();
    let width = plan.duration.as_nanos().div_ceil(most).max(settled.div_ceil(2 * most));
    let width = width.max(1).next_multiple_of(BIN.as_nanos());
    Buckets::covering(plan.settled(), Duration::from_nanos(width))
}

#[cfg(test)]
mod tests {
    use super::*;
    use netburn_scenario::{Station, StationWorkload};
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
                for_plan(&plan(seconds, stations)),
                Buckets::covering(Duration::from_nanos(width) * count, Duration::from_nanos(width)),
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
        assert_eq!(
            for_plan(&plan),
            Buckets::covering(Duration::from_nanos(width) * count, Duration::from_nanos(width))
        );
    }
}
