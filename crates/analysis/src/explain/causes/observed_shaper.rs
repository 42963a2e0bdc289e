//! A shaper of an observed access point that limits the stations.

use super::{Cause, Kind, list, severity, worst_symptom};
use crate::explain::facts::{Direction, FULL, FULL_SHARE, RunFacts};
use crate::format::{mbps, percent};
use std::collections::BTreeSet;

/// Share of what the shaper sends that the affected stations move at least. Others have their own place in its queue.
const MOVED: f64 = 0.5;
/// Most bytes that a queue sends for a byte of content of the stations: headers, other protocols and acknowledgements.
const WITH_HEADERS: f64 = 1.25;

/// Condition under which the rule names its cause.
pub(super) fn criterion() -> String {
    format!(
        "simulate, lab: a simulation without the cause shows it. fleet with an observed access point: a queue with a shaper sent \
         {} of its rate or more for {} of the time in use, and dropped or marked packets. The affected stations moved {} of that \
         or more. Or a queue of the line delays stations, and a shaper that sent their traffic was never full.",
        percent(FULL),
        percent(FULL_SHARE),
        percent(MOVED)
    )
}

pub(super) fn find(facts: &RunFacts<'_>, found: &[Cause]) -> Vec<Cause> {
    let mut causes = above_the_line(facts, found);
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

/// Shapers through which the traffic of a delayed line passes, but which are never full: their rate is above that of the line,
/// so packets wait in the modem.
fn above_the_line(facts: &RunFacts<'_>, found: &[Cause]) -> Vec<Cause> {
    // Only probes distinguish the line from the Wi-Fi.
    let delayed = |direction: Direction| {
        let kind = match direction {
            Direction::Down => Kind::LineDown,
            Direction::Up => Kind::LineUp,
        };
        found.iter().filter(move |cause| cause.kind == kind)
    };
    let mut causes = Vec::new();
    for direction in [Direction::Down, Direction::Up] {
        let names: BTreeSet<&String> = delayed(direction).flat_map(|cause| &cause.stations).collect();
        let all = 0..facts.plan.stations.len();
        let stations: Vec<usize> = all
            .clone()
            .filter(|station| names.contains(&facts.name(*station)))
            .collect();
        if stations.is_empty() {
            continue;
        }
        let mask = facts.bad_bins(&stations);
        let of = |station: usize| {
            let bytes = facts.sum(station, &mask).bytes;
            if direction == Direction::Down {
                bytes.down
            } else {
                bytes.up
            }
        };
        let content = all.map(of).fold(0, u64::saturating_add) as f64 * 8e9 / facts.length(&mask).max(1.0);
        for (name, access_point) in &facts.evidence.access_points {
            for (queue, seen) in &access_point.queues {
                let Some(rate) = seen.rate.filter(|rate| *rate > 0) else {
                    continue;
                };
                let (full, used) = seen.full(&mask, FULL);
                let sent = seen.sum(&mask).bps();
                let is_theirs = sent >= content && sent <= content * WITH_HEADERS && content > 0.0;
                if used == 0 || full.contains(&true) || !is_theirs {
                    continue;
                }
                causes.push(Cause {
                    kind: Kind::Shaper,
                    severity: severity(facts, stations.iter().copied()),
                    title: format!(
                        "The shaper of {name} ({queue}, {} Mbit/s) is set above the rate of the line",
                        mbps(rate as f64 / 1e6)
                    ),
                    evidence: format!(
                        "It sent {} Mbit/s and was never full while packets waited on the line.{}",
                        mbps(sent / 1e6),
                        worst_symptom(facts, &stations)
                    ),
                    advice: format!(
                        "Set it to 90 % of what the line carries, which was about {} Mbit/s here. Packets then wait in the router, where \
                         each flow has a queue of its own.",
                        mbps(sent / 1e6)
                    ),
                    stations: facts.names(stations.iter().copied()),
                    by: vec![name.clone()],
                });
            }
        }
    }
    causes
}

/// Content that stations move in the bins of a mask, in bit/s.
fn moved(facts: &RunFacts<'_>, stations: &[usize], mask: &[bool]) -> f64 {
    let bytes = stations.iter().map(|station| facts.sum(*station, mask).bytes.total());
    bytes.fold(0, u64::saturating_add) as f64 * 8e9 / facts.length(mask).max(1.0)
}
