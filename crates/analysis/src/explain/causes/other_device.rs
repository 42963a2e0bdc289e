//! A device on the access point that takes no part in the run, and uses much of the airtime.

use super::intervention::InterventionBuilder;
use super::{Cause, Definition, Kind, in_each_group, is_named_for, list, severity, worst_symptom};
use crate::explain::facts::{BUSY_CHANNEL, Group, RunFacts};
use crate::format::percent;
use netburn_record::Bssid;

pub(super) const CAUSE: Definition = Definition {
    rule: Some((find, criterion)),
    what_ifs,
    changes: "none: the scenario does not have the device",
};

/// Minimum share of the time that its frames take.
const SHARE: f64 = 0.3;

/// Condition under which the rule names its cause.
fn criterion() -> String {
    format!(
        "fleet with an observed access point: the frames of a device that is no station of the run took {} of the time or \
         more. With all other frames, the channel was busy for {} of the time or more.",
        percent(SHARE),
        percent(BUSY_CHANNEL)
    )
}

fn find(facts: &RunFacts<'_>, found: &[Cause]) -> Vec<Cause> {
    in_each_group(facts, |group| find_in_group(facts, group, found))
}

fn find_in_group(facts: &RunFacts<'_>, group: &Group, found: &[Cause]) -> Option<Cause> {
    let mut degraded = facts.degraded_in(group);
    degraded.retain(|station| !is_named_for(found, Kind::SlowNeighbour, &facts.name(*station)));
    if degraded.is_empty() {
        return None;
    }
    let mask = facts.bad_bins(&degraded);
    let length = facts.length(&mask);
    let (address, share) = busiest(facts, group, &mask, length)?;
    if share < SHARE || busy(facts, group, &mask, length) < BUSY_CHANNEL {
        return None;
    }
    let names = facts.names(degraded.iter().copied());
    Some(Cause {
        kind: Kind::OtherDevice,
        severity: severity(facts, degraded.iter().copied()),
        title: format!("A device that takes no part in the run ({address}) delays {}", list(&names)),
        evidence: format!(
            "The access point spent {} of the time on frames to and from {address}.{}",
            percent(share),
            worst_symptom(facts, &degraded)
        ),
        advice: "The list of devices in the access point's interface shows which one has this address. Limit what it does, move it \
                 nearer to the access point, or connect it by a cable."
            .to_owned(),
        stations: names,
        by: Vec::new(),
    })
}

/// The device without a part in the run that used most of the time, with its share.
fn busiest(facts: &RunFacts<'_>, group: &Group, mask: &[bool], length: f64) -> Option<(Bssid, f64)> {
    let radios = facts.radios_of(group).into_iter();
    let others = radios.flat_map(|radio| {
        radio
            .devices
            .iter()
            .map(move |(address, device)| (radio, address, device))
    });
    let used = others
        .filter(|(_, _, device)| device.station.is_none())
        .map(|(radio, address, device)| {
            let [down, up] = radio.airtime(device, mask);
            (*address, down.saturating_add(up) as f64 / length.max(1.0))
        });
    used.max_by(|a, b| a.1.total_cmp(&b.1))
}

/// Share of the time in which the channel was busy: by the survey, or at least by the frames of the radio's own stations.
fn busy(facts: &RunFacts<'_>, group: &Group, mask: &[bool], length: f64) -> f64 {
    let radios = facts.radios_of(group).into_iter();
    let shares = radios.map(|radio| {
        let own = radio.all_airtime(mask) as f64 / length.max(1.0);
        radio.busy(mask).map_or(own, |busy| busy.max(own))
    });
    shares.fold(0.0, f64::max)
}

fn what_ifs(_: &mut InterventionBuilder<'_>, _: &Cause) {}
