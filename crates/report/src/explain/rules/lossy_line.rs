//! A line that loses packets: segments are sent again though no queue is full, so that they were not lost to one.

use super::{list, named, severity, suffering};
use crate::explain::scene::{Scene, Way};
use crate::explain::{Cause, Kind};
use crate::text::figure::{percent, span};
use netburn_scenario::Environment;
use netburn_units::BitRate;

/// Of lines without faults less than this share of segments is lost: a connection with 20 ms there and back and this loss is held to
/// 1448 B × 1.22 / (20 ms × √0.003) = 13 Mbit/s (Mathis, Semke, Mahdavi and Ott 1997).
const LOST: f64 = 0.003;
/// Fewer that were sent again may be chance.
const FEWEST: u64 = 10;
/// A channel that is taken for this share of the time is where packets wait, and are dropped.
const TAKEN: f64 = 0.85;
/// So is a line that is full for this share of the time in which it is used.
const OFTEN: f64 = 0.3;

pub(super) fn find(scene: &Scene<'_>, found: &[Cause]) -> Vec<Cause> {
    if matches!(scene.environment, Environment::Imported) || named(found, Kind::Server) {
        return Vec::new();
    }
    let lossy: Vec<(usize, f64)> = (0..scene.plan.stations.len())
        .filter_map(|station| Some((station, lost(scene, station, found)?)))
        .collect();
    let victims: Vec<usize> = lossy.iter().map(|(station, _)| *station).collect();
    let Some((worst, share)) = lossy.iter().copied().max_by(|a, b| a.1.total_cmp(&b.1)) else {
        return Vec::new();
    };
    let names = scene.names(victims.iter().copied());
    let idle = match scene.idle_ms(worst) {
        idle if idle > 0.0 => format!(", {} before the load", span(idle)),
        _ => String::new(),
    };
    let median = round_trip(scene, worst).map(|median| {
        format!(
            ", whose packets took {} there and back at the median{idle}",
            span(median)
        )
    });
    vec![Cause {
        kind: Kind::LossyLine,
        severity: severity(scene, victims.iter().copied()),
        title: format!("Packets of {} are lost on the way, not in a queue", list(&names)),
        figure: format!(
            "{} of the segments of {}'s connections had to be sent again{}: no queue was full.{}",
            percent(share),
            scene.name(worst),
            median.unwrap_or_default(),
            suffering(scene, &victims)
        ),
        advice: "Look for the fault on the line: cabling, the modem's error counters, a damaged port, a provider's overload. Until it is mended, a \
                 congestion control that takes loss for no sign of congestion (BBR) gets more of it."
            .to_owned(),
        stations: names,
        by: Vec::new(),
    }]
}

/// What a sufferer's connections lose, where that is much and nothing else explains it.
fn lost(scene: &Scene<'_>, station: usize, found: &[Cause]) -> Option<f64> {
    scene.suffering(station)?;
    let name = scene.name(station);
    let explained = found.iter().any(|cause| {
        cause.stations.contains(&name) && matches!(cause.kind, Kind::Adapter | Kind::Roaming | Kind::Generator)
    });
    let seen = &scene.evidence.stations[station];
    let shares = [seen.to, seen.from]
        .into_iter()
        .filter(|sent| sent.again >= FEWEST)
        .filter_map(|sent| sent.lost());
    let share = shares.reduce(f64::max).filter(|share| *share >= LOST)?;
    let waits = round_trip(scene, station).is_some_and(|median| scene.is_bloated(median, station));
    (!explained && !waits && !is_full(scene, station)).then_some(share)
}

fn round_trip(scene: &Scene<'_>, station: usize) -> Option<f64> {
    let seen = &scene.evidence.stations[station];
    seen.receiving.median_ms().or(seen.sending.median_ms())
}

/// Whether a queue that its packets pass is full: the air's, or the line's.
fn is_full(scene: &Scene<'_>, station: usize) -> bool {
    let full = |stations: &[usize], way: Way, rate: Option<BitRate>| {
        rate.is_some_and(|rate| scene.line(stations, way, rate).full >= OFTEN)
    };
    if let Some(link) = &scene.plan.stations[station].link {
        return full(&[station], Way::Down, Some(link.down)) || full(&[station], Way::Up, Some(link.up));
    }
    let Some(group) = scene.group_of(station) else {
        return false;
    };
    let look = scene.look(group, &scene.bad_bins(&[station]));
    let wan = scene
        .ap_of(group)
        .and_then(|ap| Some((scene.stations_of(&ap.name), ap.wan?)));
    look.is_some_and(|look| look.used() >= TAKEN)
        || wan.is_some_and(|(stations, wan)| full(&stations, Way::Down, wan.down) || full(&stations, Way::Up, wan.up))
}
