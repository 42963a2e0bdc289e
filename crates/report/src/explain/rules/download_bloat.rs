//! Download bloat: a download keeps a queue full that others' packets wait in, though nobody is slow.

use super::{list, named, severity, suffering, wait};
use crate::explain::scene::{Group, Scene, Way};
use crate::explain::{Cause, Kind};
use crate::text::figure::{mbps, percent};
use netburn_medium::config::QueueKind;
use netburn_workload::Kind as Use;

/// A channel that is taken for this share of the time is where packets wait.
const TAKEN: f64 = 0.85;
/// So is a line that is full for this share of the time in which it is used.
const OFTEN: f64 = 0.3;

pub(super) fn find(scene: &Scene<'_>, found: &[Cause]) -> Vec<Cause> {
    if named(found, Kind::Server) {
        return Vec::new();
    }
    let groups = scene.groups.iter();
    groups.filter_map(|group| of(scene, group, found)).collect()
}

fn of(scene: &Scene<'_>, group: &Group, found: &[Cause]) -> Option<Cause> {
    let bloats = |station: &usize| {
        let median = scene.evidence.stations[*station].receiving.median_ms()?;
        let downloads = scene.moves(*station, Use::Download) && scene.is_bloated(median, *station);
        downloads.then_some((*station, median))
    };
    let by: Vec<(usize, f64)> = group.members.iter().filter_map(bloats).collect();
    let (worst, median) = by.iter().copied().max_by(|a, b| a.1.total_cmp(&b.1))?;
    let explained = |station: usize| {
        let name = scene.name(station);
        let same = |cause: &&Cause| matches!(cause.kind, Kind::SlowNeighbour | Kind::UploadBloat | Kind::Adapter);
        found
            .iter()
            .filter(same)
            .any(|cause| cause.stations.contains(&name) || cause.by.contains(&name))
    };
    let waits = |station: &usize| {
        let median = scene.evidence.stations[*station].receiving.median_ms();
        scene.suffering(*station).is_some()
            && !explained(*station)
            && median.is_some_and(|median| scene.is_bloated(median, *station))
    };
    let victims: Vec<usize> = group.members.iter().copied().filter(|station| waits(station)).collect();
    if victims.is_empty() || by.iter().all(|(station, _)| explained(*station)) {
        return None;
    }
    let place = place(scene, group, &victims)?;
    let names = scene.names(victims.iter().copied());
    let downloaders = scene.names(by.iter().map(|(station, _)| *station));
    Some(Cause {
        kind: Kind::DownloadBloat,
        severity: severity(scene, victims.iter().copied()),
        title: format!(
            "{}'s download fills a queue in which {} {}",
            list(&downloaders),
            list(&names),
            wait(&names)
        ),
        figure: format!(
            "{} {}{}",
            scene.round_trip(worst, median),
            place.figure,
            suffering(scene, &victims)
        ),
        advice: place.advice,
        stations: names,
        by: downloaders,
    })
}

/// Where packets wait.
struct Place {
    figure: String,
    advice: String,
}

fn place(scene: &Scene<'_>, group: &Group, victims: &[usize]) -> Option<Place> {
    let ap = scene.ap_of(group);
    if let Some((ap, rate)) = ap.and_then(|ap| Some((ap, ap.wan?.down?))) {
        let line = scene.line(&scene.stations_of(&ap.name), Way::Down, rate);
        if line.full >= OFTEN {
            return Some(Place {
                figure: format!(
                    "The line of {} Mbit/s down carried {} and was full for {} of the time that it was used.",
                    mbps(rate.as_mbps_f64()),
                    mbps(line.mbps),
                    percent(line.full)
                ),
                advice: "Shape downloads to a little below the line's rate (SQM with FQ-CoDel or CAKE on the router), so that the queue is where \
                         it can be kept short."
                    .to_owned(),
            });
        }
    }
    let look = scene
        .look(group, &scene.bad_bins(victims))
        .filter(|look| look.used() >= TAKEN)?;
    let advice = match ap.map(|ap| ap.queue) {
        Some(queue @ (QueueKind::Fifo | QueueKind::PfifoFast)) => format!(
            "The access point has one queue for all (`{}`): a queue for each flow (`queue = \"airtime\"` or `fq-codel`) lets others pass.",
            queue.name()
        ),
        Some(_) => "The access point's queue is one for each flow already, so what waits in its hardware remains: bound that (AQL).".to_owned(),
        None => "An access point with a queue for each flow (FQ-CoDel, as mac80211 has) lets others pass; or cap the download's rate.".to_owned(),
    };
    Some(Place {
        figure: format!("The air was taken for {} of the time.", percent(look.used().min(1.0))),
        advice,
    })
}
