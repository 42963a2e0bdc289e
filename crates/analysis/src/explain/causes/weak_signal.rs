//! Weak signal: a station's link rate is too low for a workload, with all airtime or with a fair share of it.

use super::intervention::InterventionBuilder;
use super::{Cause, Definition, Kind, is_named_for, severity, worst_symptom};
use crate::explain::facts::{BUSY_CHANNEL, Direction, Group, OF_RATE, RunFacts};
use crate::format::{mbps, percent};
use netburn_scenario::Environment;

pub(super) const CAUSE: Definition = Definition {
    rule: Some((find, criterion)),
    what_ifs,
    changes: "the station nearer, or on another radio of its access point",
};

/// A signal that is not weak, in dBm. Wi-Fi networks for voice and video are planned for −67 dBm at the edge of a cell
/// (Cisco, *Enterprise Mobility Design Guide*).
const WEAK_DBM: f64 = -67.0;

/// Condition under which the rule names its cause.
fn criterion() -> String {
    format!(
        "A station's mean signal was {WEAK_DBM} dBm or less. {} of its link's mean rate was less than the rate that a \
         workload with a missed goal needs. Or it was enough with all of the airtime but not with a fair share, the channel \
         was busy for {} of the time or more, and no cause above affects the station. Its cause is not `slow-rate`.",
        percent(OF_RATE),
        percent(BUSY_CHANNEL)
    )
}

fn find(facts: &RunFacts<'_>, found: &[Cause]) -> Vec<Cause> {
    if !matches!(
        facts.environment,
        Environment::Simulate | Environment::Lab | Environment::Fleet
    ) {
        return Vec::new();
    }
    let stations = 0..facts.plan.stations.len();
    stations
        .filter_map(|station| find_for_station(facts, station, found))
        .collect()
}

fn find_for_station(facts: &RunFacts<'_>, station: usize, found: &[Cause]) -> Option<Cause> {
    let degraded_station = facts.degraded_station(station)?;
    let group = facts.group_of(station)?;
    let name = facts.name(station);
    let link = &facts.evidence.stations[station].link;
    let signal = link.signal_dbm().filter(|signal| *signal <= WEAK_DBM)?;
    // Link rates are meaningless during interruptions. With a slow rate a better signal does not help.
    if [Kind::Roaming, Kind::SlowRate]
        .into_iter()
        .any(|kind| is_named_for(found, kind, &name))
    {
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
    // Another cause may be the reason for which the channel is busy.
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
        let (rate, carries) = carries(need.direction)?;
        (need.mbps > carries * share).then_some((need, rate, carries))
    });
    let (need, rate, carries) = lacking.max_by(|(a, ..), (b, ..)| a.mbps.total_cmp(&b.mbps))?;
    let (shared, advice) = if need.mbps > carries {
        (String::new(), "Other queues or a faster WAN link do not help.")
    } else {
        let shared = format!(
            " with all of the airtime, and {} Mbit/s with a fair share ({} of the time)",
            mbps(carries * share),
            percent(share)
        );
        let advice = "Less traffic of the other stations also helps. A faster WAN link does not help.";
        (shared, advice)
    };
    Some(Cause {
        kind: Kind::WeakSignal,
        severity: severity(facts, [station]),
        title: format!("{name}'s signal is too weak for its workloads"),
        evidence: format!(
            "At {signal:.0} dBm its mean link rate is {} Mbit/s, which carries about {} Mbit/s of content{shared}: {}.{}",
            mbps(rate),
            mbps(carries),
            need.why,
            worst_symptom(facts, &[station])
        ),
        advice: format!(
            "Move {name} nearer to the access point, or add a wired access point or a radio in a lower band. {advice}"
        ),
        stations: vec![name.clone()],
        by: vec![name],
    })
}

/// Share of the time that is available to a station's data: all of it, or a fair share if the channel was busy. The overhead
/// of the transmissions is part of the share.
pub(super) fn available_share(facts: &RunFacts<'_>, group: &Group, station: usize) -> f64 {
    let mask = facts.bad_bins(&[station]);
    let airtime = facts.channel_airtime(group, &mask);
    let Some(airtime) = airtime.filter(|airtime| airtime.used() >= BUSY_CHANNEL) else {
        return 1.0;
    };
    let others = airtime.shares.iter().filter(|share| share.station != station);
    let of_data = airtime.data / (airtime.data + airtime.around);
    fair_share(others.map(|share| share.air).collect()) * of_data
}

/// Share of the airtime that a station gets if no other one gets more (max-min fairness). Stations with little traffic keep
/// what they used.
fn fair_share(mut others: Vec<f64>) -> f64 {
    others.sort_by(f64::total_cmp);
    let (mut left, mut contenders) = (1.0, others.len() as f64 + 1.0);
    for used in others {
        if used >= left / contenders {
            break;
        }
        left -= used;
        contenders -= 1.0;
    }
    left / contenders
}

fn what_ifs(builder: &mut InterventionBuilder<'_>, cause: &Cause) {
    for name in &cause.by {
        builder.stronger_signal(Kind::WeakSignal, name);
        builder.other_radio(Kind::WeakSignal, name);
    }
}

#[cfg(test)]
mod tests {
    use super::fair_share;

    #[test]
    fn stations_with_little_traffic_leave_airtime() {
        for (others, share) in [
            (vec![], 1.0),
            (vec![0.1], 0.9),
            (vec![0.9], 0.5),
            // Of three stations, one used less than a third. The other two share the rest.
            (vec![0.6, 0.1], 0.45),
            (vec![0.01, 0.5, 0.02], 0.485),
            (vec![0.4, 0.4], 1.0 / 3.0),
        ] {
            let found = fair_share(others.clone());
            assert!((found - share).abs() < 1e-9, "{others:?}: {found}");
        }
    }
}
