//! Wireless backhauls.

use super::Family;
use super::own_channel::{free_channel, move_to};
use crate::causes::factor::{Factor, Part, Rank};
use crate::causes::scene::{Scene, is_wireless, list};
use netburn_analysis::explain::Kind;
use netburn_scenario::Plan;
use netburn_scenario::plan::{Backhaul, RadioRef};

pub(super) const FAMILY: Family = Family {
    without: "wires instead of wireless backhauls, and another channel for these access points",
    find,
};

fn find(scene: &Scene<'_>) -> Vec<Factor> {
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
