//! Lossy link: segments are retransmitted although no queue is full.

use super::factor::{Factor, Part, Rank};
use super::intervention::{Effort, InterventionBuilder};
use super::scene::Scene;
use super::{Cause, Definition, Family, Kind, fair_share, is_named, list, severity, worst_symptom};
use crate::explain::evidence::MIN_SEGMENTS;
use crate::explain::facts::{BUSY_CHANNEL, Direction, FULL, FULL_SHARE, RunFacts};
use crate::format::{percent, span};
use netburn_scenario::plan::{ApSetting, Capacity, LinkSetting, Setting, StationSetting};
use netburn_scenario::{Environment, Plan};
use netburn_units::Probability;

pub(super) const CAUSE: Definition = Definition {
    rule: Some((find, criterion)),
    what_ifs,
    changes: "a link without loss, BBR at the server",
};

pub(super) const FAMILY: Family = Family {
    without: "no loss on wired links",
    find: factors,
};

/// Minimum loss rate. A connection with this loss and a round-trip time of 20 ms reaches 1448 B ×
/// 1.22 / (20 ms × √0.003) = 13 Mbit/s (Mathis, Semke, Mahdavi and Ott 1997).
const LOST: f64 = 0.003;
/// Minimum number of retransmissions; fewer may be chance.
const MIN_RETRANSMISSIONS: u64 = 10;

/// Condition under which the rule names its cause.
fn criterion() -> String {
    format!(
        "{} or more of an affected station's TCP segments were retransmitted, of {MIN_SEGMENTS} or more. Its round trips \
         were not those of a full queue, and neither its link nor its channel was full.",
        percent(LOST)
    )
}

fn find(facts: &RunFacts<'_>, found: &[Cause]) -> Vec<Cause> {
    if matches!(facts.environment, Environment::Imported) || is_named(found, Kind::Server) {
        return Vec::new();
    }
    let lossy: Vec<(usize, f64)> = (0..facts.plan.stations.len())
        .filter_map(|station| Some((station, lost(facts, station, found)?)))
        .collect();
    let affected: Vec<usize> = lossy.iter().map(|(station, _)| *station).collect();
    let Some((worst, share)) = lossy.iter().copied().max_by(|a, b| a.1.total_cmp(&b.1)) else {
        return Vec::new();
    };
    let names = facts.names(affected.iter().copied());
    let idle = match facts.idle_ms(worst) {
        idle if idle > 0.0 => format!(", {} before the load", span(idle)),
        _ => String::new(),
    };
    let median = round_trip(facts, worst).map(|median| format!(" (median round-trip time {}{idle})", span(median)));
    vec![Cause {
        kind: Kind::LossyLine,
        severity: severity(facts, affected.iter().copied()),
        title: format!("Packets of {} are lost on the link, not in a queue", list(&names)),
        evidence: format!(
            "{} of the TCP segments of {} were retransmitted{}; no queue was full.{}",
            percent(share),
            facts.name(worst),
            median.unwrap_or_default(),
            worst_symptom(facts, &affected)
        ),
        advice: "Check the link: cables, ports, the modem's error counters, and congestion at the provider. Until it is fixed, a congestion control that does not treat loss as congestion (BBR) reaches a higher rate."
            .to_owned(),
        stations: names,
        by: Vec::new(),
    }]
}

/// Loss rate of a degraded station's connections, if it is high and nothing else explains it.
fn lost(facts: &RunFacts<'_>, station: usize, found: &[Cause]) -> Option<f64> {
    facts.degraded_station(station)?;
    let name = facts.name(station);
    let explained = found.iter().any(|cause| {
        cause.stations.contains(&name) && matches!(cause.kind, Kind::Adapter | Kind::Roaming | Kind::Generator)
    });
    let seen = &facts.evidence.stations[station];
    let shares = [seen.to, seen.from]
        .into_iter()
        .filter(|sent| sent.retransmitted >= MIN_RETRANSMISSIONS)
        .filter_map(|sent| sent.lost());
    let share = shares.reduce(f64::max).filter(|share| *share >= LOST)?;
    let waits = round_trip(facts, station).is_some_and(|median| facts.is_bloated(median, station));
    // Where the rate of the line is unknown, a full one shows by the shares of its connections.
    let is_shared = facts.environment == Environment::Fleet && fair_share::explains(facts, station);
    (!explained && !waits && !is_shared && !is_full(facts, station)).then_some(share)
}

fn round_trip(facts: &RunFacts<'_>, station: usize) -> Option<f64> {
    let seen = &facts.evidence.stations[station];
    seen.receiving.median_ms().or(seen.sending.median_ms())
}

/// Returns true if a queue on its path is full: that of the channel or of the link.
fn is_full(facts: &RunFacts<'_>, station: usize) -> bool {
    let full = |stations: &[usize], direction: Direction, capacity: Option<Capacity>| {
        capacity.is_some_and(|capacity| facts.line(stations, direction, &capacity, FULL).full >= FULL_SHARE)
    };
    let ways = [Direction::Down, Direction::Up];
    let is_line_full = facts.router_of(station).is_some_and(|router| {
        let stations = facts.behind(router);
        ways.into_iter()
            .any(|direction| full(&stations, direction, facts.plan.capacity(router, direction)))
    });
    if let Some(link) = &facts.plan.stations[station].link {
        let mut rates = ways.into_iter().zip([link.down, link.up]);
        return is_line_full
            || rates.any(|(direction, rate)| full(&[station], direction, Some(Capacity::constant(rate))));
    }
    let Some(group) = facts.group_of(station) else {
        return false;
    };
    let airtime = facts.airtime(group, &facts.bad_bins(&[station]));
    airtime.is_some_and(|airtime| airtime.used() >= BUSY_CHANNEL) || is_line_full
}

fn factors(scene: &Scene<'_>) -> Vec<Factor> {
    let mut without = scene.plan.clone();
    lossless(&mut without);
    if without == *scene.plan {
        return Vec::new();
    }
    let at_home = scene.plan.wans().any(|wan| wan.loss.as_ppb() > 0);
    let advice = if at_home {
        "Check the line: cables, the modem's error counters, and the provider. Until it is fixed, a congestion control that does \
         not treat loss as congestion (BBR) reaches a higher rate."
    } else {
        "Check the wired links: cables, ports and error counters. Until they are fixed, a congestion control that does not treat \
         loss as congestion (BBR) reaches a higher rate."
    };
    let factor = Factor::builder(Part::Line, Kind::LossyLine, Rank::Disturbance).edit(lossless);
    vec![factor.words(
        |names| format!("Packets of {names} are lost on a link, not in a queue"),
        "without loss on the wired links",
        advice,
    )]
}

fn lossless(plan: &mut Plan) {
    plan.server.link.loss = Probability::ZERO;
    for wan in plan.wans_mut() {
        wan.loss = Probability::ZERO;
    }
    for link in plan.stations.iter_mut().filter_map(|station| station.link.as_mut()) {
        link.loss = Probability::ZERO;
    }
    for change in &mut plan.changes {
        change.settings.retain(|setting| {
            !matches!(
                setting,
                Setting::Link(LinkSetting::Loss(_))
                    | Setting::Ap(_, ApSetting::WanLoss(_))
                    | Setting::Router(ApSetting::WanLoss(_))
                    | Setting::Station(_, StationSetting::LinkLoss(_))
            )
        });
    }
}

fn what_ifs(builder: &mut InterventionBuilder<'_>, cause: &Cause) {
    if !builder.has_station(cause) {
        return;
    }
    let hops = builder.hops(cause);
    let lossy: Vec<String> = hops
        .iter()
        .filter(|hop| hop.loss)
        .map(|hop| format!("{}.loss", hop.key))
        .collect();
    let set: Vec<(&str, &str)> = lossy.iter().map(|key| (key.as_str(), "0 %")).collect();
    if !set.is_empty() {
        builder.propose(
            Kind::LossyLine,
            Effort::Provider,
            "the link loses no packets".to_owned(),
            &set,
        );
    }
    builder.propose(
        Kind::LossyLine,
        Effort::Provider,
        "the server uses BBR".to_owned(),
        &[("server.cc", "bbr")],
    );
}
