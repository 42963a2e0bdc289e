//! Rules in order: first those that make results unreliable, then those that explain most. A rule
//! receives the causes found before and skips what they already explain.

mod adapter;
mod backhaul;
mod delayed_part;
mod distant_server;
mod download_bloat;
mod full_band;
mod generator;
mod lossy_line;
mod roaming;
mod server;
mod slow_cochannel;
mod slow_line;
mod slow_neighbour;
mod small_queues;
mod upload_bloat;
mod weak_signal;

use super::analysis::{Analysis, Direction};
use super::{Cause, Kind, Severity};

/// Returns the causes that a rule finds. It receives those found before.
type Find = fn(&Analysis<'_>, &[Cause]) -> Vec<Cause>;
/// Returns the condition of a rule as text.
type Criterion = fn() -> String;

/// The rule for a kind of cause; `None` if only a simulation without the cause shows it.
fn rule(kind: Kind) -> Option<(Find, Criterion)> {
    Some(match kind {
        Kind::Generator => (generator::find, generator::criterion),
        Kind::Server => (server::find, server::criterion),
        Kind::Adapter => (adapter::find, adapter::criterion),
        Kind::SlowCochannel => (slow_cochannel::find, slow_cochannel::criterion),
        Kind::FullBand => (full_band::find, full_band::criterion),
        Kind::Backhaul => (backhaul::find, backhaul::criterion),
        Kind::SlowNeighbour => (slow_neighbour::find, slow_neighbour::criterion),
        Kind::UploadBloat => (upload_bloat::find, upload_bloat::criterion),
        Kind::DownloadBloat => (download_bloat::find, download_bloat::criterion),
        Kind::SmallQueues => (small_queues::find, small_queues::criterion),
        Kind::Roaming => (roaming::find, roaming::criterion),
        Kind::WeakSignal => (weak_signal::find, weak_signal::criterion),
        Kind::SlowLine => (slow_line::find, slow_line::criterion),
        Kind::LossyLine => (lossy_line::find, lossy_line::criterion),
        Kind::DistantServer => (distant_server::find, distant_server::criterion),
        Kind::WifiDelay => (delayed_part::wifi, delayed_part::wifi_criterion),
        Kind::LineDown => (delayed_part::line_down, || {
            delayed_part::line_criterion(Direction::Down)
        }),
        Kind::LineUp => (delayed_part::line_up, || delayed_part::line_criterion(Direction::Up)),
        Kind::RemoteServer => (delayed_part::remote_server, delayed_part::server_criterion),
        Kind::Device => (delayed_part::device, delayed_part::device_criterion),
        Kind::Policer
        | Kind::Outage
        | Kind::Shaper
        | Kind::Router
        | Kind::PowerSave
        | Kind::Scans
        | Kind::ApScans
        | Kind::OwnChannel
        | Kind::FairShare
        | Kind::Traffic => return None,
    })
}

/// Condition under which a report names a cause, as sentences with the limits of its rule.
#[must_use]
pub fn criterion(kind: Kind) -> String {
    rule(kind).map_or_else(
        || "simulate, lab: no rule. A simulation without the cause shows it.".to_owned(),
        |(_, criterion)| criterion(),
    )
}

/// All causes, the most severe first.
pub(super) fn causes(analysis: &Analysis<'_>) -> Vec<Cause> {
    let mut found = Vec::new();
    for kind in Kind::ALL {
        if let Some((find, _)) = rule(kind) {
            let causes = find(analysis, &found);
            found.extend(causes);
        }
    }
    found.sort_by_key(|cause| std::cmp::Reverse(cause.severity));
    found
}

/// Returns true if a cause of that kind was found.
fn is_named(found: &[Cause], kind: Kind) -> bool {
    found.iter().any(|cause| cause.kind == kind)
}

/// Returns true if a cause of that kind was found for a station.
fn is_named_for(found: &[Cause], kind: Kind, station: &str) -> bool {
    let for_it = |cause: &&Cause| cause.stations.iter().any(|name| name == station);
    found.iter().filter(for_it).any(|cause| cause.kind == kind)
}

/// Returns the severity of a cause for these stations.
fn severity(analysis: &Analysis<'_>, stations: impl IntoIterator<Item = usize>) -> Severity {
    let serious = |station: usize| {
        analysis
            .degraded_station(station)
            .is_some_and(|degraded_station| degraded_station.serious)
    };
    if stations.into_iter().any(serious) {
        Severity::Serious
    } else {
        Severity::Notable
    }
}

/// Worst problem of these stations, as the end of the evidence: ` laptop's browsing met …`.
fn worst_symptom(analysis: &Analysis<'_>, stations: &[usize]) -> String {
    let of = stations
        .iter()
        .filter_map(|station| analysis.degraded_station(*station));
    match of.max_by_key(|degraded_station| (degraded_station.serious, std::cmp::Reverse(degraded_station.station))) {
        Some(degraded_station) => format!(
            " {}'s {}.",
            analysis.name(degraded_station.station),
            degraded_station.what
        ),
        None => String::new(),
    }
}

/// Sentence on the largest delay that the packets of these stations show in a direction; `None` without one.
fn worst_packets(analysis: &Analysis<'_>, stations: &[usize], direction: Direction) -> Option<String> {
    let delays = stations
        .iter()
        .filter_map(|station| Some((*station, analysis.packet_delay(*station, direction)?)));
    let (station, delay) = delays.max_by(|(_, a), (_, b)| a.added_ms.total_cmp(&b.added_ms))?;
    analysis.delay_sentence(station, &delay)
}

/// Verb for a list of names: `shares` for one, `share` for several.
fn share(names: &[String]) -> &'static str {
    if names.len() == 1 { "shares" } else { "share" }
}

/// `a`, `a and b`, `a, b and c`.
fn list(names: &[String]) -> String {
    match names {
        [] => String::new(),
        [one] => one.clone(),
        [all @ .., last] => format!("{} and {last}", all.join(", ")),
    }
}
