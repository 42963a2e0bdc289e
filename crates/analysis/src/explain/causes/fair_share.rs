//! Transfers without end: each takes its share of the capacity, and several connections take several shares.

use super::factor::{Factor, Part, Rank};
use super::intervention::{Effort, InterventionBuilder};
use super::scene::Scene;
use super::{Cause, Definition, Family, Kind, list};
use netburn_scenario::Plan;
use netburn_scenario::plan::StationWorkload;
use netburn_workload::{Config, Direction, KindSettings};

pub(super) const CAUSE: Definition = Definition {
    rule: None,
    what_ifs,
    changes: "one connection instead of several, shares by host (CAKE), a limit of the transfer",
};

pub(super) const FAMILY: Family = Family {
    without: "one connection instead of several; one transfer without end less; none of them",
    find: factors,
};

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
            format!("{name}'s {transfer} has {connections} connections, so it gets {connections} shares, and too little is left for {names}")
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
