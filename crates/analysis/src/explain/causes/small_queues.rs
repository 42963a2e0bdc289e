//! Small queues: an upload keeps so little data below TCP that aggregates stay small.

use super::intervention::{Effort, InterventionBuilder};
use super::{Cause, Definition, Kind, is_named, severity};
use crate::explain::evidence::Bin;
use crate::explain::facts::{Direction, RunFacts};
use crate::format::{mbps, percent, short};

pub(super) const CAUSE: Definition = Definition {
    rule: Some((find, criterion)),
    what_ifs,
    changes: "TCP Small Queues of 2018 and of today, and none",
};

/// Aggregates are small below this part of what would fit.
const SMALL: f64 = 0.34;
/// Maximum queue length for this cause, in full aggregates of at most [`MAX_FRAMES`] frames.
const WAITING: f64 = 2.0;
/// Maximum number of frames of a full aggregate in the limit of the queue length.
const MAX_FRAMES: f64 = 32.0;
/// Bits of a packet on the channel: 1500 bytes, MAC header, CCMP and delimiter.
const FRAME_BITS: f64 = 1_546.0 * 8.0;
/// Minimum number of transmissions.
const MIN_TRANSMISSIONS: u64 = 100;
/// Minimum share of the data airtime. Several stations that send at once wait for each other, not for TCP.
const ALONE: f64 = 0.8;

/// Condition under which the rule names its cause.
fn criterion() -> String {
    format!(
        "A station uploaded and used {} of the data airtime or more. Its aggregates had {} or less of the frames that fit. \
         On average, at most {WAITING} times the frames that fit were queued, and at most {} packets. No line that carries \
         the upload was full.",
        percent(ALONE),
        percent(SMALL),
        WAITING * MAX_FRAMES
    )
}

fn find(facts: &RunFacts<'_>, found: &[Cause]) -> Vec<Cause> {
    if is_named(found, Kind::Server) {
        return Vec::new();
    }
    (0..facts.plan.stations.len())
        .filter_map(|station| find_for_station(facts, station, found))
        .collect()
}

fn find_for_station(facts: &RunFacts<'_>, station: usize, found: &[Cause]) -> Option<Cause> {
    let name = facts.name(station);
    let explained = found
        .iter()
        .any(|cause| cause.by.contains(&name) || cause.stations.contains(&name));
    // If the line is full, it decides how much an upload has below TCP.
    let is_line_full = || facts.full_line(station, Direction::Up).is_some();
    if explained || !facts.moves(station, Direction::Up) || is_line_full() {
        return None;
    }
    let group = facts.group_of(station)?;
    let mask = facts.busy_bins(station);
    let airtime = facts.airtime(group, &mask)?;
    let Bin { air, bytes, .. } = airtime.share(station)?.sum;
    let rate = facts.evidence.stations[station].link.up.value()?;
    if air.transmissions < MIN_TRANSMISSIONS || bytes.up < bytes.down.saturating_mul(9) {
        return None;
    }
    let fits = facts.fits(group, rate / FRAME_BITS)?;
    let (mean, waiting) = (air.mean_aggregate()?, air.mean_backlog()?);
    let alone = airtime.share(station)?.air >= ALONE;
    if !alone || mean > SMALL * fits || waiting > WAITING * fits.min(MAX_FRAMES) {
        return None;
    }
    Some(Cause {
        kind: Kind::SmallQueues,
        severity: severity(facts, [station]),
        title: format!("TCP Small Queues on {name} limits aggregation"),
        evidence: format!(
            "Average aggregate: {} frames of {} possible; {} packets queued; data occupies {} of the airtime: {} Mbit/s on a link of {} Mbit/s.",
            short(mean),
            short(fits.floor()),
            short(waiting.round()),
            percent(airtime.data),
            mbps(bytes.up as f64 * 8e3 / facts.length(&mask)),
            mbps(rate / 1e6)
        ),
        advice: "Raise the TSQ limit for this device (`sk_pacing_shift` in the driver, `tsq` in a scenario), or use a newer kernel whose Wi-Fi driver sets it."
            .to_owned(),
        stations: vec![name.clone()],
        by: vec![name],
    })
}

fn what_ifs(builder: &mut InterventionBuilder<'_>, cause: &Cause) {
    for name in &cause.by {
        let key = format!("station.{name}.tsq");
        for (value, label) in [
            ("2018", "uses TCP Small Queues as in Linux 4.16 over Wi-Fi (4 ms)"),
            ("2025", "uses TCP Small Queues as in current Linux over Wi-Fi (8 ms)"),
            ("off", "has no limit on data below TCP"),
        ] {
            builder.propose(
                Kind::SmallQueues,
                Effort::Software,
                format!("{name} {label}"),
                &[(&key, value)],
            );
        }
    }
}
