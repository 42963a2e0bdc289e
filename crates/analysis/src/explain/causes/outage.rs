//! Times in which an internet line carries nothing.

use super::factor::{Factor, Part, Rank};
use super::intervention::InterventionBuilder;
use super::scene::Scene;
use super::{Cause, Definition, Family, Kind};

pub(super) const CAUSE: Definition = Definition {
    rule: None,
    what_ifs,
    changes: "none: no change in the house prevents it",
};

pub(super) const FAMILY: Family = Family {
    without: "no outages of the line",
    find: factors,
};

fn factors(scene: &Scene<'_>) -> Vec<Factor> {
    let outages: Vec<f64> = scene
        .plan
        .wans()
        .flat_map(|wan| &wan.outages)
        .filter(|outage| outage.start < scene.plan.duration)
        .map(|outage| outage.length.as_secs_f64())
        .collect();
    if outages.is_empty() {
        return Vec::new();
    }
    let factor = Factor::builder(Part::Line, Kind::Outage, Rank::Disturbance).edit(|plan| {
        for wan in plan.wans_mut() {
            wan.outages.clear();
        }
    });
    let longest = outages.iter().copied().fold(0.0, f64::max);
    vec![factor.words(
        |names| format!("The internet line fails for a time, which interrupts {names}"),
        "without the outages of the line",
        format!(
            "The line carried nothing {}, for up to {longest:.1} s. Check the modem's log and the provider. Changes in the house do \
             not help.",
            match outages.len() {
                1 => "once".to_owned(),
                count => format!("{count} times"),
            }
        ),
    )]
}

fn what_ifs(builder: &mut InterventionBuilder<'_>, _: &Cause) {
    builder.not_simulated("No change in the house prevents an outage of the internet line.");
}
