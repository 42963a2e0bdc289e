//! Slow co-channel station: it belongs to another radio on the same channel, and its long
//! transmissions use much airtime.

use super::intervention::InterventionBuilder;
use super::{Cause, Definition, Kind, in_each_group, list, severity, worst_symptom};
use crate::explain::facts::{BUSY_CHANNEL, Group, RunFacts, SLOWER};
use crate::format::{mbps, percent};

pub(super) const CAUSE: Definition = Definition {
    rule: Some((find, criterion)),
    what_ifs,
    changes: "the station's own radio on a channel that no other radio has, the slow station nearer, or on another radio of its access point",
};

/// Minimum share of the time that the slow station uses.
const MIN_AIRTIME: f64 = 0.3;

/// Condition under which the rule names its cause.
fn criterion() -> String {
    format!(
        "simulate, lab: a station of another radio on the channel used {} of the time or more. An affected station moved \
         {SLOWER} times as much or more in a second of airtime. The channel was busy for {} of the time or more.",
        percent(MIN_AIRTIME),
        percent(BUSY_CHANNEL)
    )
}

fn find(facts: &RunFacts<'_>, _: &[Cause]) -> Vec<Cause> {
    in_each_group(facts, |group| find_in_group(facts, group))
}

fn find_in_group(facts: &RunFacts<'_>, group: &Group) -> Option<Cause> {
    if group.peers.is_empty() {
        return None;
    }
    let degraded = facts.degraded_in(group);
    let mask = facts.bad_bins(&degraded);
    let airtime = facts
        .channel_airtime(group, &mask)
        .filter(|airtime| airtime.used() >= BUSY_CHANNEL)?;
    let peers = airtime
        .shares
        .iter()
        .filter(|share| group.peers.contains(&share.station));
    let slow = peers.max_by(|a, b| a.air.total_cmp(&b.air))?;
    let taken = slow.air * airtime.data;
    if taken < MIN_AIRTIME {
        return None;
    }
    let (affected, first) = airtime.slowed_by(slow, |share| degraded.contains(&share.station))?;
    let stations: Vec<usize> = affected.iter().map(|share| share.station).collect();
    let names = facts.names(stations.iter().copied());
    let slow_name = facts.name(slow.station);
    let radio = |station: usize| {
        facts
            .group_of(station)
            .and_then(|group| group.radio.clone())
            .unwrap_or_default()
    };
    Some(Cause {
        kind: Kind::SlowCochannel,
        severity: severity(facts, stations.iter().copied()),
        title: format!(
            "{slow_name}, in another network on this channel, is slow and takes airtime from {}",
            list(&names)
        ),
        evidence: format!(
            "{slow_name} is on {}, which shares the channel of {}. It used the channel for {} of the time and moved {} of its data ({} Mbit per second of airtime; {} moves {}).{}",
            radio(slow.station),
            radio(first.station),
            percent(taken),
            percent(slow.bytes),
            mbps(slow.speed()),
            facts.name(first.station),
            mbps(first.speed()),
            worst_symptom(facts, &stations)
        ),
        advice: "Queue settings of your own access point do not affect it. Use another channel or band.".to_owned(),
        stations: names,
        by: vec![slow_name],
    })
}

fn what_ifs(builder: &mut InterventionBuilder<'_>, cause: &Cause) {
    builder.free_channels(Kind::SlowCochannel, &cause.stations);
    for name in &cause.by {
        builder.stronger_signal(Kind::SlowCochannel, name);
        builder.other_radio(Kind::SlowCochannel, name);
    }
}
