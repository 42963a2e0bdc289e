//! Crowded channel: other networks use much of it, and little is idle.

use super::{is_named_for, list, severity, worst_symptom};
use crate::explain::analysis::{Analysis, Group};
use crate::explain::{Cause, Kind};
use crate::format::percent;
use netburn_scenario::Environment;

/// Minimum share of other networks.
const OTHERS: f64 = 0.3;
/// A channel that is busy for this share of the time has no room left.
const CROWDED: f64 = 0.9;
/// The same for a driver's survey, which does not include interframe spaces and backoff.
const SURVEYED: f64 = 0.8;

/// Condition under which the rule names its cause.
pub(super) fn criterion() -> String {
    format!(
        "Other networks used {} of the channel or more. With the stations' own traffic, the channel was busy for {} of \
         the time or more; on a fleet, for {} by the drivers' surveys. `slow-cochannel` does not explain it.",
        percent(OTHERS),
        percent(CROWDED),
        percent(SURVEYED)
    )
}

pub(super) fn find(analysis: &Analysis<'_>, found: &[Cause]) -> Vec<Cause> {
    analysis
        .groups
        .iter()
        .filter_map(|group| find_in_group(analysis, group, found))
        .collect()
}

fn find_in_group(analysis: &Analysis<'_>, group: &Group, found: &[Cause]) -> Option<Cause> {
    // Stations that a slow station of another network affects are explained already.
    let explained = |station: &usize| is_named_for(found, Kind::SlowCochannel, &analysis.name(*station));
    let mut degraded = analysis.degraded_in(group);
    degraded.retain(|station| !explained(station));
    if degraded.is_empty() {
        return None;
    }
    let mask = analysis.bad_bins(&degraded);
    let (others, evidence) = match analysis.environment {
        Environment::Fleet => surveyed(analysis, group)?,
        _ => {
            let airtime = analysis.airtime(group, &mask)?;
            if airtime.used() < CROWDED {
                return None;
            }
            let own = match &group.members[..] {
                [one] => analysis.name(*one),
                _ => "these stations".to_owned(),
            };
            let others = (airtime.others + airtime.peers).min(1.0);
            let evidence = format!(
                "Other networks used {} of the channel, {own} {} (including overhead); {} was idle.",
                percent(others),
                percent((airtime.data + airtime.around).min(1.0 - others)),
                percent((1.0 - airtime.used()).max(0.0))
            );
            (others, evidence)
        }
    };
    if others < OTHERS {
        return None;
    }
    let names = analysis.names(degraded.iter().copied());
    let place = group.radio.clone().unwrap_or_else(|| "the channel".to_owned());
    Some(Cause {
        kind: Kind::FullBand,
        severity: severity(analysis, degraded.iter().copied()),
        title: format!("Other networks use too much of {place} for {}", list(&names)),
        evidence: format!("{evidence}{}", worst_symptom(analysis, &degraded)),
        advice: "Use another channel or band, or move the most demanding stations to another radio. A wider channel helps only if its other part is less busy."
            .to_owned(),
        stations: names,
        by: Vec::new(),
    })
}

/// Share of other networks according to the drivers' surveys, with the evidence.
fn surveyed(analysis: &Analysis<'_>, group: &Group) -> Option<(f64, String)> {
    let others = analysis.others(group, &[]);
    let loaded = group
        .members
        .iter()
        .filter_map(|s| analysis.evidence.stations[*s].link.busy.value());
    let loaded = loaded.fold(0.0, f64::max) / 1e6;
    (loaded >= SURVEYED).then(|| {
        let evidence = format!(
            "The channel was {} busy before the load and {} during it.",
            percent(others),
            percent(loaded)
        );
        (others, evidence)
    })
}
