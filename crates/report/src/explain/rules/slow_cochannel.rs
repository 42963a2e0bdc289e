//! A slow station of another network: it belongs to another radio on the same channel, and its long transmissions leave little of the air.

use super::{list, severity, suffering};
use crate::explain::scene::{Group, Scene, Share};
use crate::explain::{Cause, Kind};
use crate::text::figure::{mbps, percent};

/// It is slow for somebody who moves so many times as much in the same air.
const SLOWER: f64 = 3.0;
/// What it must take of the time.
const MUCH: f64 = 0.3;
/// The channel must be taken for this share of the time, else nobody waits for air.
const TAKEN: f64 = 0.85;

pub(super) fn find(scene: &Scene<'_>, _: &[Cause]) -> Vec<Cause> {
    scene.groups.iter().filter_map(|group| of(scene, group)).collect()
}

fn of(scene: &Scene<'_>, group: &Group) -> Option<Cause> {
    if group.peers.is_empty() {
        return None;
    }
    let suffer = scene.suffering_of(group);
    let mask = scene.bad_bins(&suffer);
    let look = scene
        .look_at_channel(group, &mask)
        .filter(|look| look.used() >= TAKEN)?;
    let peers = look.shares.iter().filter(|share| group.peers.contains(&share.station));
    let slow = peers.max_by(|a, b| a.air.total_cmp(&b.air))?;
    let taken = slow.air * look.data;
    if taken < MUCH {
        return None;
    }
    let victims: Vec<Share> = look
        .shares
        .iter()
        .filter(|share| suffer.contains(&share.station) && share.speed() >= SLOWER * slow.speed())
        .copied()
        .collect();
    let first = victims.iter().max_by(|a, b| a.speed().total_cmp(&b.speed()))?;
    let stations: Vec<usize> = victims.iter().map(|share| share.station).collect();
    let names = scene.names(stations.iter().copied());
    let slow_name = scene.name(slow.station);
    let radio = |station: usize| {
        scene
            .group_of(station)
            .and_then(|group| group.radio.clone())
            .unwrap_or_default()
    };
    Some(Cause {
        kind: Kind::SlowCochannel,
        severity: severity(scene, stations.iter().copied()),
        title: format!(
            "{slow_name}, of another network on the channel, is slow and takes the air of {}",
            list(&names)
        ),
        figure: format!(
            "{slow_name} is on {}, which shares the channel of {}. It held the air for {} of the time and moved {} of the channel's bytes: in a \
             second of air {} Mbit, where {} moves {}.{}",
            radio(slow.station),
            radio(first.station),
            percent(taken),
            percent(slow.bytes),
            mbps(slow.speed()),
            scene.name(first.station),
            mbps(first.speed()),
            suffering(scene, &stations)
        ),
        advice: "No queue of your own access point reaches it: take another channel or band.".to_owned(),
        stations: names,
        by: vec![slow_name],
    })
}
