//! Times in which an internet line carries nothing.

use super::factor::{Factor, Part, Rank};
use super::intervention::InterventionBuilder;
use super::scene::Scene;
use super::{Cause, Definition, Family, Kind, severity, worst_symptom};
use crate::explain::facts::{LONG, RunFacts};
use crate::format::span;

pub(super) const CAUSE: Definition = Definition {
    rule: Some((find, criterion)),
    what_ifs,
    changes: "none: no change in the house prevents it",
};

pub(super) const FAMILY: Family = Family {
    without: "no outages of the line",
    find: factors,
};

/// Condition under which the rule names its cause.
fn criterion() -> String {
    format!(
        "Nothing arrived through the line for {} or more, while the probes of the station to its access point arrived. If the station has \
         probes to the first hop beyond the router, only these count. A missed operation is in the gap, and no cause above affects the \
         station.",
        span(LONG as f64 / 1e6)
    )
}

fn find(facts: &RunFacts<'_>, found: &[Cause]) -> Vec<Cause> {
    let mut longest = 0;
    let mut is_of_line = true;
    let mut affected = Vec::new();
    for station in facts.degraded.iter().map(|degraded| degraded.station) {
        let name = facts.name(station);
        let outages = facts.outages(station);
        let waits = &facts.evidence.stations[station].waits;
        let missed = outages
            .gaps
            .iter()
            .filter(|gap| waits.is_empty() || waits.iter().any(|(from, to)| *from <= gap.end && *to >= gap.begin));
        let length = missed.map(|gap| gap.end - gap.begin).max();
        let is_explained = found.iter().any(|cause| cause.stations.contains(&name));
        if let Some(length) = length.filter(|_| !is_explained) {
            longest = longest.max(length);
            is_of_line &= outages.is_of_line;
            affected.push(station);
        }
    }
    if affected.is_empty() {
        return Vec::new();
    }
    let names = facts.names(affected.iter().copied());
    let list = super::list(&names.iter().map(String::as_str).collect::<Vec<_>>());
    let (place, limit) = if is_of_line {
        ("The internet line", "")
    } else {
        (
            "The internet line, or the server,",
            " Without a probe to the first hop beyond the router (`target = \"line\"`), netburn can't separate the line and the server.",
        )
    };
    vec![Cause {
        kind: Kind::Outage,
        severity: severity(facts, affected.iter().copied()),
        title: format!("{place} fails for a time, which interrupts {list}"),
        evidence: format!(
            "Nothing arrived through the line for up to {}, while the Wi-Fi worked.{limit}{}",
            span(longest as f64 / 1e6),
            worst_symptom(facts, &affected)
        ),
        advice: "Check the modem's log and the provider. Changes in the house do not help.".to_owned(),
        stations: names,
        by: Vec::new(),
    }]
}

fn factors(scene: &Scene<'_>) -> Vec<Factor> {
    let outages: Vec<f64> = scene
        .plan
        .wans()
        .flat_map(|wan| &wan.outages)
        .filter(|outage| outage.start < scene.plan.duration)
        .map(|outage| outage.length.as_secs_f64())
        .collect();
    if outages.is_empty() {
        return Vec::new();
    }
    let factor = Factor::builder(Part::Line, Kind::Outage, Rank::Disturbance).edit(|plan| {
        for wan in plan.wans_mut() {
            wan.outages.clear();
        }
    });
    let longest = outages.iter().copied().fold(0.0, f64::max);
    vec![factor.words(
        |names| format!("The internet line fails for a time, which interrupts {names}"),
        "without the outages of the line",
        format!(
            "The line carried nothing {}, for up to {longest:.1} s. Check the modem's log and the provider. Changes in the house do \
             not help.",
            match outages.len() {
                1 => "once".to_owned(),
                count => format!("{count} times"),
            }
        ),
    )]
}

fn what_ifs(builder: &mut InterventionBuilder<'_>, _: &Cause) {
    builder.not_simulated("No change in the house prevents an outage of the internet line.");
}
