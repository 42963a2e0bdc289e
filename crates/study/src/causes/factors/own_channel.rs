//! Radios of the scenario that share a channel, without a backhaul between them.

use super::Family;
use crate::causes::factor::{Class, Factor, Part, Rank};
use crate::causes::scene::{Scene, is_wireless};
use netburn_analysis::explain::Kind;
use netburn_medium::config::Band;
use netburn_network::Network;
use netburn_scenario::Plan;
use netburn_scenario::plan::{Radio, RadioRef};

pub(super) const FAMILY: Family = Family {
    without: "one radio on a channel that no other radio of the scenario uses",
    find,
};

/// Channels of each band that do not overlap at common widths (802.11-2020 annex E).
const fn channels(band: Band) -> &'static [u16] {
    match band {
        Band::Ghz2_4 => &[1, 6, 11],
        Band::Ghz5 => &[36, 52, 100, 149],
        Band::Ghz6 => &[1, 65, 129, 193],
    }
}

fn find(scene: &Scene<'_>) -> Vec<Factor> {
    let served = scene.radios.iter().map(|(radio, _)| radio);
    let served = served.filter(|radio| scene.joined.iter().flatten().any(|joined| joined == *radio));
    let found = served.enumerate();
    found
        .filter_map(|(number, radio)| factor(scene, radio, number))
        .collect()
}

/// `number`: number of the radio, so that the replacements of several radios are on different channels.
fn factor(scene: &Scene<'_>, radio: &RadioRef, number: usize) -> Option<Factor> {
    let channel = scene.channel(radio)?;
    // A unit with a wireless backhaul must be on the channel of its parent.
    let tied = |name: &str| {
        scene.ap(name).is_none_or(is_wireless) || scene.plan.aps.iter().any(|ap| scene.is_backhaul_of(&ap.name, name))
    };
    if tied(&radio.ap) {
        return None;
    }
    let others = scene.joined.iter().enumerate();
    let others = others.filter(|(_, joined)| {
        joined
            .as_ref()
            .is_some_and(|other| other != radio && scene.channel(other) == Some(channel))
    });
    let by: Vec<usize> = others.map(|(station, _)| station).collect();
    if by.is_empty() {
        return None;
    }
    let free = free_channels(scene.plan, radio);
    let free = *free.get(number % free.len().max(1))?;
    let own: Vec<bool> = scene
        .joined
        .iter()
        .map(|joined| joined.as_ref() == Some(radio))
        .collect();
    let class = Class {
        kind: Kind::OwnChannel,
        rank: Rank::Place,
    };
    let (edited, name) = (radio.clone(), radio.to_string());
    let origin = scene.names(&by);
    let factor = Factor::builder(Part::Air, Kind::OwnChannel, Rank::Place)
        .by(by)
        .class(move |station| own.get(station).copied().unwrap_or(false).then_some(class))
        .edit(move |plan| move_to(plan, &edited, free));
    Some(factor.words(
        {
            let name = name.clone();
            move |names| format!("{origin}, on another radio of the same channel, leave too little of it for {names} on {name}")
        },
        format!("with {name} on channel {free}"),
        format!("These radios are in the scenario itself. Put {name} on another channel, such as {free}, which no other one of them uses."),
    ))
}

pub(super) fn move_to(plan: &mut Plan, radio: &RadioRef, channel: u16) {
    let Some(ap) = plan.aps.iter_mut().find(|ap| ap.name == radio.ap) else {
        return;
    };
    match ap.radios.iter_mut().find(|known| known.name == radio.radio) {
        Some(known) => known.channel = channel,
        None => ap.radios.push(Radio {
            channel,
            ..Radio::new(radio.radio)
        }),
    }
}

/// A channel on which no other radio of the plan is.
pub(super) fn free_channel(plan: &Plan, radio: &RadioRef) -> Option<u16> {
    free_channels(plan, radio).first().copied()
}

/// Channels on which no other radio of the plan is.
fn free_channels(plan: &Plan, radio: &RadioRef) -> Vec<u16> {
    let all = channels(radio.radio.band).iter().copied();
    all.filter(|channel| is_free(plan, radio, *channel)).collect()
}

fn is_free(plan: &Plan, radio: &RadioRef, channel: u16) -> bool {
    let mut plan = plan.clone();
    move_to(&mut plan, radio, channel);
    let Ok(network) = Network::<()>::new(&plan) else {
        return false;
    };
    let radios = network.radio_stats();
    let name = radio.to_string();
    let own = radios
        .iter()
        .find(|known| known.name == name)
        .map(|known| known.channel);
    radios.iter().filter(|known| Some(known.channel) == own).count() == 1
}
