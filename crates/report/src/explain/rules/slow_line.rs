//! A line too slow: what is asked of it is more than its rate carries, though nothing fills it that has no end.

use super::{list, named, severity, suffering};
use crate::explain::scene::{Scene, Way};
use crate::explain::{Cause, Kind};
use crate::text::figure::{mbps, percent};
use netburn_scenario::Environment;
use netburn_units::BitRate;

/// What a line carries of its rate in content: 1448 of 1538 bytes of each full Ethernet frame.
const CONTENT: f64 = 0.94;
/// A line that is full for this share of the time in which it is used is one that is waited for.
const OFTEN: f64 = 0.3;

pub(super) fn find(scene: &Scene<'_>, found: &[Cause]) -> Vec<Cause> {
    // Elsewhere nothing is known of lines.
    if !matches!(scene.environment, Environment::Simulate | Environment::Lab) || named(found, Kind::Server) {
        return Vec::new();
    }
    lines(scene).iter().filter_map(|line| of(scene, line)).collect()
}

/// A line and who is behind it.
struct Behind {
    /// Whose it is: `home's line`.
    name: String,
    way: Way,
    rate: BitRate,
    stations: Vec<usize>,
}

fn lines(scene: &Scene<'_>) -> Vec<Behind> {
    let mut lines = Vec::new();
    let mut add = |name: String, stations: &[usize], rates: [(Way, Option<BitRate>); 2]| {
        for (way, rate) in rates {
            lines.extend(rate.map(|rate| Behind {
                name: name.clone(),
                way,
                rate,
                stations: stations.to_vec(),
            }));
        }
    };
    for ap in &scene.plan.aps {
        if let Some(wan) = ap.wan {
            let rates = [(Way::Down, wan.down), (Way::Up, wan.up)];
            add(format!("{}'s line", ap.name), &scene.stations_of(&ap.name), rates);
        }
    }
    for (place, station) in scene.plan.stations.iter().enumerate() {
        if let Some(link) = &station.link {
            let rates = [(Way::Down, Some(link.down)), (Way::Up, Some(link.up))];
            add(format!("{}'s line", station.name), &[place], rates);
        }
    }
    lines
}

fn of(scene: &Scene<'_>, line: &Behind) -> Option<Cause> {
    let content = line.rate.as_mbps_f64() * CONTENT;
    let direction = if line.way == Way::Down { "down" } else { "up" };
    // Whatever else there is: one workload alone needs more than the line has.
    let alone = |station: &usize| {
        let failed = &scene.suffering(*station)?.failed;
        let needs = failed.iter().filter_map(|workload| scene.need(*station, *workload));
        needs
            .filter(|need| need.way == line.way && need.mbps > content)
            .reduce(|a, b| if a.mbps > b.mbps { a } else { b })
    };
    let short: Vec<(usize, String)> = line
        .stations
        .iter()
        .filter_map(|station| Some((*station, format!("{}'s {}.", scene.name(*station), alone(station)?.why))))
        .collect();
    let load = scene.line(&line.stations, line.way, line.rate);
    let full = load.full >= OFTEN;
    let asked: f64 = line
        .stations
        .iter()
        .map(|station| scene.asked(*station, line.way))
        .sum();
    let why = match short.first() {
        Some((_, why)) => why.clone(),
        None if asked > content && full => format!(
            "Pages, streams and calls together ask for {} Mbit/s of it, and it was full for {} of the time that it was used.",
            mbps(asked),
            percent(load.full)
        ),
        None => return None,
    };
    // Where it is full, whoever suffers waits in its queue.
    let suffers = |station: &usize| full && scene.suffering(*station).is_some();
    let is_victim = |station: &usize| suffers(station) || short.iter().any(|(other, _)| other == station);
    let victims: Vec<usize> = line.stations.iter().copied().filter(is_victim).collect();
    if victims.is_empty() {
        return None;
    }
    let names = scene.names(victims.iter().copied());
    Some(Cause {
        kind: Kind::SlowLine,
        severity: severity(scene, victims.iter().copied()),
        title: format!("{} is too slow {direction} for what {} {}", line.name, list(&names), if names.len() == 1 { "asks" } else { "ask" }),
        figure: format!(
            "It has {} Mbit/s {direction}, which carry {} of content. {}{}",
            mbps(line.rate.as_mbps_f64()),
            mbps(content),
            why,
            suffering(scene, &victims)
        ),
        advice: "Nothing about the Wi-Fi will help: a faster line, or asking for less (a lower quality of the stream, smaller pages) will.".to_owned(),
        stations: names,
        by: Vec::new(),
    })
}
