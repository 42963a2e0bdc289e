//! Radios of the scenario that share a channel, without a backhaul between them.

use super::factor::{Class, Factor, Part, Rank};
use super::intervention::{InterventionBuilder, channels};
use super::scene::{Scene, is_wireless};
use super::{Cause, Definition, Family, Kind};
use netburn_medium::config::Band;
use netburn_network::PlannedNetwork;
use netburn_scenario::Plan;
use netburn_scenario::plan::{Radio, RadioRef};

pub(super) const CAUSE: Definition = Definition {
    rule: None,
    what_ifs,
    changes: "a channel that no other radio of the scenario has, another radio for the other stations",
};

pub(super) const FAMILY: Family = Family {
    without: "one radio on a channel that no other radio of the scenario uses",
    find: factors,
};

fn factors(scene: &Scene<'_>) -> Vec<Factor> {
    let served = scene.radios.iter().map(|(radio, _)| radio);
    let served = served.filter(|radio| scene.joined.iter().flatten().any(|joined| joined == *radio));
    let mut factors: Vec<(Band, Factor)> = Vec::new();
    for radio in served {
        // The search also moves all radios at once: then they must not meet again on one free channel.
        let moved = factors.iter().filter(|(band, _)| *band == radio.radio.band).count();
        factors.extend(factor(scene, radio, moved).map(|factor| (radio.radio.band, factor)));
    }
    factors.into_iter().map(|(_, factor)| factor).collect()
}

/// `moved` radios of the same band have a free channel already.
fn factor(scene: &Scene<'_>, radio: &RadioRef, moved: usize) -> Option<Factor> {
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
    let free = *free.get(moved % free.len().max(1))?;
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
    PlannedNetwork::new(&plan).is_ok_and(|network| network.has_own_channel(radio))
}

fn what_ifs(builder: &mut InterventionBuilder<'_>, cause: &Cause) {
    builder.free_channels(Kind::OwnChannel, &cause.stations);
    for name in &cause.by {
        builder.other_radio(Kind::OwnChannel, name);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use netburn_scenario::Document;
    use std::collections::BTreeSet;

    /// Three access points with two radios on the same channels. 5 GHz has three other channels and 2.4 GHz two: moved together,
    /// the radios use all of them.
    #[test]
    fn radios_that_move_together_use_all_free_channels() {
        let mut text = String::new();
        for name in ["left", "middle", "right"] {
            text += &format!("[ap.{name}.radio.2g]\nchannel = 6\n[ap.{name}.radio.5g]\nchannel = 36\n");
            for band in ["2g", "5g"] {
                text += &format!(
                    "[station.{name}-{band}]\njoins = \"{name}.{band}\"\nsignal = \"-50 dBm\"\nworkload = \"download\"\n"
                );
            }
        }
        let mut plan = Document::from_toml("house.toml", &text).unwrap().resolve().unwrap();
        let factors = factors(&Scene::new(&plan).unwrap());
        assert_eq!(factors.len(), 6);
        factors.iter().for_each(|factor| factor.remove_from(&mut plan));
        let channels = |band: Band| -> BTreeSet<u16> {
            let radios = plan.aps.iter().flat_map(|ap| &ap.radios);
            let of_band = radios.filter(|radio| radio.name.band == band);
            of_band.map(|radio| radio.channel).collect()
        };
        assert_eq!(channels(Band::Ghz5), [52, 100, 149].into());
        assert_eq!(channels(Band::Ghz2_4), [1, 11].into());
    }
}
