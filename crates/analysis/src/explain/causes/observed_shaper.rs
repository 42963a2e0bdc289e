//! A shaper of an observed access point that limits the stations.

use super::{Cause, Kind, list, severity, worst_symptom};
use crate::explain::facts::{FULL, FULL_SHARE, RunFacts};
use crate::format::{mbps, percent};

/// Share of what the shaper sends that the affected stations move at least. Others have their own place in its queue.
const MOVED: f64 = 0.5;

/// Condition under which the rule names its cause.
pub(super) fn criterion() -> String {
    format!(
        "simulate, lab: a simulation without the cause shows it. fleet with an observed access point: a queue with a shaper sent \
         {} of its rate or more for {} of the time in use, and dropped or marked packets. The affected stations moved {} of that \
         or more.",
        percent(FULL),
        percent(FULL_SHARE),
        percent(MOVED)
    )
}

pub(super) fn find(facts: &RunFacts<'_>, _: &[Cause]) -> Vec<Cause> {
    let mut causes = Vec::new();
    for (name, access_point) in &facts.evidence.access_points {
        let stations = facts.degraded_at(access_point);
        let mask = facts.bad_bins(&stations);
        let names = facts.names(stations.iter().copied());
        for (queue, seen) in &access_point.queues {
            let Some(rate) = seen.rate.filter(|rate| *rate > 0 && !names.is_empty()) else {
                continue;
            };
            let (full, used) = seen.full(&mask, FULL);
            let count = full.iter().filter(|full| **full).count();
            let sum = seen.sum(&full);
            let lost = sum.drops.saturating_add(sum.marks);
            let is_full = count > 0 && count as f64 >= FULL_SHARE * used as f64;
            if !is_full || lost == 0 || moved(facts, &stations, &full) < MOVED * sum.bps() {
                continue;
            }
            causes.push(Cause {
                kind: Kind::Shaper,
                severity: severity(facts, stations.iter().copied()),
                title: format!(
                    "The shaper of {name} ({queue}, {} Mbit/s) is full, which delays {}",
                    mbps(rate as f64 / 1e6),
                    list(&names)
                ),
                evidence: format!(
                    "While it was full, it sent {} Mbit/s, dropped {} packets and marked {}.{}",
                    mbps(sum.bps() / 1e6),
                    sum.drops,
                    sum.marks,
                    worst_symptom(facts, &stations)
                ),
                advice: "If the line is faster, raise the rate to 90 or 95 % of the line. Otherwise the line is too slow for all \
                         that runs at the same time: limit the transfers, or give each device its share (`triple-isolate`, the \
                         default of CAKE)."
                    .to_owned(),
                stations: names.clone(),
                by: vec![name.clone()],
            });
        }
    }
    causes
}

/// Content that stations move in the bins of a mask, in bit/s.
fn moved(facts: &RunFacts<'_>, stations: &[usize], mask: &[bool]) -> f64 {
    let bytes = stations.iter().map(|station| facts.sum(*station, mask).bytes.total());
    bytes.fold(0, u64::saturating_add) as f64 * 8e9 / facts.length(mask).max(1.0)
}
