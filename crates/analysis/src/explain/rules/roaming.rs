//! Roaming: operations are late around the interruptions by roams.

use super::severity;
use crate::explain::analysis::Analysis;
use crate::explain::{Cause, Kind};
use crate::format::{percent, span};

/// Minimum interruption, in ns. Packets that wait at the old access point are lost. TCP may send the last of them again
/// only after its timeout of 200 ms (RFC 6298), so even a short gap delays an operation noticeably.
const SHORT: u64 = 20_000_000;
/// Time after an interruption in which operations may still be late, in ns, because a queue has to
/// drain.
const AFTER: i64 = 2_000_000_000;
/// Minimum share of the late operations and stalls that are around interruptions.
const MIN_SHARE: f64 = 0.3;

/// Condition under which the rule names its cause.
pub(super) fn criterion() -> String {
    format!(
        "A station had gaps of {} or more while it roamed. {} or more of its late operations were around these gaps, up to \
         {} after them.",
        span(SHORT as f64 / 1e6),
        percent(MIN_SHARE),
        span(AFTER as f64 / 1e6)
    )
}

pub(super) fn find(analysis: &Analysis<'_>, _: &[Cause]) -> Vec<Cause> {
    (0..analysis.plan.stations.len())
        .filter_map(|station| find_for_station(analysis, station))
        .collect()
}

fn find_for_station(analysis: &Analysis<'_>, station: usize) -> Option<Cause> {
    let seen = &analysis.evidence.stations[station];
    let gaps: Vec<(i64, u64)> = seen
        .roams
        .iter()
        .copied()
        .filter(|(_, length)| *length >= SHORT)
        .collect();
    let longest = gaps.iter().map(|(_, length)| *length).max()?;
    analysis.degraded_station(station)?;
    let around = |(from, to): &&(i64, i64)| {
        gaps.iter().any(|(at, length)| {
            let end = at.saturating_add_unsigned(*length).saturating_add(AFTER);
            *from <= end && to >= at
        })
    };
    let late = seen.waits.iter().filter(around).count();
    if late == 0 || (late as f64) < MIN_SHARE * seen.waits.len() as f64 {
        return None;
    }
    let name = analysis.name(station);
    let moves = match gaps.len() {
        1 => "once".to_owned(),
        2 => "twice".to_owned(),
        n => format!("{n} times"),
    };
    Some(Cause {
        kind: Kind::Roaming,
        severity: severity(analysis, [station]),
        title: format!("Roaming interrupts {name}"),
        evidence: format!(
            "{name} roamed {moves}, with gaps of up to {}; {late} of {} late operations and stalls ({}) were around them.",
            span(longest as f64 / 1e6),
            seen.waits.len(),
            percent(late as f64 / seen.waits.len() as f64)
        ),
        advice: "Fast transition (802.11r), neighbour reports (802.11k) and transition requests (802.11v) shorten the gap. A lower transmit power of the access points reduces needless roams."
            .to_owned(),
        stations: vec![name.clone()],
        by: Vec::new(),
    })
}
