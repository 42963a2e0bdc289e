//! Backhaul: stations behind a wireless backhaul get less, because its channel is full.

use super::factor::{Factor, Part, Rank};
use super::intervention::{Effort, InterventionBuilder};
use super::own_channel::{free_channel, move_to};
use super::scene::{Scene, is_wireless};
use super::{Cause, Definition, Family, Kind, list, severity, worst_symptom};
use crate::explain::facts::RunFacts;
use crate::format::{mbps, percent};
use netburn_medium::config::RadioConfig;
use netburn_network::{BackhaulHop, PlannedNetwork};
use netburn_scenario::Plan;
use netburn_scenario::plan::{Ap, Backhaul, RadioName, RadioRef};

pub(super) const CAUSE: Definition = Definition {
    rule: Some((find, criterion)),
    what_ifs,
    changes: "a wire to the access point, a radio of its own for the backhaul if both ends have one without stations, a place nearer to the router",
};

pub(super) const FAMILY: Family = Family {
    without: "wires instead of wireless backhauls, and another channel for these access points",
    find: factors,
};

/// Minimum share of the time that the wireless hop to an affected station's access point used, including the hops before
/// it on the same channel.
const MIN_AIRTIME: f64 = 0.3;
/// Minimum share of the time in which the hop's channel was in use. Lower than that of a busy channel without hops: the
/// airtime of a hop is an estimate with its highest throughput.
const FULL_CHANNEL: f64 = 0.7;

/// Condition under which the rule names its cause.
fn criterion() -> String {
    format!(
        "simulate, lab: the packets of the stations behind an access point with a wireless `backhaul` needed {} of the time \
         or more on the hops to it. With the stations on the same channel, this channel was in use for {} of the time or \
         more. The airtime of a hop is the data behind it over the throughput that its signal permits.",
        percent(MIN_AIRTIME),
        percent(FULL_CHANNEL)
    )
}

fn find(facts: &RunFacts<'_>, _: &[Cause]) -> Vec<Cause> {
    if !facts.environment.models_air() {
        return Vec::new();
    }
    let Ok(network) = PlannedNetwork::new(facts.plan) else {
        return Vec::new();
    };
    let unit = |hop: &BackhaulHop| find_for_unit(facts, &network, hop);
    network.backhaul_hops.iter().filter_map(unit).collect()
}

/// The cause for the stations of one access point with a wireless backhaul.
fn find_for_unit(facts: &RunFacts<'_>, network: &PlannedNetwork, hop: &BackhaulHop) -> Option<Cause> {
    let hops = &network.backhaul_hops;
    let name = &facts.plan.aps[hop.ap].name;
    let affected: Vec<usize> = facts
        .stations_of(name)
        .into_iter()
        .filter(|station| facts.degraded_station(*station).is_some())
        .collect();
    if affected.is_empty() {
        return None;
    }
    let mask = facts.bad_bins(&affected);
    let usage: Vec<f64> = hops.iter().map(|of| used(facts, hops, of, &mask)).collect();
    // The hops from the unit to the server.
    let above = chain(hops, hop.ap);
    let channel = |of: &usize| hops[*of].channel == hop.channel;
    let on_the_way: f64 = above.iter().filter(|of| channel(of)).map(|of| usage[*of]).sum();
    let of_hops: f64 = (0..hops.len()).filter(channel).map(|of| usage[of]).sum();
    let of_stations = stations_on(facts, network, hop.channel, &mask);
    if on_the_way < MIN_AIRTIME || of_hops + of_stations < FULL_CHANNEL {
        return None;
    }
    let names = facts.names(affected.iter().copied());
    let parent = &facts.plan.aps[hop.parent].name;
    let shared = if of_stations > 0.0 {
        format!(" The stations on its channel used {}.", percent(of_stations.min(1.0)))
    } else {
        String::new()
    };
    Some(Cause {
        kind: Kind::Backhaul,
        severity: severity(facts, affected.iter().copied()),
        title: format!("The wireless backhaul of {name} delays {}", list(&names)),
        evidence: format!(
            "The hops to {name} needed {} of the time of their channel for the data behind them; the one from {parent} carries {} Mbit/s at most.{shared}{}",
            percent(on_the_way.min(1.0)),
            mbps(hop.rate.as_mbps_f64()),
            worst_symptom(facts, &affected)
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
fn used(facts: &RunFacts<'_>, hops: &[BackhaulHop], hop: &BackhaulHop, mask: &[bool]) -> f64 {
    let behind = hops.iter().filter(|other| {
        let above = chain(hops, other.ap);
        above.iter().any(|of| hops[*of].ap == hop.ap)
    });
    let stations = behind.flat_map(|other| facts.stations_of(&facts.plan.aps[other.ap].name));
    let bytes: u64 = stations
        .map(|station| facts.sum(station, mask).bytes.total())
        .fold(0, u64::saturating_add);
    bytes as f64 * 8e9 / facts.length(mask).max(1.0) / (hop.rate.as_bps() as f64).max(1.0)
}

/// Share of the time that stations, and networks that are not modelled, used a channel.
fn stations_on(facts: &RunFacts<'_>, network: &PlannedNetwork, channel: usize, mask: &[bool]) -> f64 {
    let here = |radio: &Option<String>| {
        let mut on_channel = network.radios.iter().filter(|(_, other)| *other == channel);
        on_channel.any(|(known, _)| Some(known.to_string()) == *radio)
    };
    let group = facts.groups.iter().find(|group| here(&group.radio));
    let airtime = group.and_then(|group| facts.channel_airtime(group, mask));
    airtime.map_or(0.0, |airtime| airtime.used())
}

fn factors(scene: &Scene<'_>) -> Vec<Factor> {
    let units: Vec<String> = scene
        .plan
        .aps
        .iter()
        .filter(|ap| is_wireless(ap))
        .map(|ap| ap.name.clone())
        .collect();
    if units.is_empty() {
        return Vec::new();
    }
    let names = list(&units.iter().map(String::as_str).collect::<Vec<_>>());
    let roots: Vec<String> = units.iter().map(|unit| scene.root_of(unit).to_owned()).collect();
    let edits: Vec<(String, String)> = units.into_iter().zip(roots).collect();
    let factor = Factor::builder(Part::Air, Kind::Backhaul, Rank::Place).edit(move |plan| {
        for (unit, root) in &edits {
            wire(plan, unit, root);
        }
    });
    let title = {
        let names = names.clone();
        move |affected: &str| format!("The wireless backhaul of {names} needs too much airtime for {affected}")
    };
    vec![factor.words(
        title,
        format!("with a wire to {names} and a channel of its own"),
        "Each packet crosses the air once for each hop, and the hops share the channel with the stations. Connect the access point by a \
         wire, use a radio of its own for the backhaul, or place it where its signal is stronger.",
    )]
}

/// Connects a unit by a cable to the access point at the wire, and moves its radios to free channels.
fn wire(plan: &mut Plan, unit: &str, root: &str) {
    let Some(ap) = plan.aps.iter_mut().find(|ap| ap.name == unit) else {
        return;
    };
    (ap.backhaul, ap.backhaul_quality) = (Backhaul::Port(root.to_owned()), None);
    let radios = ap.all_radios().unwrap_or_default();
    for (radio, _) in radios {
        let radio = RadioRef {
            ap: unit.to_owned(),
            radio,
        };
        if let Some(channel) = free_channel(plan, &radio) {
            move_to(plan, &radio, channel);
        }
    }
}

/// Proposes a wire, and a radio that serves no station. Both are for the access points of the affected stations, and
/// for those between them and the server.
fn what_ifs(builder: &mut InterventionBuilder<'_>, cause: &Cause) {
    let mut units: Vec<&Ap> = Vec::new();
    for name in &cause.stations {
        let mut at = builder.place(name).map(|(ap, _)| ap);
        while let Some(ap) = at.filter(|ap| !units.iter().any(|known| known.name == ap.name)) {
            let number = builder.plan.aps.iter().position(|known| known.name == ap.name);
            let hop = builder.parents.iter().find(|(unit, _)| Some(*unit) == number);
            let Some((_, parent)) = hop else { break };
            units.push(ap);
            at = builder.plan.aps.get(*parent);
        }
    }
    // Stations at the wire are affected as well: the hops use their channel.
    if units.is_empty() {
        units.extend(
            builder
                .parents
                .iter()
                .filter_map(|(unit, _)| builder.plan.aps.get(*unit)),
        );
    }
    for ap in units.iter().copied() {
        let key = format!("ap.{}.backhaul", ap.name);
        builder.propose(
            Kind::Backhaul,
            Effort::Cable,
            format!("{} has a wire", ap.name),
            &[(&key, "wired")],
        );
        if let Some(radio) = free_radio(builder, ap) {
            let label = format!("{} has a backhaul radio of its own, to {radio}", ap.name);
            builder.propose(Kind::Backhaul, Effort::Purchase, label, &[(&key, &radio.to_string())]);
        }
        nearer_unit(builder, ap);
    }
}

/// Proposes another place of a unit: nearer to the access point with the wire.
fn nearer_unit(builder: &mut InterventionBuilder<'_>, ap: &Ap) {
    let wired = builder.plan.aps.iter().find(|other| !other.backhaul.is_wireless());
    let (Some(at), Some(to)) = (ap.position, wired.and_then(|wired| wired.position)) else {
        return;
    };
    let nearer = at.towards(to, 1, 3).to_string();
    let label = format!(
        "{} is nearer to the router by a third of the distance, at {nearer}",
        ap.name
    );
    builder.propose(
        Kind::Backhaul,
        Effort::Place,
        label,
        &[(&format!("ap.{}.position", ap.name), &nearer)],
    );
}

/// A radio of the parent that serves no station, and on whose channel the access point has a radio that serves none.
fn free_radio(builder: &InterventionBuilder<'_>, ap: &Ap) -> Option<RadioRef> {
    let now = ap.backhaul.parent()?;
    let parent = builder.plan.aps.iter().find(|other| other.name == now.ap)?;
    let serves = |ap: &Ap, radio: &RadioName| {
        let name = format!("{}.{radio}", ap.name);
        builder.joined.iter().flatten().any(|joined| *joined == name)
    };
    let (own, theirs) = (ap.all_radios().ok()?, parent.all_radios().ok()?);
    let is_free = |(name, config): &&(RadioName, RadioConfig)| {
        let same = |(_, other): &&(_, RadioConfig)| (other.band, other.channel) == (config.band, config.channel);
        // The link uses the first radio on the channel.
        let mine = own.iter().find(same);
        *name != now.radio && !serves(parent, name) && mine.is_some_and(|(mine, _)| !serves(ap, mine))
    };
    let (radio, _) = theirs.iter().find(is_free)?;
    Some(RadioRef {
        ap: parent.name.clone(),
        radio: *radio,
    })
}
