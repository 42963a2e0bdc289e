//! Roaming: operations are late around roams and during scans.

use super::factor::{Factor, Part, Rank};
use super::intervention::{Effort, InterventionBuilder};
use super::scene::Scene;
use super::{Cause, Definition, Family, Kind, severity};
use crate::explain::facts::RunFacts;
use crate::format::{percent, span};
use netburn_medium::config::{RoamingPolicy, Security, Steering};
use netburn_medium::geometry::Position;
use netburn_network::roaming_trigger;
use netburn_scenario::Plan;
use netburn_scenario::plan::{Ap, Joins};
use netburn_units::Duration;

pub(super) const CAUSE: Definition = Definition {
    rule: Some((find, criterion)),
    what_ifs,
    changes: "if the station has a `roaming` policy: neighbour reports (802.11k), transition requests (802.11v), fast transition (802.11r) and combinations; no disassociation by the steering; another policy; a trigger 5 dB higher; the access point farthest from the start of the path, at half of its distance to the middle of the path",
};

pub(super) const FAMILY: Family = Family {
    without: "fast handovers: no keys to negotiate (802.11r), neighbour reports (802.11k), 1 ms for each frame; no steering",
    find: factors,
};

/// Time from the reception of a frame until the answer, in a fast handover.
const FAST: Duration = Duration::from_millis(1);

/// Increase of the signal at which a client looks for another access point, in dB.
const TRIGGER_STEP_DB: f64 = 5.0;

/// Minimum interruption, in ns. Packets that wait at the old access point are lost. TCP may send the last of them again
/// only after its timeout of 200 ms (RFC 6298), so even a short gap delays an operation noticeably.
const SHORT: u64 = 20_000_000;
/// Time after an interruption in which operations may still be late, in ns, because a queue has to
/// drain.
const AFTER: i64 = 2_000_000_000;
/// Minimum share of the late operations and stalls that are around interruptions.
const MIN_SHARE: f64 = 0.3;

/// Condition under which the rule names its cause.
fn criterion() -> String {
    format!(
        "A station had gaps of {} or more while it roamed, or scanned other channels. {} or more of its late operations were \
         during scans or around these gaps, up to {} after them. Without such gaps the cause is `scans`.",
        span(SHORT as f64 / 1e6),
        percent(MIN_SHARE),
        span(AFTER as f64 / 1e6)
    )
}

fn find(facts: &RunFacts<'_>, _: &[Cause]) -> Vec<Cause> {
    (0..facts.plan.stations.len())
        .filter_map(|station| find_for_station(facts, station))
        .collect()
}

fn find_for_station(facts: &RunFacts<'_>, station: usize) -> Option<Cause> {
    let seen = &facts.evidence.stations[station];
    let gaps: Vec<(i64, u64)> = seen
        .roams
        .iter()
        .copied()
        .filter(|(_, length)| *length >= SHORT)
        .collect();
    if gaps.is_empty() && seen.scans.is_empty() {
        return None;
    }
    facts.degraded_station(station)?;
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
    let name = facts.name(station);
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
        kind: if gaps.is_empty() { Kind::Scans } else { Kind::Roaming },
        severity: severity(facts, [station]),
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
        advice: advice(!gaps.is_empty(), seen.transitions.is_forced()).to_owned(),
        stations: vec![name.clone()],
        by: Vec::new(),
    })
}

/// `is_forced`: the station rejects transition requests, and is disassociated then.
const fn advice(has_roamed: bool, is_forced: bool) -> &'static str {
    match (has_roamed, is_forced) {
        (_, true) => {
            "The station rejects transition requests (802.11v), and the access point disassociates it then, which interrupts it. Set the \
             steering so that it does not disconnect clients that reject a request, or exclude this station from it. Fast transition \
             (802.11r) shortens the gap. More requests do not help."
        }
        (true, false) => {
            "Fast transition (802.11r) shortens the gap, neighbour reports (802.11k) and transition requests (802.11v) shorten scans. \
             A lower transmit power of the access points reduces needless roams."
        }
        (false, false) => {
            "Find the program that asks for scans, fix the network to one access point (BSSID), or improve the signal so that the device \
             has no reason to look for another one."
        }
    }
}

fn times(count: usize) -> String {
    match count {
        1 => "once".to_owned(),
        2 => "twice".to_owned(),
        n => format!("{n} times"),
    }
}

fn factors(scene: &Scene<'_>) -> Vec<Factor> {
    let stations = scene.plan.stations.iter().enumerate();
    let roams: Vec<usize> = stations
        .filter(|(_, station)| station.air.roaming.is_some())
        .map(|(station, _)| station)
        .collect();
    if roams.is_empty() {
        return Vec::new();
    }
    let mut factors = Vec::new();
    if scene
        .plan
        .networks
        .iter()
        .any(|network| network.steering != Steering::default())
    {
        let factor = Factor::builder(Part::Station, Kind::Roaming, Rank::Disturbance)
            .only(roams.clone())
            .own_advice()
            .edit(|plan| {
                plan.networks
                    .iter_mut()
                    .for_each(|network| network.steering = Steering::default());
            });
        factors.push(factor.words(
            |names| format!("The access points steer {names} away, and disconnect it"),
            "without steering",
            "Set the steering so that it does not disconnect clients that reject a request, or switch it off.",
        ));
    }
    let factor = Factor::builder(Part::Station, Kind::Roaming, Rank::Disturbance)
        .only(roams)
        .edit(fast);
    factors.push(factor.words(
        |names| format!("Handovers interrupt {names}"),
        "with fast handovers",
        "Fast transition (802.11r) shortens the gap, and neighbour reports (802.11k) shorten the search. A lower transmit power of the access \
         points prevents needless roams.",
    ));
    factors
}

fn fast(plan: &mut Plan) {
    for network in &mut plan.networks {
        (network.security, network.radius_delay) = (Security::Open, None);
        (network.k, network.r) = (true, false);
    }
    for roaming in plan
        .stations
        .iter_mut()
        .filter_map(|station| station.air.roaming.as_mut())
    {
        (roaming.frame_processing, roaming.flush_delay, roaming.k) = (FAST, Duration::ZERO, true);
    }
}

/// Proposes features of the network for the stations that roam.
fn what_ifs(builder: &mut InterventionBuilder<'_>, cause: &Cause) {
    let roams = |name: &&String| {
        let station = builder.plan.station(name)?;
        station.air.roaming?;
        match station.air.joins.as_ref()? {
            Joins::Network(network) => Some(network.clone()),
            Joins::Radio(_) => None,
        }
    };
    let mut networks: Vec<String> = cause.stations.iter().filter_map(|name| roams(&name)).collect();
    networks.dedup();
    for network in &networks {
        let key = |name: &str| format!("network.{network}.{name}");
        let (k, v, r, steering) = (key("k"), key("v"), key("r"), key("steering"));
        let reports = (k.as_str(), "true");
        let fast = (r.as_str(), "true");
        // OpenWrt's usteer with the thresholds that it needs to move stations.
        let asks = [
            (v.as_str(), "true"),
            (
                steering.as_str(),
                "{ policy = \"usteer\", trigger = \"-70 dBm\", margin = \"5 dB\" }",
            ),
        ];
        let mut propose = |label: &str, keys: &[(&str, &str)]| {
            builder.propose(Kind::Roaming, Effort::Firmware, format!("{network} has {label}"), keys);
        };
        propose("neighbour reports (802.11k)", &[reports]);
        propose("fast transition (802.11r)", &[fast]);
        propose("transition requests to stations with a weak signal (802.11v)", &asks);
        propose(
            "neighbour reports and transition requests (802.11k and v)",
            &[reports, asks[0], asks[1]],
        );
        propose(
            "neighbour reports and fast transition (802.11k and r)",
            &[reports, fast],
        );
        propose(
            "neighbour reports, transition requests and fast transition (802.11k, v and r)",
            &[reports, asks[0], asks[1], fast],
        );
    }
    for network in &networks {
        no_disassociation(builder, network);
    }
    for name in &cause.stations {
        let Some(roaming) = builder.plan.station(name).and_then(|station| station.air.roaming) else {
            continue;
        };
        let policy = format!("station.{name}.roaming.policy");
        for (label, known, word) in [
            (
                "looks for another access point below -70 dBm, as an iPhone",
                RoamingPolicy::ApplePhone,
                "apple-phone",
            ),
            (
                "follows NetworkManager's policy on Linux",
                RoamingPolicy::Linux,
                "linux",
            ),
        ] {
            if roaming.policy != Some(known) {
                builder.propose(
                    Kind::Roaming,
                    Effort::Software,
                    format!("{name} {label}"),
                    &[(&policy, word)],
                );
            }
        }
    }
    for name in &cause.stations {
        higher_trigger(builder, name);
        nearer_access_point(builder, name);
    }
    if networks.is_empty() {
        builder.not_simulated(
            "The scenario has no `roaming` for this station, so the simulator has no change for this cause.",
        );
    }
}

/// Proposes a steering that does not disconnect stations.
fn no_disassociation(builder: &mut InterventionBuilder<'_>, network: &str) {
    let steers = builder.plan.networks.iter().find(|known| known.name == network);
    if steers.is_some_and(|network| network.steering != Steering::default()) {
        let label = format!("{network} does not disassociate stations that reject a request");
        let key = format!("network.{network}.steering.disassociate");
        builder.propose(Kind::Roaming, Effort::Setting, label, &[(&key, "false")]);
    }
}

/// Proposes that a client looks for another access point at a signal that is 5 dB higher.
fn higher_trigger(builder: &mut InterventionBuilder<'_>, name: &str) {
    let roaming = builder.plan.station(name).and_then(|station| station.air.roaming);
    let Some(now) = roaming.as_ref().and_then(roaming_trigger) else {
        return;
    };
    let higher = format!("{} dBm", (now + TRIGGER_STEP_DB).min(0.0));
    let label = format!("{name} looks for another access point below {higher}");
    let key = format!("station.{name}.roaming.trigger");
    builder.propose(Kind::Roaming, Effort::Software, label, &[(&key, &higher)]);
}

/// Proposes to move the access point that is farthest from the start of a station's path. Its distance to the middle of
/// the path is halved.
fn nearer_access_point(builder: &mut InterventionBuilder<'_>, name: &str) {
    let Some(station) = builder.plan.station(name) else {
        return;
    };
    let (path, joins) = (&station.air.path, &station.air.joins);
    let (Some(begin), Some(middle), Some(joins)) = (path.first(), middle(path), joins) else {
        return;
    };
    let mut second: Option<(&Ap, Position)> = None;
    for radio in builder.plan.radios_of(joins) {
        let ap = builder.plan.aps.iter().find(|ap| ap.name == radio.ap);
        let Some((ap, at)) = ap.and_then(|ap| Some((ap, ap.position?))) else {
            continue;
        };
        if second.is_none_or(|(_, known)| at.metres_to(*begin) > known.metres_to(*begin)) {
            second = Some((ap, at));
        }
    }
    let Some((ap, at)) = second else { return };
    let to = at.towards(middle, 1, 2);
    let label = format!(
        "{} is at half of its distance to the middle of {name}'s path, at {to}",
        ap.name
    );
    let key = format!("ap.{}.position", ap.name);
    builder.propose(Kind::Roaming, Effort::Place, label, &[(&key, &to.to_string())]);
}

/// Position after half of the length of a path; `None` if the path has no length.
fn middle(path: &[Position]) -> Option<Position> {
    let legs = || path.windows(2).map(|leg| (leg[0], leg[1], leg[0].metres_to(leg[1])));
    let mut left = legs().map(|(.., metres)| metres).sum::<f64>() / 2.0;
    for (from, to, metres) in legs() {
        if metres > 0.0 && left <= metres {
            return Some(from.towards(to, (left * 1e3) as u64, (metres * 1e3) as u64));
        }
        left -= metres;
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    /// 10 m to the east, then 20 m to the north: after 15 m it is 5 m north of the corner.
    #[test]
    fn the_middle_of_a_path() {
        let at = |x: i64, y: i64| Position {
            x: x * 1_000,
            y: y * 1_000,
            floor: 0,
        };
        assert_eq!(middle(&[at(0, 0), at(10, 0), at(10, 20)]), Some(at(10, 5)));
        assert_eq!(middle(&[at(0, 0), at(10, 0), at(0, 0)]), Some(at(10, 0)));
        assert_eq!(middle(&[at(3, 0)]), None);
        assert_eq!(middle(&[at(3, 0), at(3, 0)]), None);
    }
}
