//! Slow neighbour: a station that uses much airtime for little data, which delays others.

use super::intervention::InterventionBuilder;
use super::{Cause, Definition, Kind, in_each_group, list, severity, worst_symptom};
use crate::explain::facts::{AirtimeBreakdown, BUSY_CHANNEL, Group, RunFacts, SLOWER, Share};
use crate::format::{mbps, percent};

pub(super) const CAUSE: Definition = Definition {
    rule: Some((find, criterion)),
    what_ifs,
    changes: "a fair queue (airtime), or airtime queue limits (AQL) if the queue is fair already; the slow station on another radio, nearer, or capped",
};

/// Minimum airtime share of the slow station, in equal shares.
const MORE: f64 = 1.4;
/// A greedy station is affected below this part of an equal share of the remaining airtime.
const LITTLE: f64 = 0.7;

/// Condition under which the rule names its cause.
fn criterion() -> String {
    format!(
        "A station used {MORE} times an equal share of the airtime or more. Another one moved {SLOWER} times as much or \
         more in a second of airtime. The packets of this one were queued, or it wanted all the capacity and got less than \
         {} of a fair share. The channel was busy for {} of the time or more.",
        percent(LITTLE),
        percent(BUSY_CHANNEL)
    )
}

fn find(facts: &RunFacts<'_>, _: &[Cause]) -> Vec<Cause> {
    in_each_group(facts, |group| find_in_group(facts, group))
}

fn find_in_group(facts: &RunFacts<'_>, group: &Group) -> Option<Cause> {
    let degraded = facts.degraded_in(group);
    let mask = facts.bad_bins(&degraded);
    let airtime = facts
        .airtime(group, &mask)
        .filter(|airtime| airtime.shares.len() >= 2 && airtime.used() >= BUSY_CHANNEL)?;
    let equal = 1.0 / airtime.shares.len() as f64;
    let slow = airtime.shares.iter().max_by(|a, b| a.air.total_cmp(&b.air))?;
    if slow.air < MORE * equal || slow.bytes > slow.air {
        return None;
    }
    // Greedy stations could share the airtime that the others leave.
    let (greedy, modest): (Vec<&Share>, Vec<&Share>) = airtime.shares.iter().partition(|s| facts.is_greedy(s.station));
    let left = 1.0 - modest.iter().map(|share| share.air).sum::<f64>();
    let fair = left / greedy.len().max(1) as f64;
    let is_affected = |share: &Share| {
        share.station != slow.station
            && (waits(facts, share.station) || facts.is_greedy(share.station) && share.air < LITTLE * fair)
    };
    let (affected, first) = airtime.slowed_by(slow, is_affected)?;
    let stations: Vec<usize> = affected.iter().map(|share| share.station).collect();
    let names = facts.names(stations.iter().copied());
    let slow_name = facts.name(slow.station);
    Some(Cause {
        kind: Kind::SlowNeighbour,
        severity: severity(facts, stations.iter().copied()),
        title: format!(
            "{slow_name} is slow and uses too much airtime, which delays {}",
            list(&names)
        ),
        evidence: format!(
            "{slow_name} used {} of the airtime for {} of the data{} ({} Mbit per second of airtime; {} moves {}).{}{}",
            percent(slow.air),
            percent(slow.bytes),
            if airtime.estimated {
                ", estimated from link rates"
            } else {
                ""
            },
            mbps(slow.speed()),
            facts.name(first.station),
            mbps(first.speed()),
            waited(facts, &affected),
            worst_symptom(facts, &stations)
        ),
        advice: advice(facts, group, &airtime, slow),
        stations: names,
        by: vec![slow_name],
    })
}

/// Returns true if the station is degraded and, as far as known, its packets are queued.
fn waits(facts: &RunFacts<'_>, station: usize) -> bool {
    let seen = &facts.evidence.stations[station];
    let waits = |median: Option<f64>| median.is_none_or(|ms| facts.is_bloated(ms, station));
    facts.degraded_station(station).is_some() && waits(seen.receiving.median_ms().or(seen.sending.median_ms()))
}

/// Returns a sentence about the longest median round-trip time of the affected stations, if it
/// indicates queueing.
fn waited(facts: &RunFacts<'_>, affected: &[Share]) -> String {
    let worst = affected.iter().filter_map(|share| {
        let median = facts.evidence.stations[share.station].receiving.median_ms()?;
        facts
            .is_bloated(median, share.station)
            .then_some((share.station, median))
    });
    match worst.max_by(|a, b| a.1.total_cmp(&b.1)) {
        Some((station, median)) => format!(" {}", facts.round_trip(station, median)),
        None => String::new(),
    }
}

fn advice(facts: &RunFacts<'_>, group: &Group, airtime: &AirtimeBreakdown, slow: &Share) -> String {
    let name = facts.name(slow.station);
    let elsewhere = format!("move {name} nearer to the access point, or to a radio of its own");
    let up: u64 = airtime
        .shares
        .iter()
        .map(|share| share.sum.air.airtime_up)
        .fold(0, u64::saturating_add);
    let down: u64 = airtime
        .shares
        .iter()
        .map(|share| share.sum.air.airtime_down)
        .fold(0, u64::saturating_add);
    if up > down {
        return format!(
            "Most of this airtime is {name}'s uplink, which the access point's queue does not control: {elsewhere}."
        );
    }
    match facts.ap_of(group).map(|ap| ap.queue) {
        Some(queue) if queue.properties().shares_airtime => {
            format!(
                "The access point already shares airtime. The remaining delay is in its hardware queue: limit it (AQL), {elsewhere}."
            )
        }
        Some(queue) => format!(
            "The access point's queue is `{}`. Share airtime (`queue = \"airtime\"`, as in mac80211), or {elsewhere}.",
            queue.name()
        ),
        None => {
            format!("Use an access point with airtime fairness (as in mac80211), or {elsewhere}.")
        }
    }
}

fn what_ifs(builder: &mut InterventionBuilder<'_>, cause: &Cause) {
    for name in &cause.by {
        if let Some((ap, _)) = builder.place(name) {
            builder.queue(Kind::SlowNeighbour, ap);
        }
        builder.other_radio(Kind::SlowNeighbour, name);
        builder.stronger_signal(Kind::SlowNeighbour, name);
        builder.capped(Kind::SlowNeighbour, name, None);
    }
}
