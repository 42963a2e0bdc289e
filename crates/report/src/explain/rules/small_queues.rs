//! Small queues starving aggregation: an upload that keeps so little below TCP that frames go out few at a time.

use super::{named, severity};
use crate::explain::scene::Scene;
use crate::explain::{Cause, Kind};
use crate::text::figure::{mbps, percent, short};
use netburn_workload::Kind as Use;

/// Aggregates are small below this part of what would fit.
const SMALL: f64 = 0.34;
/// What waits is little when it is below so many aggregates that would fit.
const WAITING: f64 = 2.0;
/// A packet on the air: 1500 bytes, MAC header, CCMP and delimiter.
const FRAME_BITS: f64 = 1_546.0 * 8.0;
/// Fewer transmissions in the run tell nothing.
const FEWEST: u64 = 100;

pub(super) fn find(scene: &Scene<'_>, found: &[Cause]) -> Vec<Cause> {
    if named(found, Kind::Server) {
        return Vec::new();
    }
    (0..scene.plan.stations.len())
        .filter_map(|station| of(scene, station, found))
        .collect()
}

fn of(scene: &Scene<'_>, station: usize, found: &[Cause]) -> Option<Cause> {
    let name = scene.name(station);
    let explained = found
        .iter()
        .any(|cause| cause.by.contains(&name) || cause.stations.contains(&name));
    if explained || !scene.moves(station, Use::Upload) {
        return None;
    }
    let group = scene.group_of(station)?;
    let mask = scene.busy_bins(station);
    let look = scene.look(group, &mask)?;
    let sum = look.of(station)?.sum;
    let rate = scene.evidence.stations[station].link.up.value()?;
    if sum.transmissions < FEWEST || sum.looks == 0 || sum.bytes_up < sum.bytes_down.saturating_mul(9) {
        return None;
    }
    let fits = scene.fits(group, rate / FRAME_BITS)?;
    let mean = sum.mpdus as f64 / sum.transmissions as f64;
    let waiting = sum.backlog as f64 / sum.looks as f64;
    // Several that send at once wait for each other, not for TCP.
    let alone = look.of(station)?.air >= 0.8;
    if !alone || mean > SMALL * fits || waiting > WAITING * fits.min(32.0) {
        return None;
    }
    Some(Cause {
        kind: Kind::SmallQueues,
        severity: severity(scene, [station]),
        title: format!("Too little waits below {name}'s TCP for frames to be gathered"),
        figure: format!(
            "Its aggregates hold {} frames of {} that fit, {} packets wait on average, and data takes only {} of the air: {} Mbit/s on a link \
             of {}.",
            short(mean),
            short(fits.floor()),
            short(waiting.round()),
            percent(look.data),
            mbps(sum.bytes_up as f64 * 8e3 / scene.length(&mask)),
            mbps(rate / 1e6)
        ),
        advice: "Let more wait there: a larger limit of TCP Small Queues for this device (`sk_pacing_shift` in its driver; `tsq` here), or a newer \
                 kernel, which Wi-Fi drivers tell how much they need."
            .to_owned(),
        stations: vec![name.clone()],
        by: vec![name],
    })
}
