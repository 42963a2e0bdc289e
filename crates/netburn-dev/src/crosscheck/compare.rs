//! Values of two programs that disagree beyond the tolerance, and the size of the difference.

use super::home::Place;
use super::known::{Cause, TCP_OF_NS3, cause_of};
use super::metric::Metric;
use super::plan::{CrosscheckPlan, Transport};
use super::results::{PlanResult, Values};
use crate::sample::{Outcome, Sample};
use netburn_stats::bootstrap::{mean, median};

/// Tolerance of goodput, relative to ns-3's.
pub const GOODPUT_TOLERANCE: f64 = 0.1;
/// Minimum tolerance of one station's goodput, relative to the goodput of all stations.
pub const STATION_TOLERANCE: f64 = 0.01;
/// Tolerance of a median round trip, relative to ns-3's.
pub const ROUND_TRIP_TOLERANCE: f64 = 0.3;
/// Minimum number of runs of each program for a comparison of ranges.
pub const RUNS_FOR_RANGE: usize = 3;

/// Comparison of one metric of one plan.
#[derive(Debug, Clone, PartialEq)]
pub struct Comparison {
    /// Compared metric.
    pub metric: Metric,
    /// ns-3.
    pub ns3: Sample,
    /// netburn.
    pub netburn: Sample,
    /// The lab with the TCP of a Linux kernel; `None` where the plan was not run there.
    pub kernel: Option<Sample>,
    /// The outcome.
    pub outcome: Outcome,
    /// Difference of the medians divided by the tolerance; above 1, it exceeds the tolerance.
    pub size: f64,
    /// Cause of the difference, if known.
    pub cause: Option<&'static Cause>,
}

/// The largest difference beyond the tolerance in one plan.
#[derive(Debug, Clone)]
pub struct Disagreement {
    /// The plan.
    pub plan: CrosscheckPlan,
    /// Metric with the largest difference. Metrics that differ rank before those within the spread.
    pub worst: Comparison,
    /// Number of the plan's metrics beyond the tolerance.
    pub metrics: usize,
}

impl Metric {
    /// Tolerance of a value that is `reference` in one program. `total` is the goodput of all flows in the same program.
    fn tolerance(self, reference: f64, total: f64) -> f64 {
        match self {
            Metric::Total => GOODPUT_TOLERANCE * reference,
            Metric::Goodput(_) => (GOODPUT_TOLERANCE * reference).max(STATION_TOLERANCE * total),
            Metric::RoundTrip(_) => ROUND_TRIP_TOLERANCE * reference,
        }
    }

    fn value(self, plan: &CrosscheckPlan, values: &Values) -> Option<f64> {
        let alike = |station: usize| {
            (0..plan.stations.len()).filter(move |other| plan.stations[*other] == plan.stations[station])
        };
        match self {
            Metric::Total => Some(values.goodput.iter().sum()),
            Metric::Goodput(station) => {
                let all: Vec<f64> = alike(station)
                    .filter_map(|station| values.goodput.get(station).copied())
                    .collect();
                (!all.is_empty()).then(|| mean(&all))
            }
            Metric::RoundTrip(station) => {
                let all = alike(station).filter_map(|station| values.round_trip.get(station).copied().flatten());
                let mut all: Vec<f64> = all.collect();
                (!all.is_empty()).then(|| median(&mut all))
            }
        }
    }
}

impl Comparison {
    /// Difference of the medians relative to ns-3's: 0.1 means that netburn's is 10 % higher.
    #[must_use]
    pub fn relative(&self) -> f64 {
        self.netburn.median / self.ns3.median.max(f64::MIN_POSITIVE) - 1.0
    }
}

/// Returns `true` if the queue of this station's probes reaches a steady state within a plan. With an upload over TCP and
/// Wi-Fi it does not. The driver's lists hold 123 packets, and NewReno needs many seconds to fill them again after a loss.
/// With the default keys the hardware holds aggregates, and in ns-3 frames, so that the queues differ.
fn has_comparable_queue(plan: &CrosscheckPlan, station: usize) -> bool {
    let tcp = !matches!(plan.transport, Transport::Udp { .. });
    let on_air = plan.stations[station].place != Place::Wired;
    !(plan.has_default_keys() || tcp && plan.stations[station].up && on_air)
}

/// Compares every metric of one plan. Metrics without a value in one of the programs are omitted.
#[must_use]
pub fn compare(plan: &CrosscheckPlan, result: &PlanResult) -> Vec<Comparison> {
    // One of each set of identical stations.
    let is_first = |station: &usize| !plan.stations[..*station].contains(&plan.stations[*station]);
    let kinds: Vec<usize> = (0..plan.stations.len()).filter(is_first).collect();
    let shares = kinds.iter().copied().filter(|_| kinds.len() > 1);
    let metrics = std::iter::once(Metric::Total).chain(shares.map(Metric::Goodput)).chain(
        kinds
            .iter()
            .copied()
            .filter(|station| has_comparable_queue(plan, *station))
            .map(Metric::RoundTrip),
    );
    let sample = |metric: Metric, runs: &[Values]| Sample::new(runs.iter().filter_map(|run| metric.value(plan, run)));
    let total = |runs: &[Values]| sample(Metric::Total, runs).map_or(0.0, |total| total.median);
    let (ns3_total, kernel_total) = (total(&result.ns3), total(&result.kernel));
    metrics
        .filter_map(|metric| {
            let (ns3, netburn) = (sample(metric, &result.ns3)?, sample(metric, &result.netburn)?);
            let compare = |reference: &Sample, total: f64| {
                let tolerance = metric.tolerance(reference.median, total);
                let overlaps = reference.overlaps(&netburn, RUNS_FOR_RANGE);
                (reference.compare(&netburn, tolerance, overlaps), tolerance)
            };
            let (outcome, tolerance) = compare(&ns3, ns3_total);
            let off = |reference: &Sample| (netburn.median - reference.median).abs();
            let kernel = sample(metric, &result.kernel);
            let tcp_of_ns3_differs = kernel.is_some_and(|kernel| {
                let nearer = off(&kernel) < (kernel.median - ns3.median).abs();
                compare(&kernel, kernel_total).0 != Outcome::Differs && nearer
            });
            let cause = match outcome {
                Outcome::Agrees => None,
                _ if tcp_of_ns3_differs => Some(&TCP_OF_NS3),
                _ => cause_of(plan, result, metric),
            };
            Some(Comparison {
                metric,
                ns3,
                netburn,
                kernel,
                outcome,
                size: off(&ns3) / tolerance.max(f64::MIN_POSITIVE),
                cause,
            })
        })
        .collect()
}

/// Returns the plans with values beyond the tolerance, ordered by outcome (differs, within spread), then by size.
#[must_use]
pub fn disagreements<'a>(results: impl IntoIterator<Item = &'a PlanResult>) -> Vec<Disagreement> {
    let mut all: Vec<Disagreement> = results
        .into_iter()
        .filter_map(|result| {
            let plan = CrosscheckPlan::generate(result.plan);
            let mut beyond = compare(&plan, result);
            beyond.retain(|comparison| comparison.outcome != Outcome::Agrees);
            let metrics = beyond.len();
            let worst = beyond.into_iter().max_by(order)?;
            Some(Disagreement { plan, worst, metrics })
        })
        .collect();
    all.sort_by(|a, b| order(&b.worst, &a.worst));
    all
}

fn order(a: &Comparison, b: &Comparison) -> std::cmp::Ordering {
    let differs = |comparison: &Comparison| comparison.outcome == Outcome::Differs;
    differs(a).cmp(&differs(b)).then(a.size.total_cmp(&b.size))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn values(goodput: f64, round_trip: f64) -> Values {
        Values {
            seed: 1,
            goodput: vec![goodput],
            round_trip: vec![Some(round_trip)],
        }
    }

    fn result(plan: &CrosscheckPlan, ns3: &[(f64, f64)], netburn: &[(f64, f64)]) -> PlanResult {
        let of = |runs: &[(f64, f64)]| runs.iter().map(|(goodput, trip)| values(*goodput, *trip)).collect();
        PlanResult {
            plan: plan.number,
            digest: plan.digest(),
            version: String::new(),
            ns3: of(ns3),
            netburn: of(netburn),
            kernel: Vec::new(),
        }
    }

    /// netburn has half of ns-3's goodput. ns-3's TCP is the cause if the kernel's goodput agrees with netburn's and is closer to
    /// it than to ns-3's.
    #[test]
    fn tcp_of_ns3_is_the_cause_where_the_kernel_agrees_with_netburn() {
        let plan = one_station();
        for (kernel, named) in [
            (&[(52.0, 10.0)][..], true),
            (&[(98.0, 10.0)], false),
            (&[(70.0, 10.0)], false),
            (&[], false),
            // The ranges of kernel and netburn overlap.
            (&[(48.0, 10.0), (60.0, 10.0), (80.0, 10.0)], true),
            (&[(48.0, 10.0), (80.0, 10.0), (81.0, 10.0)], false),
        ] {
            let runs = |goodput: f64| [(goodput, 10.0), (goodput + 0.1, 10.0), (goodput - 0.1, 10.0)];
            let result = PlanResult {
                kernel: result(&plan, kernel, &[]).ns3,
                ..result(&plan, &runs(100.0), &runs(50.0))
            };
            let total = &compare(&plan, &result)[0];
            assert_eq!(
                total.cause.map(|cause| cause.name) == Some(TCP_OF_NS3.name),
                named,
                "{kernel:?}"
            );
            assert_eq!(total.kernel.is_some(), !kernel.is_empty());
        }
    }

    fn one_station() -> CrosscheckPlan {
        let mut plan = (1..)
            .map(CrosscheckPlan::generate)
            .find(|plan| plan.stations.len() == 1 && !plan.stations[0].up);
        plan.take().expect("some plan has one station")
    }

    #[test]
    fn tolerances_are_ten_and_thirty_percent() {
        let plan = one_station();
        for (netburn, goodput, round_trip) in [
            ((109.9, 12.9), Outcome::Agrees, Outcome::Agrees),
            ((90.1, 7.1), Outcome::Agrees, Outcome::Agrees),
            ((110.1, 13.1), Outcome::Differs, Outcome::Differs),
            ((89.9, 6.9), Outcome::Differs, Outcome::Differs),
        ] {
            let compared = compare(&plan, &result(&plan, &[(100.0, 10.0)], &[netburn]));
            let outcomes: Vec<(Metric, Outcome)> = compared.iter().map(|of| (of.metric, of.outcome)).collect();
            assert_eq!(outcomes, [(Metric::Total, goodput), (Metric::RoundTrip(0), round_trip)]);
        }
    }

    #[test]
    fn ranges_need_three_runs() {
        let plan = one_station();
        let (low, high) = (
            [(10.0, 1.0), (11.0, 1.0), (16.0, 1.0)],
            [(15.0, 1.0), (20.0, 1.0), (21.0, 1.0)],
        );
        assert_eq!(
            compare(&plan, &result(&plan, &low, &high))[0].outcome,
            Outcome::WithinSpread
        );
        assert_eq!(
            compare(&plan, &result(&plan, &low[..2], &high))[0].outcome,
            Outcome::Differs
        );
        let apart = [(17.0, 1.0), (20.0, 1.0), (21.0, 1.0)];
        assert_eq!(
            compare(&plan, &result(&plan, &low, &apart))[0].outcome,
            Outcome::Differs
        );
    }

    #[test]
    fn the_largest_disagreement_is_first() {
        let plans: Vec<CrosscheckPlan> = (1..200)
            .map(CrosscheckPlan::generate)
            .filter(|plan| plan.stations.len() == 1 && !plan.stations[0].up)
            .take(3)
            .collect();
        let with = |plan: &CrosscheckPlan, goodput| result(plan, &[(100.0, 10.0)], &[(goodput, 10.0)]);
        let results = [with(&plans[0], 120.0), with(&plans[1], 105.0), with(&plans[2], 50.0)];
        let found = disagreements(&results);
        let numbers: Vec<u64> = found.iter().map(|of| of.plan.number).collect();
        assert_eq!(numbers, [plans[2].number, plans[0].number]);
        assert!((found[0].worst.size - 5.0).abs() < 1e-9 && (found[0].worst.relative() + 0.5).abs() < 1e-9);
    }

    #[test]
    fn a_starved_station_is_compared_with_all() {
        let mut plan = one_station();
        plan.stations.push(plan.stations[0]);
        plan.stations[1].mcs ^= 1;
        let run = |second: f64| Values {
            seed: 1,
            goodput: vec![100.0, second],
            round_trip: vec![None, None],
        };
        let mut result = result(&plan, &[], &[]);
        (result.ns3, result.netburn) = (vec![run(0.1)], vec![run(0.9)]);
        let compared = compare(&plan, &result);
        assert!(compared.iter().all(|of| of.outcome == Outcome::Agrees), "{compared:?}");
        assert_eq!(compared.len(), 3);
    }

    #[test]
    fn identical_stations_are_compared_together() {
        let mut plan = one_station();
        plan.stations = vec![plan.stations[0]; 3];
        plan.stations[1].mcs ^= 1;
        let run = |goodput: [f64; 3], round_trip: [f64; 3]| Values {
            seed: 1,
            goodput: goodput.to_vec(),
            round_trip: round_trip.map(Some).to_vec(),
        };
        let mut result = result(&plan, &[], &[]);
        result.ns3 = vec![run([10.0, 50.0, 30.0], [5.0, 9.0, 7.0])];
        result.netburn = vec![run([30.0, 50.0, 10.0], [7.0, 9.0, 5.0])];
        let compared = compare(&plan, &result);
        let values: Vec<(Metric, f64)> = compared.iter().map(|of| (of.metric, of.ns3.median)).collect();
        let wanted = [
            (Metric::Total, 90.0),
            (Metric::Goodput(0), 20.0),
            (Metric::Goodput(1), 50.0),
            (Metric::RoundTrip(0), 6.0),
            (Metric::RoundTrip(1), 9.0),
        ];
        assert_eq!(values, wanted);
        assert!(
            compared
                .iter()
                .all(|of| of.outcome == Outcome::Agrees && of.size == 0.0)
        );
    }
}
