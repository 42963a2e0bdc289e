//! A slow neighbour: a station that moves little in much air, and others that wait or get little because of it.

use super::{list, severity, suffering};
use crate::explain::scene::{Group, Look, Scene, Share};
use crate::explain::{Cause, Kind};
use crate::text::figure::{mbps, percent};
use netburn_medium::config::QueueKind;

/// A neighbour is slow for somebody who moves so many times as much in the same air.
const SLOWER: f64 = 3.0;
/// It takes the air when it has so many times an equal share of it.
const MORE: f64 = 1.4;
/// Somebody who wants all there is gets little below this part of an equal share of what those leave who want less.
const LITTLE: f64 = 0.7;
/// The channel must be taken for this share of the time, else nobody waits for air.
const TAKEN: f64 = 0.85;

pub(super) fn find(scene: &Scene<'_>, _: &[Cause]) -> Vec<Cause> {
    scene.groups.iter().filter_map(|group| of(scene, group)).collect()
}

fn of(scene: &Scene<'_>, group: &Group) -> Option<Cause> {
    let suffer = scene.suffering_of(group);
    let mask = scene.bad_bins(&suffer);
    let look = scene
        .look(group, &mask)
        .filter(|look| look.shares.len() >= 2 && look.used() >= TAKEN)?;
    let equal = 1.0 / look.shares.len() as f64;
    let slow = look.shares.iter().max_by(|a, b| a.air.total_cmp(&b.air))?;
    let large = (MORE * equal).min((1.0 + equal) / 2.0);
    if slow.air < large || slow.bytes > slow.air {
        return None;
    }
    // Those who want all there is could share what the others leave.
    let (greedy, modest): (Vec<&Share>, Vec<&Share>) = look.shares.iter().partition(|s| scene.is_greedy(s.station));
    let left = 1.0 - modest.iter().map(|share| share.air).sum::<f64>();
    let fair = left / greedy.len().max(1) as f64;
    let victims: Vec<Share> = look
        .shares
        .iter()
        .filter(|share| share.station != slow.station && share.speed() >= SLOWER * slow.speed())
        .filter(|share| waits(scene, share.station) || scene.is_greedy(share.station) && share.air < LITTLE * fair)
        .copied()
        .collect();
    let first = victims.iter().max_by(|a, b| a.speed().total_cmp(&b.speed()))?;
    let names = scene.names(victims.iter().map(|share| share.station));
    let slow_name = scene.name(slow.station);
    Some(Cause {
        kind: Kind::SlowNeighbour,
        severity: severity(scene, victims.iter().map(|share| share.station)),
        title: format!("{slow_name} is slow and takes the air of {}", list(&names)),
        figure: format!(
            "{slow_name} had {} of the airtime and moved {} of the bytes{}: in a second of air {} Mbit, where {} moves {}.{}{}",
            percent(slow.air),
            percent(slow.bytes),
            if look.estimated {
                ", by the rates of the links"
            } else {
                ""
            },
            mbps(slow.speed()),
            scene.name(first.station),
            mbps(first.speed()),
            waited(scene, &victims),
            suffering(scene, &victims.iter().map(|share| share.station).collect::<Vec<_>>())
        ),
        advice: advice(scene, group, &look, slow),
        stations: names,
        by: vec![slow_name],
    })
}

/// Whether it suffers, and its packets wait where that is known.
fn waits(scene: &Scene<'_>, station: usize) -> bool {
    let seen = &scene.evidence.stations[station];
    let waits = |median: Option<f64>| median.is_none_or(|ms| scene.is_bloated(ms, station));
    scene.suffering(station).is_some() && waits(seen.receiving.median_ms().or(seen.sending.median_ms()))
}

/// How long the victims' packets took there and back.
fn waited(scene: &Scene<'_>, victims: &[Share]) -> String {
    let worst = victims.iter().filter_map(|share| {
        let median = scene.evidence.stations[share.station].receiving.median_ms()?;
        scene
            .is_bloated(median, share.station)
            .then_some((share.station, median))
    });
    match worst.max_by(|a, b| a.1.total_cmp(&b.1)) {
        Some((station, median)) => format!(" {}", scene.round_trip(station, median)),
        None => String::new(),
    }
}

fn advice(scene: &Scene<'_>, group: &Group, look: &Look, slow: &Share) -> String {
    let name = scene.name(slow.station);
    let elsewhere = format!("bring {name} nearer, or put it on a radio of its own");
    let up: u64 = look
        .shares
        .iter()
        .map(|share| share.sum.air_up)
        .fold(0, u64::saturating_add);
    let down: u64 = look
        .shares
        .iter()
        .map(|share| share.sum.air_down)
        .fold(0, u64::saturating_add);
    if up > down {
        return format!(
            "Most of that air was {name}'s own to take, upwards, where no queue of the access point helps: {elsewhere}."
        );
    }
    match scene.ap_of(group).map(|ap| ap.queue) {
        Some(QueueKind::Airtime) => {
            format!(
                "The access point shares airtime already, so what waits in its hardware remains: bound that (AQL), {elsewhere}."
            )
        }
        Some(queue) => format!(
            "The access point's queue is `{}`: share its airtime (`queue = \"airtime\"`, as mac80211 does), or {elsewhere}.",
            queue.name()
        ),
        None => {
            format!("An access point that shares airtime (mac80211's, say) would keep it from that; else {elsewhere}.")
        }
    }
}
