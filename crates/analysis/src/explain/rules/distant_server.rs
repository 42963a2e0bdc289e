//! Distant server: the idle round trips of an operation already take most of its goal.

use super::{list, severity, worst_symptom};
use crate::explain::analysis::Analysis;
use crate::explain::{Cause, Kind};
use crate::format::{percent, span};
use netburn_workload::ProbeTarget;

/// Minimum share of the goal's time that round trips take; the rest is for the data.
const MIN_SHARE: f64 = 0.7;
/// Minimum idle round-trip time, in ms; shorter ones occur within a city.
const NEAR_MS: f64 = 20.0;

/// Condition under which the rule names its cause.
pub(super) fn criterion() -> String {
    format!(
        "The idle round trip was {} or more. The round trips that an operation needs took {} or more of the time that its \
         goal allows.",
        span(NEAR_MS),
        percent(MIN_SHARE)
    )
}

pub(super) fn find(analysis: &Analysis<'_>, _: &[Cause]) -> Vec<Cause> {
    let far: Vec<(usize, String)> = (0..analysis.plan.stations.len())
        .filter_map(|station| Some((station, far(analysis, station)?)))
        .collect();
    let Some((first, why)) = far.first() else {
        return Vec::new();
    };
    let stations: Vec<usize> = far.iter().map(|(station, _)| *station).collect();
    let names = analysis.names(stations.iter().copied());
    vec![Cause {
        kind: Kind::DistantServer,
        severity: severity(analysis, stations.iter().copied()),
        title: format!("The round-trip time to the server is too long for {}", list(&names)),
        evidence: format!(
            "The idle round-trip time of {} is {}: {why}.{}",
            analysis.name(*first),
            span(analysis.idle_ms(*first)),
            worst_symptom(analysis, &stations)
        ),
        advice: "A faster link or another queue does not shorten it. Use a nearer server (a mirror, a CDN) or fewer round trips (persistent connections, HTTP/2, smaller objects)."
            .to_owned(),
        stations: names,
        by: Vec::new(),
    }]
}

/// Text about a station's round trips, if they take most of the time of a missed goal.
fn far(analysis: &Analysis<'_>, station: usize) -> Option<String> {
    let idle = analysis.idle_ms(station);
    let failed = &analysis.degraded_station(station)?.failed;
    if idle < NEAR_MS {
        return None;
    }
    // The way to the access point is not the distance to the server.
    let is_far = |workload: &&usize| {
        let planned = analysis.plan.stations[station].workloads.get(**workload);
        planned.is_some_and(|planned| planned.config.target() != Some(ProbeTarget::Near))
    };
    let each = failed.iter().filter(is_far).filter_map(|workload| {
        let (count, limit) = analysis.round_trips(station, *workload)?;
        let name = &analysis.plan.stations[station].workloads[*workload].name;
        (f64::from(count) * idle >= MIN_SHARE * limit).then(|| match count {
            1 => format!("{name} allows {}", span(limit)),
            _ => format!(
                "{name} needs {count} round trips ({}) and allows {}",
                span(f64::from(count) * idle),
                span(limit)
            ),
        })
    });
    each.into_iter().next()
}
