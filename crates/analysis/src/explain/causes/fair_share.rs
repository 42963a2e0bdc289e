//! Transfers without end: each takes its share of the capacity, and several connections take several shares.

use super::factor::{Factor, Part, Rank};
use super::intervention::{Effort, InterventionBuilder};
use super::scene::Scene;
use super::{Cause, Definition, Family, Kind, list, severity, worst_symptom};
use crate::explain::facts::{BUSY_CHANNEL, Need, OF_RATE, RunFacts};
use crate::format::mbps;
use netburn_scenario::Environment;
use netburn_scenario::Plan;
use netburn_scenario::plan::StationWorkload;
use netburn_workload::{Config, Direction, KindSettings};

pub(super) const CAUSE: Definition = Definition {
    rule: Some((find, criterion)),
    what_ifs,
    changes: "one connection instead of several, shares by host (CAKE), a limit of the transfer",
};

pub(super) const FAMILY: Family = Family {
    without: "one connection instead of several; one transfer without end less; none of them",
    find: factors,
};

/// Condition under which the rule names its cause.
fn criterion() -> String {
    "Transfers without end used the same line. A workload with a missed goal needs more than one of their connections got, but less \
     than all of them got together. The line or the channel was full. On a fleet, where this is unknown, the link of the station \
     carries more than the workload needs, or the transfers run on the same station. No cause above affects the station."
        .to_owned()
}

/// Transfers without end in one direction.
struct Takers {
    /// Number and workload of each station, with connections and Mbit/s.
    each: Vec<(usize, String, u32, f64)>,
}

impl Takers {
    fn for_victim(facts: &RunFacts<'_>, victim: usize, direction: Direction) -> Takers {
        let stations = facts.behind_the_line_of(victim).into_iter();
        let transfers = stations.flat_map(|station| {
            let planned = facts.plan.stations[station].workloads.iter();
            let endless = planned.filter(move |workload| workload.config.loads(direction));
            endless.filter_map(move |workload| {
                let summary = facts.station(station)?.workloads.iter();
                let moved = summary.into_iter().find(|summary| summary.name == workload.name)?;
                let connections = workload.config.bulk().map_or(1, |bulk| bulk.streams);
                Some((station, workload.name.clone(), connections, moved.throughput_mbps))
            })
        });
        Takers {
            each: transfers.filter(|(.., mbps)| *mbps > 0.0).collect(),
        }
    }

    fn mbps(&self) -> f64 {
        self.each.iter().map(|(.., mbps)| mbps).sum()
    }

    /// Rate of one connection, in Mbit/s.
    fn share(&self) -> Option<f64> {
        let connections: u32 = self.each.iter().map(|(_, _, connections, _)| connections).sum();
        (connections > 0).then(|| self.mbps() / f64::from(connections))
    }
}

/// Returns true if the shares of connections explain a missed goal of a degraded station.
pub(super) fn explains(facts: &RunFacts<'_>, station: usize) -> bool {
    let failed = facts
        .degraded_station(station)
        .map_or(&[][..], |degraded| &degraded.failed);
    let needs = failed.iter().filter_map(|workload| facts.need(station, *workload));
    needs.into_iter().any(|need| of_need(facts, station, &need).is_some())
}

fn find(facts: &RunFacts<'_>, found: &[Cause]) -> Vec<Cause> {
    let degraded = facts.degraded.iter().filter(|degraded| {
        let name = facts.name(degraded.station);
        !found.iter().any(|cause| cause.stations.contains(&name))
    });
    degraded
        .filter_map(|degraded| {
            let needs = degraded
                .failed
                .iter()
                .filter_map(|workload| facts.need(degraded.station, *workload));
            needs
                .into_iter()
                .find_map(|need| of_need(facts, degraded.station, &need))
        })
        .collect()
}

/// Returns true if the capacity that the victim shares with the transfers was full. Where its rate is unknown, the link of the
/// victim must carry more than it needs, so that it is not the limit.
fn is_full(facts: &RunFacts<'_>, victim: usize, need: &Need, takers: &Takers) -> bool {
    if matches!(facts.environment, Environment::Simulate | Environment::Lab) {
        let busy = || {
            let group = facts.group_of(victim)?;
            Some(facts.channel_airtime(group, &facts.bad_bins(&[victim]))?.used() >= BUSY_CHANNEL)
        };
        return facts.full_line(victim, need.direction).is_some() || busy() == Some(true);
    }
    let seen = &facts.evidence.stations[victim].link;
    let rate = match need.direction {
        Direction::Down => seen.down.value(),
        Direction::Up => seen.up.value(),
    };
    match rate {
        Some(rate) => rate / 1e6 * OF_RATE > need.mbps,
        // Another program on the same device has the same link.
        None => takers.each.iter().any(|(station, ..)| *station == victim),
    }
}

fn of_need(facts: &RunFacts<'_>, victim: usize, need: &Need) -> Option<Cause> {
    let takers = Takers::for_victim(facts, victim, need.direction);
    let share = takers.share()?;
    if need.mbps <= share || need.mbps > takers.mbps() || !is_full(facts, victim, need, &takers) {
        return None;
    }
    let name = facts.name(victim);
    let texts: Vec<String> = takers
        .each
        .iter()
        .map(|(station, workload, connections, _)| {
            let several = if *connections > 1 {
                format!(" ({connections} connections)")
            } else {
                String::new()
            };
            format!("{}'s {workload}{several}", facts.name(*station))
        })
        .collect();
    let list = list(&texts.iter().map(String::as_str).collect::<Vec<_>>());
    let take = if texts.len() == 1 {
        "takes its share"
    } else {
        "take their shares"
    };
    Some(Cause {
        kind: Kind::FairShare,
        severity: severity(facts, [victim]),
        title: format!("{list} {take} of the capacity, and too little is left for {name}"),
        evidence: format!(
            "{name}'s {}. One connection of the transfers got {} Mbit/s, and all of them {}.{}",
            need.why,
            mbps(share),
            mbps(takers.mbps()),
            worst_symptom(facts, &[victim])
        ),
        advice: "Each connection gets the same share, as intended. Limit the rate of the transfer, use fewer connections, or share by host \
                 (CAKE with `dual-srchost` upstream and `dual-dsthost` downstream) and run it on another device."
            .to_owned(),
        stations: vec![name],
        by: facts.names(takers.each.iter().map(|(station, ..)| *station)),
    })
}

fn factors(scene: &Scene<'_>) -> Vec<Factor> {
    let stations = scene.plan.stations.iter().enumerate();
    let all = stations.flat_map(|(number, station)| station.workloads.iter().map(move |workload| (number, workload)));
    let elastic: Vec<(usize, &StationWorkload)> = all.filter(|(_, workload)| is_endless(workload)).collect();
    let mut factors = Vec::new();
    for (station, workload) in &elastic {
        factors.extend(fewer_connections(scene, *station, workload));
        factors.push(without(scene, &[(*station, *workload)]));
    }
    if elastic.len() > 1 {
        factors.push(without(scene, &elastic));
    }
    factors
}

fn is_endless(workload: &StationWorkload) -> bool {
    [Direction::Down, Direction::Up]
        .into_iter()
        .any(|direction| workload.config.loads(direction))
}

fn fewer_connections(scene: &Scene<'_>, station: usize, workload: &StationWorkload) -> Option<Factor> {
    let connections = workload.config.bulk()?.streams;
    if connections < 2 {
        return None;
    }
    let (name, transfer) = (scene.name(station).to_owned(), workload.name.clone());
    let factor = Factor::builder(Part::Load, Kind::FairShare, Rank::Share)
        .by(vec![station])
        .edit({
            let (name, transfer) = (name.clone(), transfer.clone());
            move |plan| {
                for workload in workloads(plan, &name) {
                    if let KindSettings::Bulk(bulk) = &mut workload.config.settings
                        && workload.name == transfer
                    {
                        bulk.streams = 1;
                    }
                }
            }
        });
    let without = format!("with one connection of {name}'s {transfer} instead of {connections}");
    let advice = if scene.lines().is_empty() {
        "Each connection gets the same share, as intended. Use fewer connections, limit the rate of the transfer, or give all stations the \
         same airtime (`queue = \"airtime\"`)."
    } else {
        "Each connection gets the same share, as intended. Share by host instead of by connection (CAKE with `dual-srchost` upstream and \
         `dual-dsthost` downstream) and run the transfer on another device. Or use fewer connections, limit its rate, or use a faster line."
    };
    Some(factor.words(
        move |names| {
            let others = if names == name { format!("the other traffic of {name}") } else { names.to_owned() };
            format!("{name}'s {transfer} has {connections} connections, so it gets {connections} shares, and too little is left for {others}")
        },
        without,
        advice,
    ))
}

fn without(scene: &Scene<'_>, transfers: &[(usize, &StationWorkload)]) -> Factor {
    let mut by: Vec<usize> = transfers.iter().map(|(station, _)| *station).collect();
    by.dedup();
    let named: Vec<(String, String)> = transfers
        .iter()
        .map(|(station, workload)| (scene.name(*station).to_owned(), workload.name.clone()))
        .collect();
    let texts: Vec<String> = named
        .iter()
        .map(|(station, transfer)| format!("{station}'s {transfer}"))
        .collect();
    let list = list(&texts.iter().map(String::as_str).collect::<Vec<_>>());
    let take = if texts.len() == 1 {
        "takes its share"
    } else {
        "take their shares"
    };
    let share = if scene.lines().is_empty() {
        "give all stations the same airtime (`queue = \"airtime\"`)"
    } else {
        "share by host on the line (CAKE with `dual-srchost` upstream and `dual-dsthost` downstream)"
    };
    let factor = Factor::builder(Part::Load, Kind::FairShare, Rank::Share)
        .by(by)
        .edit(move |plan| {
            for station in &mut plan.stations {
                let name = station.name.clone();
                station.workloads.retain(|workload| {
                    !named
                        .iter()
                        .any(|(of, transfer)| *of == name && *transfer == workload.name)
                });
            }
        });
    let title = {
        let list = list.clone();
        move |names: &str| format!("{list} {take} of the capacity, and too little is left for {names}")
    };
    factor.words(
        title,
        format!("without {list}"),
        format!(
            "Limit the rate of the transfer, run it at another time, or {share}. A faster line or Wi-Fi also leaves more for the others."
        ),
    )
}

fn workloads<'p>(plan: &'p mut Plan, station: &str) -> impl Iterator<Item = &'p mut StationWorkload> {
    let found = plan.stations.iter_mut().find(|known| known.name == station);
    found.into_iter().flat_map(|station| &mut station.workloads)
}

/// Proposes fewer connections, shares by host, and a limit of each transfer.
fn what_ifs(builder: &mut InterventionBuilder<'_>, cause: &Cause) {
    for name in &cause.by {
        let Some(station) = builder.plan.station(name) else {
            continue;
        };
        let has_several = |config: &Config| config.bulk().is_some_and(|bulk| bulk.streams > 1);
        let several = station
            .workloads
            .iter()
            .filter(|workload| has_several(&workload.config));
        let several: Vec<String> = several.map(|workload| workload.name.clone()).collect();
        for workload in several {
            let key = format!("workload.{workload}.streams");
            builder.propose(
                Kind::FairShare,
                Effort::Program,
                format!("{workload} uses one connection"),
                &[(&key, "1")],
            );
        }
        if let Some(line) = builder.line_of(name) {
            builder.isolation(Kind::FairShare, &line);
        }
        let uploads = station
            .workloads
            .iter()
            .any(|workload| workload.config.direction() == Direction::Up);
        if uploads {
            builder.capped_up(Kind::FairShare, name, None);
        } else {
            builder.capped(Kind::FairShare, name, None);
        }
    }
}
