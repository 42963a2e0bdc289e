//! Slow link: its workloads need more than its rate, even without greedy transfers.

use super::intervention::InterventionBuilder;
use super::{Cause, Definition, Kind, is_named, list, severity, worst_symptom};
use crate::explain::facts::{Direction, FULL, FULL_SHARE, RunFacts};
use crate::format::{mbps, percent};
use netburn_scenario::Environment;
use netburn_scenario::plan::Capacity;

pub(super) const CAUSE: Definition = Definition {
    rule: Some((find, criterion)),
    what_ifs,
    changes: "twice and four times the rate",
};

/// Condition under which the rule names its cause.
fn criterion() -> String {
    format!(
        "simulate, lab: a workload with a missed goal needs more content than its WAN link or wire carries in the worst \
         part of the run: its rate, trace, shaper or policer, without the framing. Or all workloads together request more than \
         that, and the link was full for {} of the time in use.",
        percent(FULL_SHARE)
    )
}

fn find(facts: &RunFacts<'_>, found: &[Cause]) -> Vec<Cause> {
    // Other environments do not know the rates of links.
    if !matches!(facts.environment, Environment::Simulate | Environment::Lab) || is_named(found, Kind::Server) {
        return Vec::new();
    }
    lines(facts)
        .iter()
        .filter_map(|line| find_for_link(facts, line))
        .collect()
}

/// A link with the stations that use it.
struct StationsBehind {
    /// Name in messages: `home's link`.
    name: String,
    direction: Direction,
    capacity: Capacity,
    stations: Vec<usize>,
}

fn lines(facts: &RunFacts<'_>) -> Vec<StationsBehind> {
    let mut lines = Vec::new();
    let mut add = |name: String, stations: &[usize], capacities: [Option<Capacity>; 2]| {
        for (direction, capacity) in [Direction::Down, Direction::Up].into_iter().zip(capacities) {
            lines.extend(capacity.map(|capacity| StationsBehind {
                name: name.clone(),
                direction,
                capacity,
                stations: stations.to_vec(),
            }));
        }
    };
    for line in facts.plan.lines() {
        let (router, name) = (line.router, facts.plan.name_of(line.router));
        let capacities = [Direction::Down, Direction::Up].map(|direction| facts.plan.capacity(router, direction));
        add(format!("{name}'s link"), &facts.behind(router), capacities);
    }
    for (place, station) in facts.plan.stations.iter().enumerate() {
        if let Some(link) = &station.link {
            let capacities = [link.down, link.up].map(|rate| Some(Capacity::constant(rate)));
            add(format!("{}'s link", station.name), &[place], capacities);
        }
    }
    lines
}

/// Rate of a link in Mbit/s in the part of the run in which its stations missed their goals: the lowest of a bin.
fn worst_rate(facts: &RunFacts<'_>, line: &StationsBehind) -> Option<f64> {
    let degraded = line
        .stations
        .iter()
        .copied()
        .filter(|station| facts.degraded_station(*station).is_some());
    let mask = facts.bad_bins(&degraded.collect::<Vec<_>>());
    let width = facts.evidence.buckets.width();
    let bins = (0_u64..).zip(mask).filter(|(_, bad)| *bad);
    let rates = bins.filter_map(|(bin, _)| line.capacity.between(width * bin, width * (bin + 1)));
    // In an outage nothing is too slow.
    rates
        .map(|rate| rate.as_mbps_f64())
        .filter(|rate| *rate > 0.0)
        .reduce(f64::min)
}

fn find_for_link(facts: &RunFacts<'_>, line: &StationsBehind) -> Option<Cause> {
    let rate = worst_rate(facts, line)?;
    let content = rate * line.capacity.content_share();
    let direction = if line.direction == Direction::Down {
        "downstream"
    } else {
        "upstream"
    };
    // One workload alone needs more than the link's rate.
    let alone = |station: &usize| {
        let failed = &facts.degraded_station(*station)?.failed;
        let needs = failed.iter().filter_map(|workload| facts.need(*station, *workload));
        needs
            .filter(|need| need.direction == line.direction && need.mbps > content)
            .reduce(|a, b| if a.mbps > b.mbps { a } else { b })
    };
    let short: Vec<(usize, String)> = line
        .stations
        .iter()
        .filter_map(|station| Some((*station, format!("{}'s {}.", facts.name(*station), alone(station)?.why))))
        .collect();
    let load = facts.line(&line.stations, line.direction, &line.capacity, FULL);
    let full = load.full >= FULL_SHARE;
    let demanded_mbps: f64 = line
        .stations
        .iter()
        .map(|station| facts.demanded_mbps(*station, line.direction))
        .sum();
    let why = match short.first() {
        Some((_, why)) => why.clone(),
        None if demanded_mbps > content && full => format!(
            "Pages, streams and calls together need {} Mbit/s, and the link was full for {} of the time in use.",
            mbps(demanded_mbps),
            percent(load.full)
        ),
        None => return None,
    };
    // If the link is full, degraded stations wait in its queue.
    let is_degraded = |station: &usize| full && facts.degraded_station(*station).is_some();
    let is_affected = |station: &usize| is_degraded(station) || short.iter().any(|(other, _)| other == station);
    let affected: Vec<usize> = line.stations.iter().copied().filter(is_affected).collect();
    if affected.is_empty() {
        return None;
    }
    let names = facts.names(affected.iter().copied());
    Some(Cause {
        kind: Kind::SlowLine,
        severity: severity(facts, affected.iter().copied()),
        title: format!("{} is too slow {direction} for {}", line.name, list(&names)),
        evidence: format!(
            "Its {direction} rate is {} Mbit/s, which carries {} Mbit/s of content. {}{}",
            mbps(rate),
            mbps(content),
            why,
            worst_symptom(facts, &affected)
        ),
        advice: "Changes to the Wi-Fi do not help. Use a faster link, or request less (a lower video quality, smaller pages).".to_owned(),
        stations: names,
        by: Vec::new(),
    })
}

fn what_ifs(builder: &mut InterventionBuilder<'_>, cause: &Cause) {
    builder.slow_line(Kind::SlowLine, cause);
}
