//! Crowded channel: other networks use much of it, and little is idle.

use super::factor::{Class, Factor, Part, Rank};
use super::intervention::{Effort, InterventionBuilder};
use super::scene::Scene;
use super::{Cause, Definition, Family, Kind, in_each_group, is_named_for, list, severity, worst_symptom};
use crate::explain::facts::{Group, RunFacts};
use crate::format::percent;
use netburn_scenario::plan::{RadioRef, RadioSetting, Setting};
use netburn_scenario::{Environment, Station};
use netburn_units::Probability;

pub(super) const CAUSE: Definition = Definition {
    rule: Some((find, criterion)),
    what_ifs,
    changes: "a channel without other networks, a channel on which they use half as much, the busiest station on another radio of the access point, a fair queue (airtime)",
};

pub(super) const FAMILY: Family = Family {
    without: "`channel_busy` of 0 % on one radio",
    find: factors,
};

/// Minimum share of other networks.
const OTHERS: f64 = 0.3;
/// A channel that is busy for this share of the time has no room left.
const CROWDED: f64 = 0.9;
/// The same for a driver's survey, which does not include interframe spaces and backoff.
const SURVEYED: f64 = 0.8;

/// Condition under which the rule names its cause.
fn criterion() -> String {
    format!(
        "Other networks used {} of the channel or more. With the stations' own traffic, the channel was busy for {} of \
         the time or more; on a fleet, for {} by the surveys of the drivers, or of an observed access point. `slow-cochannel` does not explain it.",
        percent(OTHERS),
        percent(CROWDED),
        percent(SURVEYED)
    )
}

fn find(facts: &RunFacts<'_>, found: &[Cause]) -> Vec<Cause> {
    in_each_group(facts, |group| find_in_group(facts, group, found))
}

fn find_in_group(facts: &RunFacts<'_>, group: &Group, found: &[Cause]) -> Option<Cause> {
    // Stations that a slow station of another network affects are explained already.
    let explained = |station: &usize| is_named_for(found, Kind::SlowCochannel, &facts.name(*station));
    let mut degraded = facts.degraded_in(group);
    degraded.retain(|station| !explained(station));
    if degraded.is_empty() {
        return None;
    }
    let mask = facts.bad_bins(&degraded);
    let (others, evidence) = match facts.environment {
        Environment::Fleet => observed(facts, group, &mask).or_else(|| surveyed(facts, group))?,
        _ => {
            let airtime = facts.airtime(group, &mask)?;
            if airtime.used() < CROWDED {
                return None;
            }
            let own = match &group.members[..] {
                [one] => facts.name(*one),
                _ => "these stations".to_owned(),
            };
            let others = (airtime.others + airtime.peers).min(1.0);
            let evidence = format!(
                "Other networks used {} of the channel, {own} {} (including overhead); {} was idle.",
                percent(others),
                percent((airtime.data + airtime.around).min(1.0 - others)),
                percent((1.0 - airtime.used()).max(0.0))
            );
            (others, evidence)
        }
    };
    if others < OTHERS {
        return None;
    }
    let names = facts.names(degraded.iter().copied());
    let place = group.radio.clone().unwrap_or_else(|| "the channel".to_owned());
    Some(Cause {
        kind: Kind::FullBand,
        severity: severity(facts, degraded.iter().copied()),
        title: format!("Other networks use too much of {place} for {}", list(&names)),
        evidence: format!("{evidence}{}", worst_symptom(facts, &degraded)),
        advice: "Use another channel or band, or move the most demanding stations to another radio. A wider channel helps only if its other part is less busy."
            .to_owned(),
        stations: names,
        by: Vec::new(),
    })
}

/// Share of other networks according to the survey of an observed access point, with the evidence.
fn observed(facts: &RunFacts<'_>, group: &Group, mask: &[bool]) -> Option<(f64, String)> {
    let busy = facts.surveyed(group, mask)?;
    let others = facts.observed_others(group, mask)?;
    (busy >= SURVEYED).then(|| {
        let evidence = format!(
            "The channel of the access point was {} busy, of which {} was not the access point's own stations.",
            percent(busy),
            percent(others)
        );
        (others, evidence)
    })
}

/// Share of other networks according to the drivers' surveys, with the evidence.
fn surveyed(facts: &RunFacts<'_>, group: &Group) -> Option<(f64, String)> {
    let others = facts.others(group, &[]);
    let loaded = group
        .members
        .iter()
        .filter_map(|s| facts.evidence.stations[*s].link.busy.value());
    let loaded = loaded.fold(0.0, f64::max) / 1e6;
    (loaded >= SURVEYED).then(|| {
        let evidence = format!(
            "The channel was {} busy before the load and {} during it.",
            percent(others),
            percent(loaded)
        );
        (others, evidence)
    })
}

fn factors(scene: &Scene<'_>) -> Vec<Factor> {
    let radios = scene.plan.aps.iter().flat_map(|ap| {
        ap.radios.iter().map(|radio| {
            let name = RadioRef {
                ap: ap.name.clone(),
                radio: radio.name,
            };
            (name, radio.channel_busy)
        })
    });
    radios.filter_map(|(radio, busy)| factor(scene, radio, busy)).collect()
}

fn factor(scene: &Scene<'_>, radio: RadioRef, busy: Probability) -> Option<Factor> {
    let changed = scene
        .plan
        .changes
        .iter()
        .flat_map(|change| &change.settings)
        .filter_map(|setting| match setting {
            Setting::Radio(of, RadioSetting::ChannelBusy(busy)) if *of == radio => Some(*busy),
            _ => None,
        });
    let most = changed.chain([busy]).max_by_key(|busy| busy.as_ppb())?;
    if most.as_ppb() == 0 {
        return None;
    }
    // Networks on a channel disturb all radios on it.
    let channel = scene.channel(&radio);
    let of: Vec<bool> = scene
        .joined
        .iter()
        .map(|joined| joined.as_ref().is_some_and(|own| scene.channel(own) == channel))
        .collect();
    let class = Class {
        kind: Kind::FullBand,
        rank: Rank::Place,
    };
    let (edited, name) = (radio.clone(), radio.to_string());
    let factor = Factor::builder(Part::Air, Kind::FullBand, Rank::Place)
        .class(move |station| of.get(station).copied().unwrap_or(false).then_some(class))
        .edit(move |plan| {
            for change in &mut plan.changes {
                change.settings.retain(
                    |setting| !matches!(setting, Setting::Radio(of, RadioSetting::ChannelBusy(_)) if *of == edited),
                );
            }
            let ap = plan.aps.iter_mut().find(|ap| ap.name == edited.ap);
            for radio in ap
                .into_iter()
                .flat_map(|ap| &mut ap.radios)
                .filter(|radio| radio.name == edited.radio)
            {
                radio.channel_busy = Probability::ZERO;
            }
        });
    Some(factor.words(
        {
            let name = name.clone();
            move |names| format!("Other networks use too much of the channel of {name} for {names}")
        },
        format!("without other networks on the channel of {name}"),
        format!(
            "Other networks use up to {} of the channel. Use another channel or band, or move the most demanding stations to another \
             radio.",
            percent(most.as_f64())
        ),
    ))
}

fn what_ifs(builder: &mut InterventionBuilder<'_>, cause: &Cause) {
    let Some((ap, radio)) = cause.stations.first().and_then(|name| builder.place(name)) else {
        return;
    };
    let key = format!("ap.{}.radio.{radio}.channel_busy", ap.name);
    builder.propose(
        Kind::FullBand,
        Effort::Setting,
        format!("{}.{radio} is on a channel without other networks", ap.name),
        &[(&key, "0 %")],
    );
    let now = ap.radios.iter().find(|known| known.name.to_string() == radio);
    if let Some(now) = now.filter(|radio| radio.channel_busy.as_ppb() > 0) {
        let half = format!("{} %", f64::from(now.channel_busy.as_ppb()) / 2e7);
        builder.propose(
            Kind::FullBand,
            Effort::Setting,
            format!(
                "{}.{radio} is on a channel where other networks use half as much airtime",
                ap.name
            ),
            &[(&key, &half)],
        );
    }
    // Moving the busiest station frees the most airtime.
    let here = format!("{}.{radio}", ap.name);
    if let Some(most) = busiest(builder, &here) {
        builder.other_radio(Kind::FullBand, &most);
    }
    builder.queue(Kind::FullBand, ap);
}

/// Returns the station on a radio with the highest throughput; stations with a download or upload rank first.
fn busiest(builder: &InterventionBuilder<'_>, radio: &str) -> Option<String> {
    let here = builder.plan.stations.iter().zip(&builder.joined);
    let here = here
        .filter(|(_, joined)| joined.as_deref() == Some(radio))
        .map(|(station, _)| station);
    let moved = |station: &&Station| {
        let known = builder.summary.stations.iter().find(|known| known.name == station.name);
        let bulk = station
            .workloads
            .iter()
            .any(|workload| workload.config.bulk().is_some());
        (bulk, known.map_or(0, |known| (known.throughput_mbps * 1e3) as u64))
    };
    here.max_by_key(moved).map(|station| station.name.clone())
}
