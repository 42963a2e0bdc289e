//! Known causes of disagreements.

use super::metric::Metric;
use super::plan::{CrosscheckPlan, SLOW_MS, Transport};
use super::results::PlanResult;
use netburn_stats::bootstrap::median;

/// Cause of a disagreement.
#[derive(Debug, PartialEq, Eq)]
pub struct Cause {
    /// Unique short name.
    pub name: &'static str,
    /// Explanation: the difference between the programs, its evidence, and the behaviour of Linux.
    pub why: &'static str,
}

/// All causes, in the order of the page.
pub const CAUSES: &[&Cause] = &[&TCP_OF_NS3, &STARVED_UPLOADS, &SLOW_UPLOADS];

/// The TCP of ns-3 differs from that of a Linux kernel, with which netburn agrees.
pub const TCP_OF_NS3: Cause = Cause {
    name: "TCP of ns-3",
    why: "The plan also ran in the lab. The lab has netburn's model of the air, and the TCP of a Linux kernel at both \
          ends of each connection. The kernel agrees with netburn, and is nearer to it than to ns-3. TCP in ns-3 \
          therefore differs from TCP in Linux. ns-3 has no tail loss probe (RFC 8985) and does not detect spurious \
          timeouts (RFC 5682). In slow start its window grows by one segment for each ACK. The window of Linux grows \
          by the segments that an ACK acknowledges.",
};

/// Several uploads over TCP, some of which starve in ns-3.
pub const STARVED_UPLOADS: Cause = Cause {
    name: "starved uploads",
    why: "Several stations upload over TCP. The access point gets too few turns on the air for their ACKs, and drops \
          most of them. A connection of ns-3 whose ACKs are lost for a while times out and backs off. Then it sends \
          one segment for each timeout. The few connections that are left share the air. netburn's TCP follows Linux, \
          which has a tail loss probe (RFC 8985) and detects spurious timeouts (RFC 5682). ns-3 has neither. Evidence: \
          in plan 2 the access point of ns-3 drops 65 % of what it has for the stations. With a queue of 1000 packets \
          it drops nothing, and no station starves.",
};

/// An upload over TCP whose start extends into the measured time.
pub const SLOW_UPLOADS: Cause = Cause {
    name: "slow uploads",
    why: "The driver and the hardware of a station hold more data than it can send in half a second. So the first \
          losses of an upload and their repair come after the warm-up. Evidence: in plan 56 ns-3 delivers 1.46 Mbit/s \
          until CoDel drops 56 packets at the end of slow start. Then it delivers nothing for a second, and 1.44 \
          Mbit/s again from the third second on. The difference is then within the tolerance.",
};

/// Goodput below which an upload starves, relative to the mean of all uploads.
const STARVED: f64 = 0.1;

/// Returns the cause of a difference, if the plan and the values of both programs match a known one.
#[must_use]
pub fn cause_of(plan: &CrosscheckPlan, result: &PlanResult, metric: Metric) -> Option<&'static Cause> {
    let tcp = !matches!(plan.transport, Transport::Udp { .. });
    let goodput = matches!(metric, Metric::Total | Metric::Goodput(_));
    if !(tcp && goodput) || plan.home.is_some() {
        None
    } else if starves(plan, result) {
        Some(&STARVED_UPLOADS)
    } else if plan.stations.iter().any(|station| station.up) && plan.station_ms() > SLOW_MS {
        Some(&SLOW_UPLOADS)
    } else {
        None
    }
}

/// Returns `true` if one of several uploads starves in ns-3.
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
    use super::super::compare::compare;
    use super::super::results::Values;
    use super::*;
    use crate::sample::Outcome;
    use netburn_medium::config::Standard;

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
            kernel: Vec::new(),
        }
    }

    /// 1 Mbit/s of 802.11b sends less than 83 packets of 1500 bytes in a second; a station holds 123 and more.
    #[test]
    fn uploads_at_one_megabit_are_slow() {
        let numbers = 1..20_000;
        let upload = |plan: &CrosscheckPlan| {
            plan.transport == Transport::Reno && plan.stations.len() == 1 && plan.stations[0].up
        };
        let plans: Vec<CrosscheckPlan> = numbers.map(CrosscheckPlan::generate).filter(upload).collect();
        let slow = plans
            .iter()
            .find(|plan| plan.standard == Standard::B && plan.stations[0].mcs == 0);
        let fast = plans
            .iter()
            .find(|plan| plan.standard == Standard::Ax && plan.stations[0].mcs > 4);
        for (plan, wanted) in [(slow, Some("slow uploads")), (fast, None)] {
            let plan = plan.expect("one of 20 000");
            let run = |goodput: f64| {
                vec![Values {
                    seed: 1,
                    goodput: vec![goodput],
                    round_trip: vec![None],
                }]
            };
            let result = PlanResult {
                ns3: run(1.0),
                netburn: run(2.0),
                ..result(plan, [0.0; 2], [0.0; 2])
            };
            assert_eq!(compare(plan, &result)[0].cause.map(|cause| cause.name), wanted);
        }
    }

    #[test]
    fn only_starved_uploads_over_tcp_are_explained() {
        let mut plan = CrosscheckPlan::generate(1);
        plan.stations.truncate(2);
        plan.transport = Transport::Cubic;
        plan.stations
            .iter_mut()
            .for_each(|station| (station.up, station.mcs) = (true, 7));
        (plan.standard, plan.station.frames) = (Standard::Ac, 8);
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
