//! Weak signal: a station's link rate is too low for a workload, even with all airtime.

use super::{is_named_for, severity, worst_symptom};
use crate::explain::analysis::{Analysis, Direction, OF_RATE};
use crate::explain::{Cause, Kind};
use crate::format::{mbps, percent};
use netburn_scenario::Environment;

/// A signal that is not weak, in dBm. Wi-Fi networks for voice and video are planned for −67 dBm at the edge of a cell
/// (Cisco, *Enterprise Mobility Design Guide*).
const WEAK_DBM: f64 = -67.0;

/// Condition under which the rule names its cause.
pub(super) fn criterion() -> String {
    format!(
        "A station's mean signal was {WEAK_DBM} dBm or less. {} of its link's mean rate was less than the rate that a \
         workload with a missed goal needs.",
        percent(OF_RATE)
    )
}

pub(super) fn find(analysis: &Analysis<'_>, found: &[Cause]) -> Vec<Cause> {
    if !matches!(
        analysis.environment,
        Environment::Simulate | Environment::Lab | Environment::Fleet
    ) {
        return Vec::new();
    }
    let stations = 0..analysis.plan.stations.len();
    stations
        .filter_map(|station| find_for_station(analysis, station, found))
        .collect()
}

fn find_for_station(analysis: &Analysis<'_>, station: usize, found: &[Cause]) -> Option<Cause> {
    let degraded_station = analysis.degraded_station(station)?;
    analysis.group_of(station)?;
    let name = analysis.name(station);
    let link = &analysis.evidence.stations[station].link;
    let signal = link.signal_dbm().filter(|signal| *signal <= WEAK_DBM)?;
    // Link rates are meaningless during interruptions.
    if is_named_for(found, Kind::Roaming, &name) {
        return None;
    }
    let carries = |direction: Direction| {
        let rate = if direction == Direction::Down {
            link.down.value()
        } else {
            link.up.value()
        };
        rate.map(|rate| (rate / 1e6, rate / 1e6 * OF_RATE))
    };
    let needs = degraded_station
        .failed
        .iter()
        .filter_map(|workload| analysis.need(station, *workload));
    let lacking = needs.filter_map(|need| {
        let (rate, carries) = carries(need.direction)?;
        (need.mbps > carries).then_some((need, rate, carries))
    });
    let (need, rate, carries) = lacking.max_by(|(a, ..), (b, ..)| a.mbps.total_cmp(&b.mbps))?;
    Some(Cause {
        kind: Kind::WeakSignal,
        severity: severity(analysis, [station]),
        title: format!("{name}'s signal is too weak for its workloads"),
        evidence: format!(
            "At {signal:.0} dBm its mean link rate is {} Mbit/s, which carries about {} Mbit/s of content: {}.{}",
            mbps(rate),
            mbps(carries),
            need.why,
            worst_symptom(analysis, &[station])
        ),
        advice: format!(
            "Move {name} nearer to the access point, or add a wired access point or a radio in a lower band. Other queues or a faster WAN link do not help."
        ),
        stations: vec![name.clone()],
        by: vec![name],
    })
}
