//! A device on the access point that is no station of the run, and uses much of the airtime.

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
        "fleet with an observed access point: it recognised all stations of the run, and the frames of another device took {} \
         of the time or more. With all other frames, the channel was busy for {} of the time or more.",
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
    // A station that is not recognised would look like another device.
    let is_known = (0..facts.plan.stations.len()).all(|station| facts.evidence.is_recognised(station));
    if degraded.is_empty() || !is_known {
        return None;
    }
    let mask = facts.bad_bins(&degraded);
    let (address, share) = busiest(facts, group, &mask)?;
    if share < SHARE || busy(facts, group, &mask) < BUSY_CHANNEL {
        return None;
    }
    let names = facts.names(degraded.iter().copied());
    Some(Cause {
        kind: Kind::OtherDevice,
        severity: severity(facts, degraded.iter().copied()),
        title: format!(
            "Another device on the access point ({address}) uses much of the air, which delays {}",
            list(&names)
        ),
        evidence: format!(
            "The access point spent {} of the time on frames to and from {address}, which is no station of the run.{}",
            percent(share),
            worst_symptom(facts, &degraded)
        ),
        advice: "The list of devices in the access point's interface shows which one has this address. Limit what it does, move it \
                 nearer to the access point, or connect it by a cable. If it is the server of the run, connect that by a cable."
            .to_owned(),
        stations: names,
        by: Vec::new(),
    })
}

/// The device that is no station of the run and used most of the time, with its share.
fn busiest(facts: &RunFacts<'_>, group: &Group, mask: &[bool]) -> Option<(Bssid, f64)> {
    let radios = facts.radios_of(group).into_iter();
    let used = radios.flat_map(|(access_point, radio)| {
        let covered = access_point.covered(mask).max(1) as f64;
        let others = radio.devices.iter().filter(|(_, device)| device.station.is_none());
        others.map(move |(address, device)| {
            let [down, up] = radio.airtime(device, mask);
            (*address, (down.saturating_add(up) as f64 / covered).min(1.0))
        })
    });
    used.max_by(|a, b| a.1.total_cmp(&b.1))
}

/// Share of the time in which the channel was busy: by the survey, or at least by the frames of the radio's own stations.
fn busy(facts: &RunFacts<'_>, group: &Group, mask: &[bool]) -> f64 {
    let radios = facts.radios_of(group).into_iter();
    let own =
        radios.map(|(access_point, radio)| radio.all_airtime(mask) as f64 / access_point.covered(mask).max(1) as f64);
    own.sum::<f64>().max(facts.surveyed(group, mask).unwrap_or(0.0))
}

fn what_ifs(_: &mut InterventionBuilder<'_>, _: &Cause) {}
