//! Roaming: operations are late around roams and during scans.

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
        "A station had gaps of {} or more while it roamed, or scanned other channels. {} or more of its late operations were \
         during scans or around these gaps, up to {} after them.",
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
    if gaps.is_empty() && seen.scans.is_empty() {
        return None;
    }
    analysis.degraded_station(station)?;
    let spans = gaps.iter().map(|(at, length)| (*at, *length, AFTER));
    let spans: Vec<(i64, i64)> = spans
        .chain(seen.scans.iter().map(|(at, length)| (*at, *length, 0)))
        .map(|(at, length, after)| (at, at.saturating_add_unsigned(length).saturating_add(after)))
        .collect();
    let around = |(from, to): &&(i64, i64)| spans.iter().any(|(at, end)| from <= end && to >= at);
    let late = seen.waits.iter().filter(around).count();
    if late == 0 || (late as f64) < MIN_SHARE * seen.waits.len() as f64 {
        return None;
    }
    let name = analysis.name(station);
    let mut happened = Vec::new();
    if let Some(longest) = gaps.iter().map(|(_, length)| *length).max() {
        let gap = span(longest as f64 / 1e6);
        happened.push(format!("roamed {}, with gaps of up to {gap}", times(gaps.len())));
    }
    if let Some(longest) = seen.scans.iter().map(|(_, length)| *length).max() {
        let scan = span(longest as f64 / 1e6);
        happened.push(format!("scanned {} for up to {scan}", times(seen.scans.len())));
    }
    Some(Cause {
        kind: Kind::Roaming,
        severity: severity(analysis, [station]),
        title: if gaps.is_empty() {
            format!("Scans interrupt {name}")
        } else {
            format!("Roaming interrupts {name}")
        },
        evidence: format!(
            "{name} {}; {late} of {} late operations and stalls ({}) were near these times.",
            happened.join(", and "),
            seen.waits.len(),
            percent(late as f64 / seen.waits.len() as f64)
        ),
        advice: "Fast transition (802.11r) shortens the gap, neighbour reports (802.11k) and transition requests (802.11v) shorten scans. A lower transmit power of the access points reduces needless roams."
            .to_owned(),
        stations: vec![name.clone()],
        by: Vec::new(),
    })
}

fn times(count: usize) -> String {
    match count {
        1 => "once".to_owned(),
        2 => "twice".to_owned(),
        n => format!("{n} times"),
    }
}
