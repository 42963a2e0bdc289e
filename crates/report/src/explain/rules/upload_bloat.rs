//! Upload bloat: an upload keeps a queue full, and whoever sends anything waits behind it.

use super::{list, named, severity, suffering, wait};
use crate::explain::scene::{Scene, Way};
use crate::explain::{Cause, Kind};
use crate::text::figure::{mbps, percent};
use netburn_workload::Kind as Use;

/// A line that is full for this share of the time in which it is used is where packets wait.
const OFTEN: f64 = 0.3;

pub(super) fn find(scene: &Scene<'_>, found: &[Cause]) -> Vec<Cause> {
    if named(found, Kind::Server) {
        return Vec::new();
    }
    let all = 0..scene.plan.stations.len();
    let bloats = |station: usize| {
        let median = scene.evidence.stations[station].sending.median_ms()?;
        let uploads = scene.moves(station, Use::Upload) && scene.is_bloated(median, station);
        (uploads && upwards(scene, station)).then_some((station, median))
    };
    let by: Vec<(usize, f64)> = all.clone().filter_map(bloats).collect();
    let Some((worst, median)) = by.iter().copied().max_by(|a, b| a.1.total_cmp(&b.1)) else {
        return Vec::new();
    };
    let victims: Vec<usize> = all.filter(|station| waits(scene, *station, &by)).collect();
    if victims.is_empty() {
        return Vec::new();
    }
    let names = scene.names(victims.iter().copied());
    let uploaders = scene.names(by.iter().map(|(station, _)| *station));
    let line = full_line(scene, worst);
    let place = match &line {
        Some(text) => format!(" {text}"),
        None => String::new(),
    };
    vec![Cause {
        kind: Kind::UploadBloat,
        severity: severity(scene, victims.iter().copied()),
        title: format!("{}'s upload fills a queue in which {} {}", list(&uploaders), list(&names), wait(&names)),
        figure: format!(
            "{}{place}{}",
            scene.round_trip(worst, median),
            suffering(scene, &victims)
        ),
        advice: match line {
            Some(_) => "Shape the upload to a little below the line's rate (SQM with FQ-CoDel or CAKE on the router), so that the queue is where it \
                        can be kept short."
                .to_owned(),
            None => "Keep the sender's own queue short (FQ-CoDel, small queues) or cap the upload's rate.".to_owned(),
        },
        stations: names,
        by: uploaders,
    }]
}

/// Whether what a station waits for is the way up: its line is full that way, or most of its channel's air goes up.
fn upwards(scene: &Scene<'_>, station: usize) -> bool {
    if full_line(scene, station).is_some() {
        return true;
    }
    let Some(group) = scene.group_of(station) else {
        return !(0..scene.plan.stations.len()).any(|other| scene.moves(other, Use::Download));
    };
    let mask = scene.busy_bins(station);
    let sums = group.members.iter().map(|member| scene.sum(*member, &mask));
    let (down, up) = sums.fold((0_u64, 0_u64), |(down, up), sum| {
        (down.saturating_add(sum.bytes_down), up.saturating_add(sum.bytes_up))
    });
    up > down
}

/// Whether it suffers and waits in the same queue.
fn waits(scene: &Scene<'_>, station: usize, by: &[(usize, f64)]) -> bool {
    let seen = &scene.evidence.stations[station];
    let known = seen.receiving.median_ms();
    scene.suffering(station).is_some()
        && by.iter().any(|(uploader, _)| share_a_queue(scene, *uploader, station))
        && known.map_or(
            by.iter().any(|(uploader, _)| *uploader == station) || scene.is_slow(station),
            |median| scene.is_bloated(median, station),
        )
}

/// Whether what two stations send can wait in one queue: they have one access point, or one channel where access points aren't known. Of
/// those of whom nothing is known it is taken to be so.
fn share_a_queue(scene: &Scene<'_>, one: usize, other: usize) -> bool {
    let wired = |station: usize| scene.plan.stations[station].link.is_some();
    if one == other || wired(one) || wired(other) {
        return one == other;
    }
    match (scene.group_of(one), scene.group_of(other)) {
        (Some(one), Some(other)) => match (scene.ap_of(one), scene.ap_of(other)) {
            (Some(one), Some(other)) => one.name == other.name,
            _ => one.members == other.members,
        },
        (None, None) => true,
        _ => false,
    }
}

/// What says that the line away from a station's access point, or its own, is full.
fn full_line(scene: &Scene<'_>, station: usize) -> Option<String> {
    let (stations, rate) = match scene.group_of(station) {
        Some(group) => {
            let ap = scene.ap_of(group)?;
            (scene.stations_of(&ap.name), ap.wan?.up?)
        }
        None => {
            let link = scene.plan.stations[station].link.as_ref()?;
            (vec![station], link.up)
        }
    };
    let line = scene.line(&stations, Way::Up, rate);
    (line.full >= OFTEN).then(|| {
        format!(
            "The line of {} Mbit/s up carried {} and was full for {} of the time that it was used.",
            mbps(rate.as_mbps_f64()),
            mbps(line.mbps),
            percent(line.full)
        )
    })
}
