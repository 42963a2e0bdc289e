//! Backhaul: stations behind a wireless backhaul get less, because its channel is full.

use super::{list, severity, worst_symptom};
use crate::explain::analysis::Analysis;
use crate::explain::{Cause, Kind};
use crate::format::{mbps, percent};
use netburn_network::{BackhaulHop, PlannedNetwork};

/// Minimum share of the time that the wireless hop to an affected station's access point used, including the hops before
/// it on the same channel.
const MIN_AIRTIME: f64 = 0.3;
/// Minimum share of the time in which the hop's channel was in use. Lower than that of a busy channel without hops: the
/// airtime of a hop is an estimate with its highest throughput.
const FULL_CHANNEL: f64 = 0.7;

/// Condition under which the rule names its cause.
pub(super) fn criterion() -> String {
    format!(
        "simulate, lab: the packets of the stations behind an access point with a wireless `backhaul` needed {} of the time \
         or more on the hops to it. With the stations on the same channel, this channel was in use for {} of the time or \
         more. The airtime of a hop is the data behind it over the throughput that its signal permits.",
        percent(MIN_AIRTIME),
        percent(FULL_CHANNEL)
    )
}

pub(super) fn find(analysis: &Analysis<'_>, _: &[Cause]) -> Vec<Cause> {
    if !analysis.environment.models_air() {
        return Vec::new();
    }
    let Ok(network) = PlannedNetwork::new(analysis.plan) else {
        return Vec::new();
    };
    let unit = |hop: &BackhaulHop| find_for_unit(analysis, &network, hop);
    network.backhaul_hops.iter().filter_map(unit).collect()
}

/// The cause for the stations of one access point with a wireless backhaul.
fn find_for_unit(analysis: &Analysis<'_>, network: &PlannedNetwork, hop: &BackhaulHop) -> Option<Cause> {
    let hops = &network.backhaul_hops;
    let name = &analysis.plan.aps[hop.ap].name;
    let affected: Vec<usize> = analysis
        .stations_of(name)
        .into_iter()
        .filter(|station| analysis.degraded_station(*station).is_some())
        .collect();
    if affected.is_empty() {
        return None;
    }
    let mask = analysis.bad_bins(&affected);
    let usage: Vec<f64> = hops.iter().map(|of| used(analysis, hops, of, &mask)).collect();
    // The hops from the unit to the server.
    let above = chain(hops, hop.ap);
    let channel = |of: &usize| hops[*of].channel == hop.channel;
    let on_the_way: f64 = above.iter().filter(|of| channel(of)).map(|of| usage[*of]).sum();
    let of_hops: f64 = (0..hops.len()).filter(channel).map(|of| usage[of]).sum();
    let of_stations = stations_on(analysis, network, hop.channel, &mask);
    if on_the_way < MIN_AIRTIME || of_hops + of_stations < FULL_CHANNEL {
        return None;
    }
    let names = analysis.names(affected.iter().copied());
    let parent = &analysis.plan.aps[hop.parent].name;
    let shared = if of_stations > 0.0 {
        format!(" The stations on its channel used {}.", percent(of_stations.min(1.0)))
    } else {
        String::new()
    };
    Some(Cause {
        kind: Kind::Backhaul,
        severity: severity(analysis, affected.iter().copied()),
        title: format!("The wireless backhaul of {name} delays {}", list(&names)),
        evidence: format!(
            "The hops to {name} needed {} of the time of their channel for the data behind them; the one from {parent} carries {} Mbit/s at most.{shared}{}",
            percent(on_the_way.min(1.0)),
            mbps(hop.rate.as_mbps_f64()),
            worst_symptom(analysis, &affected)
        ),
        advice: format!(
            "Connect {name} with a wire, use a radio of its own for the backhaul, or place {name} where its parent's signal is stronger."
        ),
        stations: names,
        by: Vec::new(),
    })
}

/// Indices of the hops between an access point and the server, the nearest first.
fn chain(hops: &[BackhaulHop], ap: usize) -> Vec<usize> {
    let mut found = Vec::new();
    let mut at = ap;
    while let Some(hop) = hops.iter().position(|hop| hop.ap == at) {
        if found.contains(&hop) {
            break;
        }
        found.push(hop);
        at = hops[hop].parent;
    }
    found
}

/// Share of the time that a hop needed for the data of the stations behind it.
fn used(analysis: &Analysis<'_>, hops: &[BackhaulHop], hop: &BackhaulHop, mask: &[bool]) -> f64 {
    let behind = hops.iter().filter(|other| {
        let above = chain(hops, other.ap);
        above.iter().any(|of| hops[*of].ap == hop.ap)
    });
    let stations = behind.flat_map(|other| analysis.stations_of(&analysis.plan.aps[other.ap].name));
    let bytes: u64 = stations
        .map(|station| analysis.sum(station, mask).bytes.total())
        .fold(0, u64::saturating_add);
    bytes as f64 * 8e9 / analysis.length(mask).max(1.0) / (hop.rate.as_bps() as f64).max(1.0)
}

/// Share of the time that stations, and networks that are not modelled, used a channel.
fn stations_on(analysis: &Analysis<'_>, network: &PlannedNetwork, channel: usize, mask: &[bool]) -> f64 {
    let here = |radio: &Option<String>| {
        let mut on_channel = network.radios.iter().filter(|(_, other)| *other == channel);
        on_channel.any(|(known, _)| Some(known.to_string()) == *radio)
    };
    let group = analysis.groups.iter().find(|group| here(&group.radio));
    let airtime = group.and_then(|group| analysis.channel_airtime(group, mask));
    airtime.map_or(0.0, |airtime| airtime.used())
}
