//! Download bufferbloat: a download fills a queue that other stations share.

use super::intervention::{CAP_PERCENT, InterventionBuilder};
use super::{Cause, Definition, Kind, in_each_group, is_named, list, severity, share, worst_packets, worst_symptom};
use crate::explain::facts::{
    ADDED_MS, BLOATED_FACTOR, BLOATED_MS, BUSY_CHANNEL, Direction, FULL, FULL_SHARE, Group, RunFacts,
};
use crate::format::{mbps, percent, span};
use netburn_medium::queue::{QueueKind, Sharing};

pub(super) const CAUSE: Definition = Definition {
    rule: Some((find, criterion)),
    what_ifs,
    changes: "a link whose queue holds 20 ms, a shaper with CAKE at 90 % of the link's rate (SQM), a fair queue (airtime), the download on another radio or capped",
};

/// Condition under which the rule names its cause.
fn criterion() -> String {
    format!(
        "The median round trip of a downloading station was {} above the idle one, and above {BLOATED_FACTOR} times the idle one. The \
         downlink was full for {} of the time in use, or the channel was busy for {} of the time or more. No cause above \
         explains it. Packets of an affected station can replace the round trips: the median of their one-way delay from the \
         server was {} above the smallest one or above the idle round trip. If the probes of a station show where the delay is, `line-down` and `wifi-delay` apply instead.",
        span(BLOATED_MS),
        percent(FULL_SHARE),
        percent(BUSY_CHANNEL),
        span(ADDED_MS)
    )
}

fn find(facts: &RunFacts<'_>, found: &[Cause]) -> Vec<Cause> {
    if is_named(found, Kind::Server) {
        return Vec::new();
    }
    in_each_group(facts, |group| find_in_group(facts, group, found))
}

fn find_in_group(facts: &RunFacts<'_>, group: &Group, found: &[Cause]) -> Option<Cause> {
    let has_delayed_packets = |station: &usize| {
        facts.degraded_station(*station).is_some() && facts.packet_delay(*station, Direction::Down).is_some()
    };
    let delays_packets = group.members.iter().any(has_delayed_packets);
    let bloats = |station: &usize| {
        let median = facts.evidence.stations[*station].receiving.median_ms();
        let median = median.filter(|median| facts.is_bloated(*median, *station));
        let downloads = facts.moves(*station, Direction::Down) && (median.is_some() || delays_packets);
        downloads.then_some((*station, median))
    };
    let by: Vec<(usize, Option<f64>)> = group.members.iter().filter_map(bloats).collect();
    let of_median = |median: Option<f64>| median.unwrap_or(0.0);
    let (worst, median) = by
        .iter()
        .copied()
        .max_by(|a, b| of_median(a.1).total_cmp(&of_median(b.1)))?;
    let explained = |station: usize| {
        let name = facts.name(station);
        let same = |cause: &&Cause| matches!(cause.kind, Kind::SlowNeighbour | Kind::UploadBloat | Kind::Adapter);
        found
            .iter()
            .filter(same)
            .any(|cause| cause.stations.contains(&name) || cause.by.contains(&name))
    };
    let waits = |station: &usize| {
        let median = facts.evidence.stations[*station].receiving.median_ms();
        facts.degraded_station(*station).is_some()
            && !explained(*station)
            && facts.delayed_parts(*station).is_empty()
            && (median.is_some_and(|median| facts.is_bloated(median, *station)) || has_delayed_packets(station))
    };
    let affected: Vec<usize> = group.members.iter().copied().filter(|station| waits(station)).collect();
    if affected.is_empty() || by.iter().all(|(station, _)| explained(*station)) {
        return None;
    }
    let place = place(facts, group, &affected)?;
    let measured = facts.place_of_queue(&group.members);
    let measured = measured.map_or_else(String::new, |text| format!(" {text}"));
    let names = facts.names(affected.iter().copied());
    let measurement = match median {
        Some(median) => facts.round_trip(worst, median),
        None => worst_packets(facts, &affected, Direction::Down).unwrap_or_default(),
    };
    let downloaders = facts.names(by.iter().map(|(station, _)| *station));
    Some(Cause {
        kind: Kind::DownloadBloat,
        severity: severity(facts, affected.iter().copied()),
        title: format!(
            "Bufferbloat: {}'s download fills a queue that {} {}",
            list(&downloaders),
            list(&names),
            share(&names)
        ),
        evidence: format!(
            "{measurement} {}{measured}{}",
            place.evidence,
            worst_symptom(facts, &affected)
        ),
        advice: place.advice,
        stations: names,
        by: downloaders,
    })
}

/// Location of the queue.
struct Place {
    evidence: String,
    advice: String,
}

fn place(facts: &RunFacts<'_>, group: &Group, affected: &[usize]) -> Option<Place> {
    let router = group.members.first().and_then(|station| facts.router_of(*station));
    if let Some((router, capacity)) =
        router.and_then(|router| Some((router, facts.plan.capacity(router, Direction::Down)?)))
    {
        let line = facts.line(&facts.behind(router), Direction::Down, &capacity, FULL);
        if line.full >= FULL_SHARE {
            return Some(Place {
                evidence: format!(
                    "The downlink of {} Mbit/s carried {} Mbit/s and was full for {} of the time in use.",
                    mbps(line.rate.as_mbps_f64()),
                    mbps(line.mbps),
                    percent(line.full)
                ),
                advice: "Shape downloads to slightly below the link rate (SQM with FQ-CoDel or CAKE on the router), so that the queue forms in the router, where it can be managed."
                    .to_owned(),
            });
        }
    }
    let airtime = facts
        .airtime(group, &facts.bad_bins(affected))
        .filter(|airtime| airtime.used() >= BUSY_CHANNEL)?;
    Some(Place {
        evidence: format!(
            "The channel was busy for {} of the time.",
            percent(airtime.used().min(1.0))
        ),
        advice: advice(facts.ap_of(group).map(|ap| ap.queue)),
    })
}

/// Advice if the queue is in the access point. `queue` is its discipline; `None` if it is unknown.
fn advice(queue: Option<QueueKind>) -> String {
    let Some(queue) = queue.map(QueueKind::properties) else {
        return "Use an access point with a queue for each flow (FQ-CoDel, as in mac80211), or limit the download's rate.".to_owned();
    };
    let shared = match queue.sharing {
        Sharing::All => "all flows",
        Sharing::Station => "all flows of a station",
        Sharing::Flow | Sharing::StationFlow => {
            let limit = if queue.shares_airtime {
                "`aql`"
            } else {
                "`queue = \"airtime\"` with `aql`"
            };
            return format!(
                "The access point already has a queue for each flow. The remaining delay is in its hardware queue: limit it ({limit})."
            );
        }
    };
    format!(
        "The access point has one queue for {shared} (`{}`). Use a queue for each flow (`queue = \"airtime\"` or `fq-codel`).",
        queue.name
    )
}

fn what_ifs(builder: &mut InterventionBuilder<'_>, cause: &Cause) {
    for name in &cause.by {
        let at_line = builder.line_of(name);
        let line = at_line.as_ref().and_then(|line| line.wan.down);
        if let Some(at_line) = &at_line {
            builder.sqm(Kind::DownloadBloat, at_line);
        }
        // The rest is about Wi-Fi.
        let Some((ap, _)) = builder.place(name) else { continue };
        builder.queue(Kind::DownloadBloat, ap);
        builder.other_radio(Kind::DownloadBloat, name);
        let share = line.map(|rate| rate.as_bps() * CAP_PERCENT / 100 / cause.by.len().max(1) as u64);
        builder.capped(Kind::DownloadBloat, name, share);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use netburn_medium::queue::Place;

    #[test]
    fn the_advice_matches_the_queue_discipline() {
        for queue in QueueKind::all_on(Place::Radio) {
            let shared = !queue.properties().sharing.is_by_flow();
            let advice = advice(Some(queue));
            assert_eq!(advice.contains("Use a queue for each flow"), shared, "{advice}");
            assert_eq!(
                advice.contains("already has a queue for each flow"),
                !shared,
                "{advice}"
            );
        }
    }
}
