//! Scans of access points, during which they hear and send nothing on their channel.

use super::factor::{Factor, Part, Rank};
use super::intervention::{Effort, InterventionBuilder};
use super::scans::rhythm_sentence;
use super::scene::Scene;
use super::{Cause, Definition, Family, Kind, in_each_group, list, severity, worst_symptom};
use crate::explain::facts::{RunFacts, Sharing};
use crate::format::span;
use netburn_scenario::plan::DEFAULT_SCAN_AWAY;

pub(super) const CAUSE: Definition = Definition {
    rule: Some((find, criterion)),
    what_ifs,
    changes: "one scan per hour, shorter absences",
};

pub(super) const FAMILY: Family = Family {
    without: "no scans of the access points",
    find: factors,
};

/// Condition under which the rule names its cause.
fn criterion() -> String {
    "Gaps as for `scans` in which several arrivals waited or one was lost, and which another station on the same radio has at the same times. No \
     cause above affects the stations."
        .to_owned()
}

fn find(facts: &RunFacts<'_>, found: &[Cause]) -> Vec<Cause> {
    in_each_group(facts, |group| {
        let members = group.members.iter();
        let interrupted = members.filter_map(|station| Some((*station, facts.interruptions(*station)?)));
        let (stations, all): (Vec<usize>, Vec<_>) = interrupted
            .filter(|(station, interruptions)| {
                let name = facts.name(*station);
                let has_other = found.iter().any(|cause| cause.stations.contains(&name));
                interruptions.sharing == Sharing::Shared && interruptions.is_certain && !has_other
            })
            .unzip();
        let (first, names) = (all.first()?, facts.names(stations.iter().copied()));
        let list = list(&names.iter().map(String::as_str).collect::<Vec<_>>());
        Some(Cause {
            kind: Kind::ApScans,
            severity: severity(facts, stations.iter().copied()),
            title: format!("The access point leaves its channel at regular times, which interrupts {list}"),
            evidence: format!(
                "{} Another station on the same radio has these gaps at the same times.{}",
                rhythm_sentence(&names[0], first),
                worst_symptom(facts, &stations)
            ),
            advice: "Switch off what makes the access point scan: automatic channel selection in the background, a mesh that searches for \
                     nodes, or a survey. Changes to the devices and to the internet line do not help."
                .to_owned(),
            stations: names,
            by: Vec::new(),
        })
    })
}

fn factors(scene: &Scene<'_>) -> Vec<Factor> {
    let scanning: Vec<_> = scene
        .plan
        .aps
        .iter()
        .filter_map(|ap| Some((ap, ap.scan_interval?)))
        .collect();
    let Some((first, interval)) = scanning.first() else {
        return Vec::new();
    };
    let names = list(&scanning.iter().map(|(ap, _)| ap.name.as_str()).collect::<Vec<_>>());
    let factor = Factor::builder(Part::Air, Kind::ApScans, Rank::Disturbance).edit(|plan| {
        for ap in &mut plan.aps {
            ap.scan_interval = None;
        }
    });
    let title = {
        let names = names.clone();
        move |affected: &str| format!("The access point {names} scans other channels, which interrupts {affected}")
    };
    vec![factor.words(
        title,
        format!("without the scans of {names}"),
        format!(
            "It is away from its channel for {} of each {}. Switch off automatic channel selection in the background, or scan less often.",
            span(first.scan_away.unwrap_or(DEFAULT_SCAN_AWAY).as_millis_f64()),
            span(interval.as_millis_f64())
        ),
    )]
}

fn what_ifs(builder: &mut InterventionBuilder<'_>, _: &Cause) {
    let scanning = builder.plan.aps.iter().filter(|ap| ap.scan_interval.is_some());
    let names: Vec<String> = scanning.map(|ap| ap.name.clone()).collect();
    for name in names {
        let key = format!("ap.{name}.scan_interval");
        let label = format!("{name} scans only once an hour");
        builder.propose(Kind::ApScans, Effort::Firmware, label, &[(&key, "3600 s")]);
        let key = format!("ap.{name}.scan_away");
        let label = format!("{name} is away for 20 ms in each scan");
        builder.propose(Kind::ApScans, Effort::Firmware, label, &[(&key, "20 ms")]);
    }
}
