//! Causes of disagreements that are known.

use super::compare::{Comparison, Metric};
use super::plan::{CrosscheckPlan, Transport};
use super::results::PlanResult;
use netburn_stats::bootstrap::median;

/// Why values differ.
#[derive(Debug, PartialEq, Eq)]
pub struct Cause {
    /// A short name, unique.
    pub name: &'static str,
    /// The explanation: what differs between the programs, how that was found, and which of them does what Linux does.
    pub why: &'static str,
}

/// All causes, in the order of the page.
pub const CAUSES: &[&Cause] = &[&STARVED_UPLOADS];

/// Several uploads over TCP, of which ns-3 starves some.
pub const STARVED_UPLOADS: Cause = Cause {
    name: "starved uploads",
    why: "Several stations upload over TCP, and most of their ACKs are dropped at the access point, whose turns on the air are too \
          few for them. In ns-3 a connection whose ACKs are lost for a while times out, backs off, and then sends one segment for \
          each timeout; the few that are left share the air. netburn's TCP follows Linux, which has a tail loss probe (RFC 8985) and \
          detects spurious timeouts (RFC 5682); ns-3 has neither. Evidence: in plan 2 the access point of ns-3 drops 65 % of what it \
          has for the stations; with a queue of 1000 packets it drops nothing, and no station starves.",
};

/// An upload starves below this share of the mean of all uploads.
const STARVED: f64 = 0.1;

/// The cause of a difference, where it is known.
#[must_use]
pub fn cause_of(plan: &CrosscheckPlan, result: &PlanResult, comparison: &Comparison) -> Option<&'static Cause> {
    let tcp = !matches!(plan.transport, Transport::Udp { .. });
    let goodput = matches!(comparison.metric, Metric::Total | Metric::Goodput(_));
    (tcp && goodput && starves(plan, result)).then_some(&STARVED_UPLOADS)
}

/// Whether one of several uploads starves in ns-3.
fn starves(plan: &CrosscheckPlan, result: &PlanResult) -> bool {
    let uploads: Vec<f64> = (0..plan.stations.len())
        .filter(|station| plan.stations[*station].up)
        .map(|station| {
            let runs = result.ns3.iter().filter_map(|run| run.goodput.get(station).copied());
            median(&mut runs.collect::<Vec<f64>>())
        })
        .collect();
    let mean = uploads.iter().sum::<f64>() / uploads.len().max(1) as f64;
    uploads.len() > 1 && uploads.iter().any(|goodput| *goodput < STARVED * mean)
}

#[cfg(test)]
mod tests {
    use super::super::compare::{Outcome, compare};
    use super::super::results::Values;
    use super::*;

    fn result(plan: &CrosscheckPlan, ns3: [f64; 2], netburn: [f64; 2]) -> PlanResult {
        let run = |goodput: [f64; 2]| {
            let round_trip = vec![None; 2];
            vec![Values {
                seed: 1,
                goodput: goodput.to_vec(),
                round_trip,
            }]
        };
        PlanResult {
            plan: plan.number,
            digest: plan.digest(),
            version: String::new(),
            ns3: run(ns3),
            netburn: run(netburn),
        }
    }

    #[test]
    fn only_starved_uploads_over_tcp_are_explained() {
        let mut plan = CrosscheckPlan::generate(1);
        plan.stations.truncate(2);
        plan.transport = Transport::Cubic;
        plan.stations.iter_mut().for_each(|station| station.up = true);
        plan.stations[1].mcs ^= 1;
        let causes = |plan: &CrosscheckPlan, ns3| {
            let compared = compare(plan, &result(plan, ns3, [5.0, 5.0]));
            let differing = compared.into_iter().filter(|of| of.outcome == Outcome::Differs);
            differing.map(|of| of.cause.map(|cause| cause.name)).collect::<Vec<_>>()
        };
        assert_eq!(causes(&plan, [9.9, 0.1]), [Some("starved uploads"); 2]);
        assert_eq!(causes(&plan, [9.0, 1.0]), [None; 2]);
        plan.stations[0].up = false;
        assert_eq!(causes(&plan, [9.9, 0.1]), [None; 2]);
        plan.stations[0].up = true;
        plan.transport = Transport::Udp { kbps: 100 };
        assert_eq!(causes(&plan, [9.9, 0.1]), [None; 2]);
    }
}
