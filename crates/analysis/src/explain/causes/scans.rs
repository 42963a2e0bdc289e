//! Scans of stations at rest, and other absences from their channel.

use super::factor::{Factor, Part, Rank};
use super::intervention::{Effort, InterventionBuilder};
use super::scene::Scene;
use super::{Cause, Definition, Family, Kind, Severity, is_named_for, severity, worst_symptom};
use crate::explain::facts::{EXPLAINED, Interruptions, LONG, MANY, MIN_ABSENCES, NOTABLE, RunFacts, Sharing};
use crate::format::{percent, span};
use netburn_scenario::plan::Joins;

pub(super) const CAUSE: Definition = Definition {
    rule: Some((find, criterion)),
    what_ifs,
    changes: "no search for other access points, or only below −80 dBm",
};

pub(super) const FAMILY: Family = Family {
    without: "no scans of the stations that do not move",
    find: factors,
};

/// Condition under which the rule names its cause.
fn criterion() -> String {
    format!(
        "Nothing arrived at a station in {MIN_ABSENCES} intervals or more, after which its probes or packets arrived together. \
         These intervals return with a period. Or there were two or more of at least {}, which another station did not have. They contain {} or more of its late operations and stalls. No cause above affects the station, or several arrivals waited or one was lost in most \
         of the intervals. Another station on \
         the same radio did not have them, or had no packets then. The cause is notable for a station that misses no goal, if the \
         95th percentile of a probe or a stream of datagrams is at least {MANY} times its median and {} more, but not \
         outside of {MIN_ABSENCES} or more reported scans or such intervals.",
        span(LONG as f64 / 1e6),
        percent(EXPLAINED),
        span(NOTABLE as f64 / 1e6)
    )
}

fn find(facts: &RunFacts<'_>, found: &[Cause]) -> Vec<Cause> {
    let stations = 0..facts.plan.stations.len();
    let absent = stations.filter_map(|station| Some((station, facts.interruptions(station)?)));
    let own = absent.filter(|(station, interruptions)| {
        let name = facts.name(*station);
        let is_own = [Kind::Roaming, Kind::PowerSave, Kind::Scans]
            .into_iter()
            .any(|kind| is_named_for(found, kind, &name));
        let has_other = found.iter().any(|cause| cause.stations.contains(&name));
        let is_explained = is_own || has_other && !interruptions.is_certain;
        interruptions.sharing != Sharing::Shared && !is_explained
    });
    let serious = own.map(|(station, interruptions)| {
        let name = facts.name(station);
        let others = match interruptions.sharing {
            Sharing::Own => "Another station on the same radio does not have these gaps.",
            Sharing::Shared | Sharing::Unknown => "netburn cannot tell whether other stations have these gaps.",
        };
        let advice = match interruptions.sharing {
            Sharing::Own => "The device leaves its channel, or its radio is busy.",
            Sharing::Shared | Sharing::Unknown => "The device or its access point leaves the channel.",
        };
        Cause {
            kind: Kind::Scans,
            severity: severity(facts, [station]),
            title: match interruptions.rhythm.period {
                Some(_) => format!("The connection of {name} is interrupted at regular times"),
                None => format!("The connection of {name} is interrupted for seconds"),
            },
            evidence: format!("{} {others}{}", rhythm_sentence(&name, interruptions), worst_symptom(facts, &[station])),
            advice: format!(
                "{advice} Switch off what takes the radio away: programs that scan for networks, AirDrop and similar discovery, \
                 Bluetooth beside Wi-Fi at 2.4 GHz. A faster line does not help."
            ),
            stations: vec![name.clone()],
            by: vec![name],
        }
    });
    serious.chain(notable(facts)).collect()
}

/// Scans that slow probes of stations which miss no goal.
fn notable<'a>(facts: &'a RunFacts<'_>) -> impl Iterator<Item = Cause> + 'a {
    let stations = 0..facts.plan.stations.len();
    let healthy = stations.filter(|station| facts.degraded_station(*station).is_none());
    let slow = healthy.filter_map(|station| Some((station, facts.slow_scans(station)?)));
    slow.map(|(station, slow)| {
        let name = facts.name(station);
        let count = slow.count;
        let what = match (slow.is_reported, slow.period) {
            (true, _) => format!("{name} scanned {count} times"),
            (false, Some(period)) => format!("Each {} nothing arrived at {name} ({count} gaps)", span(period / 1e6)),
            (false, None) => format!("Nothing arrived at {name} at {count} times"),
        };
        let ms = |nanos: i64| span(nanos as f64 / 1e6);
        Cause {
            kind: Kind::Scans,
            severity: Severity::Notable,
            title: format!("Scans delay packets of {name}"),
            evidence: format!(
                "{what}. The 95th percentile of its delay was {}, at a median of {}. At other times it was {}. {name} misses no goal.",
                ms(slow.p95),
                ms(slow.median),
                ms(slow.p95_without)
            ),
            advice: "Find the program that asks for scans, or fix the network to one access point (BSSID), if calls or games on this \
                     device matter."
                .to_owned(),
            stations: vec![name.clone()],
            by: vec![name],
        }
    })
}

/// `Each 10.0 s, nothing arrived at NAME for 80 ms (median of 12 gaps); …`.
pub(super) fn rhythm_sentence(name: &str, interruptions: &Interruptions) -> String {
    let Interruptions { rhythm, late, of, .. } = interruptions;
    let gaps = format!(
        "nothing arrived at {name} for {} (median of {} gaps)",
        span(rhythm.length as f64 / 1e6),
        rhythm.absences.len()
    );
    let when = match rhythm.period {
        Some(period) => format!("Each {}, {gaps}", span(period / 1e6)),
        None => format!("At times {gaps}"),
    };
    let share = percent(*late as f64 / (*of).max(1) as f64);
    format!("{when}; {late} of {of} late operations and stalls ({share}) were in such gaps.")
}

fn factors(scene: &Scene<'_>) -> Vec<Factor> {
    let stations = scene.plan.stations.iter().enumerate();
    let rests = stations.filter(|(_, station)| {
        station.air.roaming.is_some() && station.air.path.len() < 2 && station.air.signals.is_empty()
    });
    let resting: Vec<usize> = rests.map(|(station, _)| station).collect();
    if resting.is_empty() {
        return Vec::new();
    }
    let radios: Vec<_> = resting
        .iter()
        .filter_map(|station| Some((*station, scene.joined[*station].clone()?)))
        .collect();
    let factor = Factor::builder(Part::Station, Kind::Scans, Rank::Disturbance)
        .only(resting)
        .edit(move |plan| {
            for (station, radio) in &radios {
                if let Some(station) = plan.stations.get_mut(*station) {
                    station.air.roaming = None;
                    station.air.joins = Some(Joins::Radio(radio.clone()));
                }
            }
        });
    vec![factor.words(
        |names| format!("Scans of other channels interrupt {names}"),
        "without scans",
        "The device leaves its channel to look for other access points. Find the program that asks for scans, fix the network to one access \
         point (BSSID), scan less often, or improve the signal so that it has no reason to look for another one.",
    )]
}

fn what_ifs(builder: &mut InterventionBuilder<'_>, cause: &Cause) {
    for name in &cause.stations {
        let key = format!("station.{name}.roaming");
        let label = format!("{name} never looks for another access point");
        builder.propose(Kind::Scans, Effort::Setting, label, &[(&key, "never")]);
        let key = format!("station.{name}.roaming.trigger");
        let label = format!("{name} looks for another access point only below -80 dBm");
        builder.propose(Kind::Scans, Effort::Setting, label, &[(&key, "-80 dBm")]);
    }
}
