//! Where the load delays a station: on the Wi-Fi, on the internet line downstream or upstream, beyond the line, or in the
//! device itself. The probes of the station to its access point and to hosts behind it decide. Without such probes, the one-way
//! delays of its calls, games and other streams of datagrams do, where the rates of links are known.

use super::intervention::{Effort, InterventionBuilder};
use super::{Cause, Definition, Kind, is_named, is_named_for, list, severity, worst_symptom};
use crate::explain::facts::{ADDED_MS, BUSY_CHANNEL, Direction, FULL_SHARE, Part, RunFacts, VictimDelay};
use crate::format::{percent, span};
use netburn_scenario::Environment;
use netburn_workload::ProbeTarget;

pub(super) const WIFI_DELAY: Definition = Definition {
    rule: Some((wifi, wifi_criterion)),
    what_ifs: wifi_what_ifs,
    changes: "a fair queue (airtime), the stations with load on another radio or capped",
};

pub(super) const LINE_DOWN: Definition = Definition {
    rule: Some((line_down, || line_criterion(Direction::Down))),
    what_ifs: line_what_ifs,
    changes: LINE_CHANGES,
};

pub(super) const LINE_UP: Definition = Definition {
    rule: Some((line_up, || line_criterion(Direction::Up))),
    what_ifs: line_what_ifs,
    changes: LINE_CHANGES,
};

pub(super) const REMOTE_SERVER: Definition = Definition {
    rule: Some((remote_server, server_criterion)),
    what_ifs: server_what_ifs,
    changes: "none: what is beyond the line is not modelled",
};

pub(super) const DEVICE: Definition = Definition {
    rule: Some((device, device_criterion)),
    what_ifs: device_what_ifs,
    changes: "a queue for each flow in the station (FQ-CoDel), TCP Small Queues of today",
};

const LINE_CHANGES: &str = "a link whose queue holds 20 ms, a shaper with CAKE at 90 % of the link's rate (SQM)";

/// Channel utilisation below which stations do not wait for the channel.
const IDLE_CHANNEL: f64 = 0.5;
/// Part of a station's delay on the Wi-Fi below which another station on the same radio does not share it.
const UNSHARED: f64 = 0.5;

/// Round trip to the access point from which a device is slow, in ms.
const DEVICE_MS: f64 = 20.0;
/// The same, as a multiple of the round trip of another station on the radio.
const DEVICE_FACTOR: f64 = 4.0;

/// More specific causes of a delay on the Wi-Fi.
const OF_WIFI: [Kind; 8] = [
    Kind::SlowCochannel,
    Kind::FullBand,
    Kind::Backhaul,
    Kind::SlowNeighbour,
    Kind::SmallQueues,
    Kind::Roaming,
    Kind::WeakSignal,
    Kind::Adapter,
];

/// Causes that already explain a one-way delay on a full line.
const OF_LINE: [Kind; 3] = [Kind::UploadBloat, Kind::DownloadBloat, Kind::SlowLine];

/// Condition under which the rule names a delay on the Wi-Fi.
fn wifi_criterion() -> String {
    format!(
        "The station has a probe to its access point (`target = \"near\"`). The load added {} or more to the median of its \
         round trips. `device` does not explain it, nor does a more specific cause above. In simulate and lab, a station \
         without such a probe can have packets with a one-way delay instead: the median is {} above the smallest one, the \
         line is not full, and the channel was busy for {} of the time or more.",
        span(ADDED_MS),
        span(ADDED_MS),
        percent(BUSY_CHANNEL)
    )
}

/// Condition under which the rule names the line in one direction.
fn line_criterion(direction: Direction) -> String {
    let path = match direction {
        Direction::Down => "from the server to the station",
        Direction::Up => "from the station to the server",
    };
    format!(
        "The station has a probe to its access point. It has another one to the first hop beyond the router \
         (`target = \"line\"`) or to the server. The load added {} or more to the median difference of their round trips. \
         Most of this delay arises {path}. The one-way delays of the probe to the server determine the direction. If these \
         delays are unknown, the direction of the load determines it. In simulate and lab, a station without a probe to its \
         access point can have packets with a one-way delay in this direction instead: the median is {} above the smallest \
         one, the line was full for {} of the time in use, and no cause above explains it.",
        span(ADDED_MS),
        span(ADDED_MS),
        percent(FULL_SHARE)
    )
}

/// Condition under which the rule names the path beyond the line.
fn server_criterion() -> String {
    format!(
        "The station has probes to its access point, to the first hop beyond the router and to the server. The load added {} \
         or more to the median difference between the last two. No other cause names the server.",
        span(ADDED_MS)
    )
}

/// Condition under which the rule names the device.
fn device_criterion() -> String {
    format!(
        "The station has a probe and an added delay as for `wifi-delay`, and no more specific cause above explains the delay. \
         No other station on the same radio with such a probe has {} of this delay or more. One of two further conditions \
         holds. Either the station uploads, and the delay arises from the station to the access point. Or the channel was \
         busy for less than {} of the time; if that is unknown, another station on it has such a probe. Without a delay that the load adds: the median round trip to the access point was {} \
         or more, and {DEVICE_FACTOR} times that of another station on the radio.",
        percent(UNSHARED),
        percent(IDLE_CHANNEL),
        span(DEVICE_MS)
    )
}

/// Stations that the Wi-Fi delays.
fn wifi(facts: &RunFacts<'_>, found: &[Cause]) -> Vec<Cause> {
    let stations = delayed(facts, |station, part| {
        part.part == Some(Part::Wifi)
            && !is_explained(facts, station, part, found)
            && !is_own_queue(facts, station, part)
    });
    let channel = stations.first().and_then(|(station, _)| busy(facts, *station));
    let evidence = match channel {
        Some(used) if used.is_known => {
            format!("The channel was busy for {} of the time.", percent(used.share.min(1.0)))
        }
        Some(used) => format!(
            "The devices of the run used the channel for {} of the time.",
            percent(used.share.min(1.0))
        ),
        None => String::new(),
    };
    let by = loaders(facts, &stations, |first, other| {
        facts.group_of(first).is_none_or(|group| group.members.contains(&other)) && facts.is_greedy(other)
    });
    cause(
        facts,
        Kind::WifiDelay,
        &stations,
        by,
        |names| format!("The Wi-Fi delays {names}, not the internet line"),
        &evidence,
        "Use an access point with a queue for each flow and with airtime fairness, a less busy channel, or a cable for the stations with the most load. A faster internet line does not help.",
    )
}

/// Stations that their own device delays.
fn device(facts: &RunFacts<'_>, found: &[Cause]) -> Vec<Cause> {
    let mut causes = slow_without_load(facts);
    causes.extend(slow_with_load(facts, found));
    causes
}

/// Stations whose round trip to the access point is long, while that of another station on the same radio is short.
fn slow_without_load(facts: &RunFacts<'_>) -> Vec<Cause> {
    let near = |station: usize| {
        let workloads = &facts.station(station)?.workloads;
        let near = workloads
            .iter()
            .find(|workload| workload.probe.is_some_and(|probe| probe.target == ProbeTarget::Near));
        near?.latency_ms.p50
    };
    let other_is_fast = |station: usize, ms: f64| {
        let members = facts.group_of(station).map_or(&[][..], |group| &group.members);
        let fastest = members
            .iter()
            .filter(|other| **other != station)
            .filter_map(|other| near(*other))
            .reduce(f64::min)?;
        (ms >= DEVICE_MS && ms >= DEVICE_FACTOR * fastest).then_some(fastest)
    };
    let degraded = facts.degraded.iter().map(|degraded_station| degraded_station.station);
    let slow = degraded.filter_map(|station| {
        // A delay that the load adds is not that of the device itself.
        let added = facts
            .split(station)
            .and_then(|split| split.wifi.added_p50_ms())
            .unwrap_or(0.0);
        let ms = near(station).filter(|_| added < ADDED_MS)?;
        Some((station, ms, other_is_fast(station, ms)?))
    });
    slow.map(|(station, ms, fastest)| {
        let name = facts.name(station);
        Cause {
            kind: Kind::Device,
            severity: severity(facts, [station]),
            title: format!("The device of {name} itself causes the delay"),
            evidence: format!(
                "The median round trip of {name} to its access point was {}, and {} for another station on the same radio.{}",
                span(ms),
                span(fastest),
                worst_symptom(facts, &[station])
            ),
            advice: "Update the driver or the firmware of the device, or use another adapter. Changes to the access point and to the internet line do not help."
                .to_owned(),
            stations: vec![name.clone()],
            by: vec![name],
        }
    })
    .collect()
}

fn slow_with_load(facts: &RunFacts<'_>, found: &[Cause]) -> Vec<Cause> {
    let stations = delayed(facts, |station, part| {
        part.part == Some(Part::Wifi)
            && !is_explained(facts, station, part, found)
            && is_own_queue(facts, station, part)
    });
    let by = stations.iter().map(|(station, _)| *station).collect();
    cause(
        facts,
        Kind::Device,
        &stations,
        by,
        |names| format!("The device of {names} itself causes the delay"),
        "Other stations on the radio do not share it, or the channel is not busy.",
        "Limit the queue of the device (FQ-CoDel, TCP Small Queues, a newer driver) or the rate of its upload. Changes to the access point and to the internet line do not help.",
    )
}

/// Stations that the line delays downstream.
fn line_down(facts: &RunFacts<'_>, found: &[Cause]) -> Vec<Cause> {
    line(facts, found, Direction::Down)
}

/// Stations that the line delays upstream.
fn line_up(facts: &RunFacts<'_>, found: &[Cause]) -> Vec<Cause> {
    line(facts, found, Direction::Up)
}

fn line(facts: &RunFacts<'_>, found: &[Cause], direction: Direction) -> Vec<Cause> {
    let (kind, line_direction) = match direction {
        Direction::Down => (Kind::LineDown, "downstream"),
        Direction::Up => (Kind::LineUp, "upstream"),
    };
    let stations = delayed(facts, |station, part| {
        // Without a known direction, most lines have the larger queue downstream.
        let is_this_direction = part.direction.unwrap_or(Direction::Down) == direction;
        let name = facts.name(station);
        let inseparable = facts.split(station).is_some_and(|split| split.line.is_none());
        let explained = is_named_for(found, Kind::SlowLine, &name)
            || inseparable && is_named(found, Kind::Server)
            || part.is_of_packets() && OF_LINE.iter().any(|kind| is_named_for(found, *kind, &name));
        part.part == Some(Part::Line) && is_this_direction && !explained
    });
    let by = loaders(facts, &stations, |first, other| {
        facts.behind_the_line_of(first).contains(&other) && facts.moves(other, direction)
    });
    let inseparable = stations
        .iter()
        .any(|(station, _)| facts.split(*station).is_some_and(|split| split.line.is_none()));
    let is_on_wifi = stations.iter().any(|(station, _)| facts.group_of(*station).is_some());
    let evidence = if inseparable {
        "Without a probe to the first hop beyond the router (`target = \"line\"`), netburn can't separate the line and the server."
    } else if facts.environment == Environment::Fleet && is_on_wifi {
        "If the access point is a node of a mesh, its link to the router is part of this way: repeat the run beside the router."
    } else {
        ""
    };
    cause(
        facts,
        kind,
        &stations,
        by,
        |names| format!("The internet line delays {names} {line_direction}"),
        evidence,
        "Limit the traffic to slightly less than the rate of the line (SQM with FQ-CoDel or CAKE on the router). Packets then wait in the router. Changes to the Wi-Fi do not help.",
    )
}

/// Stations that are delayed beyond the line.
fn remote_server(facts: &RunFacts<'_>, found: &[Cause]) -> Vec<Cause> {
    if is_named(found, Kind::Server) {
        return Vec::new();
    }
    // The delays of a slow device differ from probe to probe.
    let slow: Vec<String> = slow_without_load(facts)
        .into_iter()
        .flat_map(|cause| cause.stations)
        .collect();
    let stations = delayed(facts, |station, part| {
        let name = facts.name(station);
        part.part == Some(Part::Server) && !is_named_for(found, Kind::DistantServer, &name) && !slow.contains(&name)
    });
    cause(
        facts,
        Kind::RemoteServer,
        &stations,
        Vec::new(),
        |names| format!("The server, or the path to it beyond the internet line, delays {names}"),
        "",
        "Changes to the Wi-Fi and to the internet line do not help. Repeat the run with another server.",
    )
}

/// Degraded stations with a delay for which `wanted` is true.
fn delayed(facts: &RunFacts<'_>, wanted: impl Fn(usize, &VictimDelay) -> bool) -> Vec<(usize, VictimDelay)> {
    let degraded = facts.degraded.iter().map(|degraded_station| degraded_station.station);
    let part = |station: usize| {
        let parts = facts.victim_delays(station);
        Some((station, parts.into_iter().find(|part| wanted(station, part))?))
    };
    degraded.filter_map(part).collect()
}

/// Returns true if a more specific cause explains a station's delay on the Wi-Fi.
fn is_explained(facts: &RunFacts<'_>, station: usize, part: &VictimDelay, found: &[Cause]) -> bool {
    let name = facts.name(station);
    let of_line = OF_LINE.iter().filter(|_| part.is_of_packets());
    OF_WIFI
        .iter()
        .chain(of_line)
        .any(|kind| is_named_for(found, *kind, &name))
}

/// Returns true if a delay on the Wi-Fi arises in the station itself.
fn is_own_queue(facts: &RunFacts<'_>, station: usize, part: &VictimDelay) -> bool {
    let others = facts.group_of(station).map_or(&[][..], |group| &group.members);
    let shared = others.iter().filter(|other| **other != station).any(|other| {
        let of_probes = facts.split(*other).and_then(|split| split.wifi.added_p50_ms());
        let of_packets = || Some(facts.packet_delay(*other, part.direction?)?.added_ms);
        let added = if part.is_of_packets() { of_packets() } else { of_probes };
        added.is_some_and(|added| added >= UNSHARED * part.added_ms)
    });
    let uploads = facts.moves(station, Direction::Up);
    let up = match part.direction {
        Some(direction) => direction == Direction::Up,
        None => !facts.moves(station, Direction::Down),
    };
    // Without a survey the time in use is a lower limit, and a peer on the same channel shows whether it waits.
    let has_peer = others
        .iter()
        .any(|other| *other != station && facts.split(*other).is_some());
    let used = busy(facts, station);
    let is_idle =
        used.is_none_or(|used| used.share < IDLE_CHANNEL) && (used.is_some_and(|used| used.is_known) || has_peer);
    !shared && (uploads && up || is_idle)
}

/// Time in which a channel was busy.
#[derive(Debug, Clone, Copy)]
struct Busy {
    share: f64,
    /// False if other networks may use more.
    is_known: bool,
}

/// Share of the time in which a station's channel was busy; `None` if it is unknown.
fn busy(facts: &RunFacts<'_>, station: usize) -> Option<Busy> {
    let group = facts.group_of(station)?;
    let airtime = facts.channel_airtime(group, &facts.bad_bins(&[station]))?;
    Some(Busy {
        share: airtime.used(),
        is_known: facts.knows_the_channel(group, &airtime),
    })
}

/// Stations whose load delays the first of `stations`.
fn loaders(
    facts: &RunFacts<'_>,
    stations: &[(usize, VictimDelay)],
    loads: impl Fn(usize, usize) -> bool,
) -> Vec<usize> {
    let all = 0..facts.plan.stations.len();
    all.filter(|other| stations.iter().any(|(station, _)| loads(*station, *other)))
        .collect()
}

/// The cause for these stations; none without stations.
fn cause(
    facts: &RunFacts<'_>,
    kind: Kind,
    stations: &[(usize, VictimDelay)],
    by: Vec<usize>,
    title: impl Fn(&str) -> String,
    evidence: &str,
    advice: &str,
) -> Vec<Cause> {
    let worst = stations
        .iter()
        .max_by(|(_, a), (_, b)| a.added_ms.total_cmp(&b.added_ms));
    let Some((worst, delay)) = worst else { return Vec::new() };
    let affected: Vec<usize> = stations.iter().map(|(station, _)| *station).collect();
    let names = facts.names(affected.iter().copied());
    let by = facts.names(by);
    let load = match &by[..] {
        [] => String::new(),
        by => format!(" The load is that of {}.", list(by)),
    };
    let space = if evidence.is_empty() { "" } else { " " };
    vec![Cause {
        kind,
        severity: severity(facts, affected.iter().copied()),
        title: title(&list(&names)),
        evidence: format!(
            "{}{space}{evidence}{load}{}",
            facts.delay_sentence(*worst, delay).unwrap_or_default(),
            worst_symptom(facts, &affected)
        ),
        advice: advice.to_owned(),
        stations: names,
        by,
    }]
}

fn wifi_what_ifs(builder: &mut InterventionBuilder<'_>, cause: &Cause) {
    for name in &cause.by {
        if let Some((ap, _)) = builder.place(name) {
            builder.queue(Kind::WifiDelay, ap);
        }
        builder.other_radio(Kind::WifiDelay, name);
        builder.capped(Kind::WifiDelay, name, None);
    }
}

/// Proposes a short queue, and SQM, for the WAN links that delay stations.
fn line_what_ifs(builder: &mut InterventionBuilder<'_>, cause: &Cause) {
    for name in &cause.stations {
        let Some(line) = builder.line_of(name) else { continue };
        builder.short_line_queue(cause.kind, &line);
        builder.sqm(cause.kind, &line);
    }
}

/// Proposes a queue for each flow in the station, and TCP Small Queues.
fn device_what_ifs(builder: &mut InterventionBuilder<'_>, cause: &Cause) {
    for name in &cause.by {
        let label = format!("{name} has a queue for each flow (FQ-CoDel)");
        builder.propose(
            Kind::Device,
            Effort::Software,
            label,
            &[(&format!("station.{name}.queue"), "fq-codel")],
        );
        let label = format!("{name} uses TCP Small Queues as in current Linux over Wi-Fi (8 ms)");
        builder.propose(
            Kind::Device,
            Effort::Software,
            label,
            &[(&format!("station.{name}.tsq"), "2025")],
        );
    }
}

fn server_what_ifs(builder: &mut InterventionBuilder<'_>, _: &Cause) {
    builder.not_simulated("The simulator does not model delays beyond the internet line.");
}
