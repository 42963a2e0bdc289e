//! Distant server: the idle round trips of an operation already take most of its goal.

use super::factor::{Factor, Part, Rank};
use super::intervention::{Effort, InterventionBuilder};
use super::scene::Scene;
use super::{Cause, Definition, Family, Kind, list, severity, worst_symptom};
use crate::explain::facts::RunFacts;
use crate::format::{percent, span};
use netburn_scenario::Plan;
use netburn_scenario::plan::{ApSetting, LinkSetting, Setting, StationSetting};
use netburn_units::Duration;
use netburn_workload::ProbeTarget;

pub(super) const CAUSE: Definition = Definition {
    rule: Some((find, criterion)),
    what_ifs,
    changes: "a server at 5 ms (one way), HTTP/2",
};

pub(super) const FAMILY: Family = Family {
    without: "at most 2 ms of delay, one way, on each wired link",
    find: factors,
};

/// One-way delay of a link within a city.
const NEAR: Duration = Duration::from_millis(2);
/// One-way delay up to the server from which distance is a factor.
const FAR: Duration = Duration::from_millis(10);

/// One-way delay of a server in the same region.
const NEAR_SERVER_DELAY: Duration = Duration::from_millis(5);

/// Minimum share of the goal's time that round trips take; the rest is for the data.
const MIN_SHARE: f64 = 0.7;
/// Minimum idle round-trip time, in ms; shorter ones occur within a city.
const NEAR_MS: f64 = 20.0;

/// Condition under which the rule names its cause.
fn criterion() -> String {
    format!(
        "The idle round trip was {} or more. The round trips that an operation needs took {} or more of the time that its \
         goal allows.",
        span(NEAR_MS),
        percent(MIN_SHARE)
    )
}

fn find(facts: &RunFacts<'_>, _: &[Cause]) -> Vec<Cause> {
    let far: Vec<(usize, String)> = (0..facts.plan.stations.len())
        .filter_map(|station| Some((station, far(facts, station)?)))
        .collect();
    let Some((first, why)) = far.first() else {
        return Vec::new();
    };
    let stations: Vec<usize> = far.iter().map(|(station, _)| *station).collect();
    let names = facts.names(stations.iter().copied());
    vec![Cause {
        kind: Kind::DistantServer,
        severity: severity(facts, stations.iter().copied()),
        title: format!("The round-trip time to the server is too long for {}", list(&names)),
        evidence: format!(
            "The idle round-trip time of {} is {}: {why}.{}",
            facts.name(*first),
            span(facts.idle_ms(*first)),
            worst_symptom(facts, &stations)
        ),
        advice: "A faster link or another queue does not shorten it. Use a nearer server (a mirror, a CDN) or fewer round trips (persistent connections, HTTP/2, smaller objects)."
            .to_owned(),
        stations: names,
        by: Vec::new(),
    }]
}

/// Text about a station's round trips, if they take most of the time of a missed goal.
fn far(facts: &RunFacts<'_>, station: usize) -> Option<String> {
    let idle = facts.idle_ms(station);
    let failed = &facts.degraded_station(station)?.failed;
    if idle < NEAR_MS {
        return None;
    }
    // The way to the access point is not the distance to the server.
    let is_far = |workload: &&usize| {
        let planned = facts.plan.stations[station].workloads.get(**workload);
        planned.is_some_and(|planned| planned.config.target() != Some(ProbeTarget::Near))
    };
    let each = failed.iter().filter(is_far).filter_map(|workload| {
        let (count, limit) = facts.round_trips(station, *workload)?;
        let name = &facts.plan.stations[station].workloads[*workload].name;
        (f64::from(count) * idle >= MIN_SHARE * limit).then(|| match count {
            1 => format!("{name} allows {}", span(limit)),
            _ => format!(
                "{name} needs {count} round trips ({}) and allows {}",
                span(f64::from(count) * idle),
                span(limit)
            ),
        })
    });
    each.into_iter().next()
}

fn factors(scene: &Scene<'_>) -> Vec<Factor> {
    let plan = scene.plan;
    let wans = plan.wans().map(|wan| wan.delay);
    let wires = plan
        .stations
        .iter()
        .filter_map(|station| Some(station.link.as_ref()?.delay));
    let changed = plan
        .changes
        .iter()
        .flat_map(|change| &change.settings)
        .filter_map(delay);
    let farthest = wans.chain(wires).chain(changed).max().unwrap_or_default() + plan.server.link.delay;
    if farthest < FAR {
        return Vec::new();
    }
    let factor = Factor::builder(Part::Server, Kind::DistantServer, Rank::Place).edit(near);
    vec![factor.words(
        |names| format!("The server is too far away for {names}"),
        "with a server in the same city",
        format!(
            "The wired links to the server have up to {} of delay, one way. A faster line or another queue does not shorten it. Use a \
             nearer server (a mirror, a CDN) or fewer round trips (persistent connections, HTTP/2, smaller objects).",
            span(farthest.as_millis_f64())
        ),
    )]
}

fn delay(setting: &Setting) -> Option<Duration> {
    match setting {
        Setting::Link(LinkSetting::Delay(delay))
        | Setting::Ap(_, ApSetting::WanDelay(delay))
        | Setting::Router(ApSetting::WanDelay(delay))
        | Setting::Station(_, StationSetting::LinkDelay(delay)) => Some(*delay),
        _ => None,
    }
}

fn near(plan: &mut Plan) {
    plan.server.link.delay = plan.server.link.delay.min(NEAR);
    for wan in plan.wans_mut() {
        wan.delay = wan.delay.min(NEAR);
    }
    for link in plan.stations.iter_mut().filter_map(|station| station.link.as_mut()) {
        link.delay = link.delay.min(NEAR);
    }
    for change in &mut plan.changes {
        change.settings.retain(|setting| delay(setting).is_none());
    }
}

fn what_ifs(builder: &mut InterventionBuilder<'_>, cause: &Cause) {
    if !builder.has_station(cause) {
        return;
    }
    let hops = builder.hops(cause);
    let far = hops
        .iter()
        .filter(|hop| hop.delay > NEAR_SERVER_DELAY)
        .map(|hop| format!("{}.delay", hop.key));
    let far: Vec<String> = far.collect();
    let near = format!("{} ms", NEAR_SERVER_DELAY.as_nanos() / 1_000_000);
    let set: Vec<(&str, &str)> = far.iter().map(|key| (key.as_str(), near.as_str())).collect();
    if !set.is_empty() {
        builder.propose(
            Kind::DistantServer,
            Effort::Provider,
            format!("the one-way delay to the server is at most {near}"),
            &set,
        );
    }
    builder.propose(
        Kind::DistantServer,
        Effort::Provider,
        "the server uses HTTP/2, with one connection per page".to_owned(),
        &[("server.http", "2")],
    );
}
