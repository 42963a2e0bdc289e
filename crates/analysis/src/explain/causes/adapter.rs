//! Adapter bottleneck: a station moves what its adapter can, although more airtime is available.

use super::factor::{Factor, Part, Rank};
use super::intervention::{Effort, InterventionBuilder};
use super::scene::Scene;
use super::{Cause, Definition, Family, Kind, is_named, severity, worst_symptom};
use crate::explain::facts::{Direction, FULL, FULL_SHARE, RunFacts};
use crate::format::{mbps, percent};
use netburn_medium::config::AdapterRate;
use netburn_scenario::Environment;
use netburn_scenario::plan::{Capacity, Setting, StationSetting};

pub(super) const CAUSE: Definition = Definition {
    rule: Some((find, criterion)),
    what_ifs,
    changes: "an adapter of 1 Gbit/s",
};

pub(super) const FAMILY: Family = Family {
    without: "no `adapter_rate`",
    find: factors,
};

/// Maximum relative difference between the median and the 90th percentile of a flat rate.
const FLAT: f64 = 0.06;
/// Minimum ratio of the link rate to a flat rate.
const BELOW_LINK: f64 = 2.5;
/// Minimum ratio of another station's rate to a flat rate, which excludes the server and the WAN
/// link.
const OTHERS_MORE: f64 = 1.5;
/// Minimum number of bins for a flat rate.
const BINS: usize = 10;

/// Condition under which the rule names its cause.
fn criterion() -> String {
    format!(
        "simulate, lab: the content reached {} of what the adapter can carry for {} of the time in use. fleet: the station's rate \
         was constant within {}. Its link was {BELOW_LINK} times as fast or more, and another station moved \
         {OTHERS_MORE} times as much or more.",
        percent(FULL),
        percent(FULL_SHARE),
        percent(FLAT)
    )
}

fn find(facts: &RunFacts<'_>, found: &[Cause]) -> Vec<Cause> {
    let stations = 0..facts.plan.stations.len();
    match facts.environment {
        Environment::Simulate | Environment::Lab => stations.filter_map(|station| configured(facts, station)).collect(),
        Environment::Fleet if !is_named(found, Kind::Server) => {
            stations.filter_map(|station| flat(facts, station)).collect()
        }
        Environment::Fleet | Environment::Local | Environment::Imported => Vec::new(),
    }
}

/// Uses the adapter rate of the scenario.
fn configured(facts: &RunFacts<'_>, station: usize) -> Option<Cause> {
    let limit = &facts.plan.stations[station].air.adapter_rate;
    let ways = [(Direction::Down, limit.down), (Direction::Up, limit.up)];
    let full = ways
        .into_iter()
        .filter_map(|(direction, rate)| Some(facts.line(&[station], direction, &Capacity::constant(rate?), FULL)));
    let line = full
        .max_by(|a, b| a.full.total_cmp(&b.full))
        .filter(|line| line.full >= FULL_SHARE)?;
    if !facts.is_greedy(station) && facts.degraded_station(station).is_none() {
        return None;
    }
    let evidence = format!(
        "{} moved {} Mbit/s. Its adapter can move {} Mbit/s and was at this limit for {} of the time in use.{}{}",
        facts.name(station),
        mbps(line.mbps),
        mbps(line.rate.as_mbps_f64()),
        percent(line.full),
        link(facts, station),
        worst_symptom(facts, &[station])
    );
    Some(cause(facts, station, evidence))
}

/// Detects a rate that stays constant below all other limits.
fn flat(facts: &RunFacts<'_>, station: usize) -> Option<Cause> {
    if !facts.moves(station, Direction::Down) && !facts.moves(station, Direction::Up) {
        return None;
    }
    let top = |station: usize| {
        let rates = facts.rates(station);
        let at = |share: f64| rates.get((rates.len() as f64 * share) as usize).copied();
        (rates.len() >= BINS).then(|| Some((at(0.5)?, at(0.9)?))).flatten()
    };
    let (median, high) = top(station)?;
    let link = facts.evidence.stations[station].link.fastest()?;
    let others = (0..facts.plan.stations.len()).filter(|other| *other != station);
    let most = others.filter_map(|other| Some(top(other)?.0)).fold(0.0, f64::max);
    let still = high - median <= FLAT * high;
    if !still || link < BELOW_LINK * high || most < OTHERS_MORE * high {
        return None;
    }
    let evidence = format!(
        "{} moved at most {} Mbit/s for 90 % of the time (median {}), on a link of {} Mbit/s, while another station moved {} Mbit/s.",
        facts.name(station),
        mbps(high),
        mbps(median),
        mbps(link),
        mbps(most)
    );
    Some(cause(facts, station, evidence))
}

fn cause(facts: &RunFacts<'_>, station: usize, evidence: String) -> Cause {
    Cause {
        kind: Kind::Adapter,
        severity: severity(facts, [station]),
        title: format!("{}'s adapter is the bottleneck, not the airtime", facts.name(station)),
        evidence,
        advice: "Queue and channel settings do not help. Use another adapter, a faster USB port, or a cable."
            .to_owned(),
        stations: vec![facts.name(station)],
        by: vec![facts.name(station)],
    }
}

fn link(facts: &RunFacts<'_>, station: usize) -> String {
    match facts.evidence.stations[station].link.fastest() {
        Some(link) => format!(" Its link rate was {} Mbit/s.", mbps(link)),
        None => String::new(),
    }
}

fn factors(scene: &Scene<'_>) -> Vec<Factor> {
    let is_changed = |name: &str| {
        let mut settings = scene.plan.changes.iter().flat_map(|change| &change.settings);
        settings.any(|setting| matches!(setting, Setting::Station(of, StationSetting::AdapterRate(_)) if of == name))
    };
    let stations = scene.plan.stations.iter().enumerate();
    let limited = stations.filter(|(_, station)| {
        let rate = station.air.adapter_rate;
        rate.up.is_some() || rate.down.is_some() || is_changed(&station.name)
    });
    let limited: Vec<usize> = limited.map(|(station, _)| station).collect();
    if limited.is_empty() {
        return Vec::new();
    }
    let factor = Factor::builder(Part::Station, Kind::Adapter, Rank::Disturbance)
        .only(limited)
        .edit(|plan| {
            for station in &mut plan.stations {
                station.air.adapter_rate = AdapterRate::default();
            }
            for change in &mut plan.changes {
                change
                    .settings
                    .retain(|setting| !matches!(setting, Setting::Station(_, StationSetting::AdapterRate(_))));
            }
        });
    vec![factor.words(
        |names| format!("The Wi-Fi adapter of {names} is too slow for its workloads"),
        "with a fast Wi-Fi adapter",
        "Use a faster adapter, or a faster port for it (USB 3 instead of USB 2). Changes of the access point do not help.",
    )]
}

fn what_ifs(builder: &mut InterventionBuilder<'_>, cause: &Cause) {
    for name in &cause.by {
        let label = format!("{name} has an adapter with 1 Gbit/s");
        builder.propose(
            Kind::Adapter,
            Effort::Purchase,
            label,
            &[(&format!("station.{name}.adapter_rate"), "1000 Mbit/s")],
        );
    }
}
