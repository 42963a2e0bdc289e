//! Slow rate: a station's frames have a rate far below what its signal permits, and a workload needs more.

use super::intervention::InterventionBuilder;
use super::weak_signal::available_share;
use super::{Cause, Definition, Kind, is_named_for, severity, worst_symptom};
use crate::explain::facts::{BUSY_CHANNEL, Direction, FAR, MARGIN_DB, MIN_BINS, OF_RATE, RunFacts, SLOW_SHARE};
use crate::format::{mbps, percent};

pub(super) const CAUSE: Definition = Definition {
    rule: Some((find, criterion)),
    what_ifs,
    changes: "the station on another radio of its access point",
};

/// Remedies, the easiest first.
pub(super) const REMEDY: &str = "Restart the device and the access point, or let the device join again. If that does not help, set \
     a higher minimum data rate in the access point (such as 12 or 24 Mbit/s), and update its firmware and the driver of the \
     device. A better place or a faster line does not help.";

/// Condition under which the rule names its cause.
fn criterion() -> String {
    format!(
        "In {} or more of the seconds in which the station moved data, the rate of its frames was at most 1/{FAR} of the rate \
         that its signal permits. There were at least {MIN_BINS} such seconds. The permitted rate is that of a signal {MARGIN_DB} dB weaker, with the \
         standard, the streams and the width of the station's own frames. The station or an observed access point reported \
         the rate and the signal. {} of the rate was less than a workload with a missed goal needs. If the channel was busy for {} \
         of the time or more, a fair share of it counts, unless a cause above affects the station.",
        percent(SLOW_SHARE),
        percent(OF_RATE),
        percent(BUSY_CHANNEL)
    )
}

fn find(facts: &RunFacts<'_>, found: &[Cause]) -> Vec<Cause> {
    let stations = 0..facts.plan.stations.len();
    stations
        .filter_map(|station| find_for_station(facts, station, found))
        .collect()
}

fn find_for_station(facts: &RunFacts<'_>, station: usize, found: &[Cause]) -> Option<Cause> {
    let degraded_station = facts.degraded_station(station)?;
    let group = facts.group_of(station)?;
    let name = facts.name(station);
    // Link rates are meaningless during interruptions.
    if is_named_for(found, Kind::Roaming, &name) {
        return None;
    }
    let affected = found.iter().any(|cause| cause.stations.contains(&name));
    let share = if affected {
        1.0
    } else {
        available_share(facts, group, station)
    };
    let needs = degraded_station
        .failed
        .iter()
        .filter_map(|workload| facts.need(station, *workload));
    let lacking = needs.filter_map(|need| {
        let slow = facts.slow_rate(station, need.direction)?;
        (need.mbps > slow.used / 1e6 * OF_RATE * share).then_some((need, slow))
    });
    let (need, slow) = lacking.max_by(|(a, _), (b, _)| a.mbps.total_cmp(&b.mbps))?;
    let direction = match need.direction {
        Direction::Down => "to",
        Direction::Up => "from",
    };
    let signal = slow.signal;
    let who = if slow.is_observed {
        "The access point reports"
    } else {
        "netburn measured"
    };
    Some(Cause {
        kind: Kind::SlowRate,
        severity: severity(facts, [station]),
        title: title(&name),
        evidence: format!(
            "{who} a mean rate of {} Mbit/s for the frames {direction} {name}, at a signal of {signal} or more. Even {MARGIN_DB} dB less \
             permits {} Mbit/s. {}.{}",
            mbps(slow.used / 1e6),
            mbps(slow.permitted / 1e6),
            need.why,
            worst_symptom(facts, &[station])
        ),
        advice: REMEDY.to_owned(),
        stations: vec![name.clone()],
        by: vec![name],
    })
}

pub(super) fn title(name: &str) -> String {
    format!("The link of {name} is far slower than its signal permits")
}

fn what_ifs(builder: &mut InterventionBuilder<'_>, cause: &Cause) {
    for name in &cause.by {
        builder.other_radio(Kind::SlowRate, name);
    }
}
