//! Upload bufferbloat: an upload fills a queue that other stations share.

use super::{is_named, list, severity, share, worst_symptom};
use crate::explain::analysis::{Analysis, BLOATED_FACTOR, BLOATED_MS, Direction, FULL_SHARE};
use crate::explain::{Cause, Kind};
use crate::format::{mbps, percent, span};
use netburn_record::aggregate::ByteSum;
use netburn_workload::Kind as WorkloadKind;

/// Condition under which the rule names its cause.
pub(super) fn criterion() -> String {
    format!(
        "The median round trip of an uploading station was above {} and above {BLOATED_FACTOR} times the idle one. Its \
         uplink was full for {} of the time in use, or more data went up than down. An affected station shared the queue. \
         If the probes of a station show where the delay is, `line-up`, `wifi-delay` and `device` apply instead.",
        span(BLOATED_MS),
        percent(FULL_SHARE)
    )
}

pub(super) fn find(analysis: &Analysis<'_>, found: &[Cause]) -> Vec<Cause> {
    if is_named(found, Kind::Server) {
        return Vec::new();
    }
    let all = 0..analysis.plan.stations.len();
    let bloats = |station: usize| {
        let median = analysis.evidence.stations[station].sending.median_ms()?;
        let uploads = analysis.moves(station, WorkloadKind::Upload) && analysis.is_bloated(median, station);
        (uploads && upwards(analysis, station)).then_some((station, median))
    };
    let by: Vec<(usize, f64)> = all.clone().filter_map(bloats).collect();
    let Some((worst, median)) = by.iter().copied().max_by(|a, b| a.1.total_cmp(&b.1)) else {
        return Vec::new();
    };
    let affected: Vec<usize> = all.filter(|station| waits(analysis, *station, &by)).collect();
    if affected.is_empty() {
        return Vec::new();
    }
    let names = analysis.names(affected.iter().copied());
    let uploaders = analysis.names(by.iter().map(|(station, _)| *station));
    let line = full_line(analysis, worst);
    let measured = analysis.place_of_queue(&analysis.behind_the_line_of(worst));
    let place: String = line.iter().chain(&measured).map(|text| format!(" {text}")).collect();
    vec![Cause {
        kind: Kind::UploadBloat,
        severity: severity(analysis, affected.iter().copied()),
        title: format!("Bufferbloat: {}'s upload fills a queue that {} {}", list(&uploaders), list(&names), share(&names)),
        evidence: format!(
            "{}{place}{}",
            analysis.round_trip(worst, median),
            worst_symptom(analysis, &affected)
        ),
        advice: match line {
            Some(_) => "Shape the upload to slightly below the link rate (SQM with FQ-CoDel or CAKE on the router), so that the queue forms in the router, where it can be managed."
                .to_owned(),
            None => "Limit the sender's own queue (FQ-CoDel, TCP Small Queues) or the upload's rate.".to_owned(),
        },
        stations: names,
        by: uploaders,
    }]
}

/// Returns true if a station is limited by its uplink. Either its uplink is full, or most of the
/// channel's data is sent by stations.
fn upwards(analysis: &Analysis<'_>, station: usize) -> bool {
    if full_line(analysis, station).is_some() {
        return true;
    }
    let Some(group) = analysis.group_of(station) else {
        return !(0..analysis.plan.stations.len()).any(|other| analysis.moves(other, WorkloadKind::Download));
    };
    let mask = analysis.busy_bins(station);
    let mut bytes = ByteSum::default();
    for member in &group.members {
        bytes.add(&analysis.sum(*member, &mask).bytes);
    }
    bytes.up > bytes.down
}

/// Returns true if the station is degraded and its packets wait in the same queue.
fn waits(analysis: &Analysis<'_>, station: usize, by: &[(usize, f64)]) -> bool {
    let seen = &analysis.evidence.stations[station];
    let known = seen.receiving.median_ms();
    analysis.degraded_station(station).is_some()
        && analysis.delayed_parts(station).is_empty()
        && by
            .iter()
            .any(|(uploader, _)| share_a_queue(analysis, *uploader, station))
        && known.map_or(
            by.iter().any(|(uploader, _)| *uploader == station) || analysis.is_slow(station),
            |median| analysis.is_bloated(median, station),
        )
}

/// Returns true if packets of two stations can share a queue. They have the same access point, or
/// the same channel if access points are unknown. Without any information this is assumed.
fn share_a_queue(analysis: &Analysis<'_>, one: usize, other: usize) -> bool {
    let wired = |station: usize| analysis.plan.stations[station].link.is_some();
    if one == other || wired(one) || wired(other) {
        return one == other;
    }
    match (analysis.group_of(one), analysis.group_of(other)) {
        (Some(one), Some(other)) => match (analysis.ap_of(one), analysis.ap_of(other)) {
            (Some(one), Some(other)) => one.name == other.name,
            _ => one.members == other.members,
        },
        (None, None) => true,
        _ => false,
    }
}

/// Evidence that the uplink of a station's access point, or its own, is full.
fn full_line(analysis: &Analysis<'_>, station: usize) -> Option<String> {
    let (stations, rate) = match analysis.group_of(station) {
        Some(group) => {
            let ap = analysis.ap_of(group)?;
            (analysis.stations_of(&ap.name), ap.wan.as_ref()?.up?)
        }
        None => {
            let link = analysis.plan.stations[station].link.as_ref()?;
            (vec![station], link.up)
        }
    };
    let line = analysis.line(&stations, Direction::Up, rate);
    (line.full >= FULL_SHARE).then(|| {
        format!(
            "The uplink of {} Mbit/s carried {} Mbit/s and was full for {} of the time in use.",
            mbps(rate.as_mbps_f64()),
            mbps(line.mbps),
            percent(line.full)
        )
    })
}
