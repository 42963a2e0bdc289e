//! Multicast of access points, which uses airtime at a low rate without acknowledgements.

use super::factor::{Class, Factor, Part, Rank};
use super::intervention::{Effort, InterventionBuilder};
use super::scene::Scene;
use super::{Cause, Definition, Family, Kind, list};
use netburn_scenario::plan::{Ap, Multicast, ToUnicast};

pub(super) const CAUSE: Definition = Definition {
    rule: None,
    what_ifs,
    changes: "conversion to unicast for members of the group, IGMP snooping, a basic rate of 24 Mbit/s for multicast",
};

pub(super) const FAMILY: Family = Family {
    without: "no multicast of one access point",
    find: factors,
};

fn factors(scene: &Scene<'_>) -> Vec<Factor> {
    let sending = scene
        .plan
        .aps
        .iter()
        .filter_map(|ap| Some((ap, ap.multicast.as_ref()?)));
    sending
        .filter_map(|(ap, multicast)| factor(scene, ap, multicast))
        .collect()
}

/// `None` if no station is on a channel of the access point.
fn factor(scene: &Scene<'_>, ap: &Ap, multicast: &Multicast) -> Option<Factor> {
    let own = scene.radios.iter().filter(|(radio, _)| radio.ap == ap.name);
    let channels: Vec<usize> = own.map(|(_, channel)| *channel).collect();
    let of_station = |joined: &Option<_>| {
        let channel = joined.as_ref().and_then(|radio| scene.channel(radio));
        channel.is_some_and(|channel| channels.contains(&channel))
    };
    let affected: Vec<bool> = scene.joined.iter().map(of_station).collect();
    if !affected.contains(&true) {
        return None;
    }
    let class = Class {
        kind: Kind::Multicast,
        rank: Rank::SlowStation,
    };
    let name = ap.name.clone();
    let edited = name.clone();
    let factor = Factor::builder(Part::Air, Kind::Multicast, Rank::SlowStation)
        .class(move |station| affected.get(station).copied().unwrap_or(false).then_some(class))
        .edit(move |plan| {
            let mut aps = plan.aps.iter_mut().filter(|ap| ap.name == edited);
            aps.by_ref().for_each(|ap| ap.multicast = None);
        });
    let (need, without) = (need(scene, ap, multicast), format!("without the multicast of {name}"));
    let rate = multicast.rate;
    let title = move |names: &str| format!("The multicast of {name} ({rate}) leaves too little airtime for {names}");
    Some(factor.words(title, without, format!("{need} {}", advice(multicast))))
}

/// Sentence on the airtime of the packets.
fn need(scene: &Scene<'_>, ap: &Ap, multicast: &Multicast) -> String {
    let radios = scene.plan.multicast_radios(ap).into_iter();
    let parts: Vec<String> = radios
        .map(|(radio, config)| format!("{:.0} % of the airtime of {radio}", 100.0 * multicast.airtime(&config)))
        .collect();
    if parts.is_empty() {
        return format!(
            "It sends {:.0} packets per second to each receiver.",
            multicast.packets_per_second()
        );
    }
    let packets = multicast.packets_per_second();
    format!(
        "Its {packets:.0} frames per second need {}, without the time between them.",
        list(&parts)
    )
}

fn advice(multicast: &Multicast) -> &'static str {
    match multicast.to_unicast {
        ToUnicast::Off if multicast.to.is_empty() => {
            "No station of the scenario wants these packets. Enable IGMP snooping on the access point, so that it does not send them."
        }
        ToUnicast::Off => {
            "Let the access point convert multicast to unicast (`multicast_to_unicast`), enable IGMP snooping, or connect the receiver by \
             cable. A higher basic rate for multicast (`mcast_rate`) helps if all receivers have a strong signal."
        }
        ToUnicast::Members | ToUnicast::Stations => {
            "Each receiver gets its own copy. With many receivers, one frame at a higher basic rate (`mcast_rate`) needs less airtime, or \
             connect receivers by cable."
        }
    }
}

fn what_ifs(builder: &mut InterventionBuilder<'_>, _: &Cause) {
    let aps = builder.plan.aps.iter();
    let sending = aps.filter_map(|ap| Some((ap, ap.multicast.as_ref()?)));
    let sending: Vec<(String, bool, Vec<String>)> = sending
        .map(|(ap, multicast)| {
            let radios = builder.plan.multicast_radios(ap).into_iter();
            let radios = radios.map(|(radio, _)| radio.radio.to_string()).collect();
            (ap.name.clone(), multicast.to_unicast == ToUnicast::Off, radios)
        })
        .collect();
    for (name, is_group, radios) in sending {
        if is_group {
            let key = format!("ap.{name}.multicast.to_unicast");
            let label = format!("{name} converts multicast to unicast for the members of the group");
            builder.propose(Kind::Multicast, Effort::Setting, label, &[(&key, "members")]);
        }
        let key = format!("ap.{name}.multicast.snooping");
        let label = format!("{name} sends multicast only on radios with a member (IGMP snooping)");
        builder.propose(Kind::Multicast, Effort::Setting, label, &[(&key, "true")]);
        for radio in radios {
            let key = format!("ap.{name}.radio.{radio}.multicast_rate");
            let label = format!("{name}.{radio} sends multicast at 24 Mbit/s");
            builder.propose(Kind::Multicast, Effort::Setting, label, &[(&key, "24 Mbit/s")]);
        }
    }
}
