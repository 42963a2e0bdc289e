//! Server bottleneck: its processor, its errors, or its link.

use super::factor::{Factor, Part, Rank};
use super::intervention::{Effort, InterventionBuilder, written};
use super::scene::Scene;
use super::{Cause, Definition, Family, Kind, Severity, list, severity, worst_symptom};
use crate::explain::facts::{Direction, FULL_SHARE, LinkLoad, RunFacts};
use crate::format::{mbps, percent, span_us};
use netburn_network::highest_rate;
use netburn_record::health::Role;
use netburn_record::self_check::{CPU, SERVICE_US};
use netburn_scenario::Environment;
use netburn_scenario::plan::{Capacity, LinkSetting, RadioName, Setting};
use netburn_units::BitRate;
use std::collections::BTreeSet;

pub(super) const CAUSE: Definition = Definition {
    rule: Some((find, criterion)),
    what_ifs,
    changes: "ten times the link",
};

pub(super) const FAMILY: Family = Family {
    without: "ten times the rate of the server's link, and its default queue",
    find: factors,
};

/// Factor of the rate.
const TIMES: u64 = 10;
/// Rate of the link if the scenario has none.
const DEFAULT: BitRate = BitRate::from_mbps(1_000);

/// Share of the content that the link can carry above which it is the bottleneck. A Wi-Fi that is nearly as fast moves less.
const FULL: f64 = 0.94;

/// Condition under which the rule names its cause.
fn criterion() -> String {
    format!(
        "The busiest thread of the server used {} of a core or more. Or the server took more than {} to start its \
         responses at p99, or rejected requests. Or the content on its link reached {} of what the link can carry for {} of the \
         time in use.",
        percent(CPU),
        span_us(SERVICE_US),
        percent(FULL),
        percent(FULL_SHARE)
    )
}

fn find(facts: &RunFacts<'_>, _: &[Cause]) -> Vec<Cause> {
    itself(facts).or_else(|| hop(facts)).into_iter().collect()
}

/// Uses the server's health report.
fn itself(facts: &RunFacts<'_>) -> Option<Cause> {
    if !facts.environment.is_real() {
        return None;
    }
    let mut parts = Vec::new();
    for server in facts.health.iter().filter(|health| health.role == Role::Server) {
        if let Some(cpu) = server.cpu.filter(|cpu| *cpu >= CPU) {
            parts.push(format!(
                "it used {} of one core (limit: {})",
                percent(cpu),
                percent(CPU)
            ));
        }
        if server.service_us_p99 > SERVICE_US {
            parts.push(format!(
                "it took {} to start its responses at p99 (limit: {})",
                span_us(server.service_us_p99),
                span_us(SERVICE_US)
            ));
        }
        if server.rejected > 0 {
            parts.push(format!(
                "it rejected or failed {} requests because of internal errors",
                server.rejected
            ));
        }
    }
    (!parts.is_empty()).then(|| Cause {
        kind: Kind::Server,
        severity: Severity::Measurement,
        title: "The server could not keep up".to_owned(),
        evidence: format!("The server's health report: {}.", list(&parts)),
        advice: "The results may reflect the server rather than the network. Run it on a faster machine, with less load on the machine, or with a lower rate."
            .to_owned(),
        stations: facts.names(0..facts.plan.stations.len()),
        by: Vec::new(),
    })
}

/// Uses the load of the server's link.
fn hop(facts: &RunFacts<'_>) -> Option<Cause> {
    let configured = facts.plan.server.link.rate;
    let rate = match facts.environment {
        Environment::Simulate | Environment::Lab | Environment::Local => {
            configured.unwrap_or(BitRate::from_mbps(1_000))
        }
        Environment::Fleet | Environment::Imported => return None,
    };
    let all: Vec<usize> = (0..facts.plan.stations.len()).collect();
    let (direction, line) = fullest(facts, &all, rate)?;
    let held: Vec<usize> = all
        .into_iter()
        .filter(|station| facts.is_greedy(*station) || facts.degraded_station(*station).is_some())
        .collect();
    let severity = severity(facts, held.iter().copied());
    // A default server rate is reported only if a station missed a goal.
    if held.is_empty() || configured.is_none() && severity == Severity::Notable {
        return None;
    }
    let direction = if direction == Direction::Down {
        "towards the stations"
    } else {
        "away from the stations"
    };
    Some(Cause {
        kind: Kind::Server,
        severity,
        title: "The server's link is the bottleneck, not the Wi-Fi".to_owned(),
        evidence: format!(
            "All stations together moved {} Mbit/s {direction} over a link of {} Mbit/s, which was full for {} of the time in use.{}",
            mbps(line.mbps),
            mbps(line.rate.as_mbps_f64()),
            percent(line.full),
            worst_symptom(facts, &held)
        ),
        advice: "Changes to the Wi-Fi do not help. Connect the server to a faster link, or request less.".to_owned(),
        stations: facts.names(held),
        by: Vec::new(),
    })
}

/// Direction in which the link was full most often, if it is a bottleneck.
fn fullest(facts: &RunFacts<'_>, stations: &[usize], rate: BitRate) -> Option<(Direction, LinkLoad)> {
    let lines = [Direction::Down, Direction::Up].map(|direction| {
        (
            direction,
            facts.line(stations, direction, &Capacity::constant(rate), FULL),
        )
    });
    let fuller = lines.into_iter().max_by(|(_, a), (_, b)| a.full.total_cmp(&b.full));
    fuller.filter(|(_, line)| line.full >= FULL_SHARE)
}

fn factors(scene: &Scene<'_>) -> Vec<Factor> {
    let rate = scene.plan.server.link.rate.unwrap_or(DEFAULT);
    if air(scene).is_some_and(|air| air <= lowest(scene, rate)) {
        return Vec::new();
    }
    let factor = Factor::builder(Part::Server, Kind::Server, Rank::Place).edit(move |plan| {
        plan.server.link.rate = Some(BitRate::from_bps(rate.as_bps().saturating_mul(TIMES)));
        plan.server.link.queue = None;
        for change in &mut plan.changes {
            change
                .settings
                .retain(|setting| !matches!(setting, Setting::Link(LinkSetting::Rate(_) | LinkSetting::Queue(_))));
        }
    });
    vec![factor.words(
        |names| format!("The server's link is the bottleneck for {names}, not the Wi-Fi"),
        "with ten times the rate of the server's link",
        format!(
            "The link has {} Mbit/s. Connect the server to a faster link, or request less. Changes to the Wi-Fi do not help.",
            mbps(rate.as_mbps_f64())
        ),
    )]
}

/// Lowest rate of the link in the run.
fn lowest(scene: &Scene<'_>, rate: BitRate) -> BitRate {
    let settings = scene.plan.changes.iter().flat_map(|change| &change.settings);
    let rates = settings.filter_map(|setting| match setting {
        Setting::Link(LinkSetting::Rate(rate)) => Some(*rate),
        _ => None,
    });
    rates.fold(rate, BitRate::min)
}

/// Sum of the highest rates of the radios with stations, which a link of this rate never limits. `None` if a station has a wire
/// or can move to another radio.
fn air(scene: &Scene<'_>) -> Option<BitRate> {
    if scene.plan.stations.iter().any(|station| station.air.roaming.is_some()) {
        return None;
    }
    let joined = scene.joined.iter().map(Option::as_ref);
    let radios: BTreeSet<(&str, RadioName)> = joined
        .map(|radio| radio.map(|radio| (radio.ap.as_str(), radio.radio)))
        .collect::<Option<_>>()?;
    let rate = |(ap, name): &(&str, RadioName)| {
        let radios = scene.ap(ap)?.all_radios().ok()?;
        let (_, config) = radios.iter().find(|(known, _)| known == name)?;
        Some(highest_rate(config).as_bps())
    };
    radios.iter().map(rate).sum::<Option<u64>>().map(BitRate::from_bps)
}

fn what_ifs(builder: &mut InterventionBuilder<'_>, _: &Cause) {
    let rate = builder.plan.server.link.rate.unwrap_or(BitRate::from_mbps(1_000));
    let more = written(rate.as_bps().saturating_mul(10));
    builder.propose(
        Kind::Server,
        Effort::Provider,
        format!("the server's link has ten times its rate, {more}"),
        &[("server.link.rate", &more)],
    );
}
