//! Upload bufferbloat: an upload fills a queue that other stations share.

use super::intervention::{CAP_PERCENT, Effort, InterventionBuilder};
use super::{Cause, Definition, Kind, is_named, list, severity, share, worst_packets, worst_symptom};
use crate::explain::facts::{ADDED_MS, BLOATED_FACTOR, BLOATED_MS, Direction, FULL_SHARE, RunFacts};
use crate::format::{mbps, percent, span};
use netburn_record::aggregate::ByteSum;

pub(super) const CAUSE: Definition = Definition {
    rule: Some((find, criterion)),
    what_ifs,
    changes: "a link whose queue holds 20 ms, a shaper with CAKE at 90 % of the link's rate (SQM), the upload capped at 80 % of the link, BBR",
};

/// Condition under which the rule names its cause.
fn criterion() -> String {
    format!(
        "The median round trip of an uploading station was {} above the idle one, and above {BLOATED_FACTOR} times the idle one. Its \
         uplink was full for {} of the time in use, or more data went up than down. An affected station shared the queue. \
         Packets of an affected station can replace the round trips: the median of their one-way delay to the server was {} \
         above the smallest one or above the idle round trip. If the access point is known, its uplink must then be full. \
         If the probes of a station show where the delay is, `line-up`, `wifi-delay` and `device` apply instead.",
        span(BLOATED_MS),
        percent(FULL_SHARE),
        span(ADDED_MS)
    )
}

fn find(facts: &RunFacts<'_>, found: &[Cause]) -> Vec<Cause> {
    if is_named(found, Kind::Server) {
        return Vec::new();
    }
    let all = 0..facts.plan.stations.len();
    let bloats = |station: usize| {
        let median = facts.evidence.stations[station].sending.median_ms();
        let median = median.filter(|median| facts.is_bloated(*median, station));
        let uploads = facts.moves(station, Direction::Up) && upwards(facts, station);
        (uploads && (median.is_some() || delays_packets(facts, station))).then_some((station, median))
    };
    let by: Vec<(usize, Option<f64>)> = all.clone().filter_map(bloats).collect();
    let of_median = |median: Option<f64>| median.unwrap_or(0.0);
    let worst = by.iter().copied();
    let Some((worst, median)) = worst.max_by(|a, b| of_median(a.1).total_cmp(&of_median(b.1))) else {
        return Vec::new();
    };
    let by: Vec<usize> = by.into_iter().map(|(station, _)| station).collect();
    let affected: Vec<usize> = all.filter(|station| waits(facts, *station, &by)).collect();
    if affected.is_empty() {
        return Vec::new();
    }
    let names = facts.names(affected.iter().copied());
    let measurement = match median {
        Some(median) => facts.round_trip(worst, median),
        None => worst_packets(facts, &affected, Direction::Up).unwrap_or_default(),
    };
    let uploaders = facts.names(by);
    let line = full_line(facts, worst);
    let measured = facts.place_of_queue(&facts.behind_the_line_of(worst));
    let place: String = line.iter().chain(&measured).map(|text| format!(" {text}")).collect();
    vec![Cause {
        kind: Kind::UploadBloat,
        severity: severity(facts, affected.iter().copied()),
        title: format!("Bufferbloat: {}'s upload fills a queue that {} {}", list(&uploaders), list(&names), share(&names)),
        evidence: format!(
            "{measurement}{place}{}",
            worst_symptom(facts, &affected)
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

/// Returns true if packets of a degraded station wait in a queue that a station's upload shares. A station on another radio
/// link shares only a full uplink, unless the access point is unknown.
fn delays_packets(facts: &RunFacts<'_>, station: usize) -> bool {
    let is_modelled = facts
        .group_of(station)
        .is_some_and(|group| facts.ap_of(group).is_some());
    (!is_modelled || full_line(facts, station).is_some())
        && facts.degraded.iter().any(|victim| {
            share_a_queue(facts, station, victim.station) && facts.packet_delay(victim.station, Direction::Up).is_some()
        })
}

/// Returns true if a station is limited by its uplink. Either its uplink is full, or most of the
/// channel's data is sent by stations.
fn upwards(facts: &RunFacts<'_>, station: usize) -> bool {
    if full_line(facts, station).is_some() {
        return true;
    }
    let Some(group) = facts.group_of(station) else {
        return !(0..facts.plan.stations.len()).any(|other| facts.moves(other, Direction::Down));
    };
    let mask = facts.busy_bins(station);
    let mut bytes = ByteSum::default();
    for member in &group.members {
        bytes.add(&facts.sum(*member, &mask).bytes);
    }
    bytes.up > bytes.down
}

/// Returns true if the station is degraded and its packets wait in the same queue.
fn waits(facts: &RunFacts<'_>, station: usize, by: &[usize]) -> bool {
    let seen = &facts.evidence.stations[station];
    let known = seen.receiving.median_ms();
    facts.degraded_station(station).is_some()
        && facts.delayed_parts(station).is_empty()
        && by.iter().any(|uploader| share_a_queue(facts, *uploader, station))
        && (facts.packet_delay(station, Direction::Up).is_some()
            || known.map_or(by.contains(&station) || facts.is_slow(station), |median| {
                facts.is_bloated(median, station)
            }))
}

/// Returns true if packets of two stations can share a queue. They have the same line, the same access
/// point, or the same channel if access points are unknown. Without any information this is assumed.
fn share_a_queue(facts: &RunFacts<'_>, one: usize, other: usize) -> bool {
    let line = |station: usize| {
        facts
            .router_of(station)
            .filter(|router| facts.plan.wan(*router).is_some())
    };
    if one == other || line(one).is_some() && line(one) == line(other) {
        return true;
    }
    let wired = |station: usize| facts.plan.stations[station].link.is_some();
    if wired(one) || wired(other) {
        return false;
    }
    match (facts.group_of(one), facts.group_of(other)) {
        (Some(one), Some(other)) => match (facts.ap_of(one), facts.ap_of(other)) {
            (Some(one), Some(other)) => one.name == other.name,
            _ => one.members == other.members,
        },
        (None, None) => true,
        _ => false,
    }
}

/// Evidence that the uplink of a station's access point, or its own, is full.
fn full_line(facts: &RunFacts<'_>, station: usize) -> Option<String> {
    facts.full_line(station, Direction::Up).map(|line| {
        format!(
            "The uplink of {} Mbit/s carried {} Mbit/s and was full for {} of the time in use.",
            mbps(line.rate.as_mbps_f64()),
            mbps(line.mbps),
            percent(line.full)
        )
    })
}

fn what_ifs(builder: &mut InterventionBuilder<'_>, cause: &Cause) {
    let uploads = cause.by.len() as u64;
    for name in &cause.by {
        let Some(station) = builder.plan.station(name) else {
            continue;
        };
        let line = builder.line_of(name);
        match (&line, &station.link) {
            (Some(line), _) => {
                builder.short_line_queue(Kind::UploadBloat, line);
                builder.sqm(Kind::UploadBloat, line);
            }
            (None, Some(link)) => {
                let of = format!("the queue of {name}'s link");
                builder.short_queue(
                    Kind::UploadBloat,
                    (&of, &format!("station.{name}.link.queue")),
                    link.up,
                    link.queue,
                );
            }
            (None, None) => {}
        }
        let rate = line.and_then(|line| line.wan.up);
        if rate.is_some() || station.link.is_none() {
            let max = rate.map(|rate| rate.as_bps() * CAP_PERCENT / 100 / uploads.max(1));
            builder.capped_up(Kind::UploadBloat, name, max);
        }
        builder.propose(
            Kind::UploadBloat,
            Effort::Software,
            format!("{name} uses BBR"),
            &[(&format!("station.{name}.cc"), "bbr")],
        );
    }
}
