//! Scans of access points, during which they hear and send nothing on their channel.

use super::Family;
use crate::causes::factor::{Factor, Part, Rank};
use crate::causes::scene::{Scene, list};
use netburn_analysis::explain::Kind;
use netburn_analysis::format::span;
use netburn_scenario::plan::DEFAULT_SCAN_AWAY;

pub(super) const FAMILY: Family = Family {
    without: "no scans of the access points",
    find,
};

fn find(scene: &Scene<'_>) -> Vec<Factor> {
    let scanning: Vec<_> = scene
        .plan
        .aps
        .iter()
        .filter_map(|ap| Some((ap, ap.scan_interval?)))
        .collect();
    let Some((first, interval)) = scanning.first() else {
        return Vec::new();
    };
    let names = list(&scanning.iter().map(|(ap, _)| ap.name.as_str()).collect::<Vec<_>>());
    let factor = Factor::builder(Part::Air, Kind::ApScans, Rank::Disturbance).edit(|plan| {
        for ap in &mut plan.aps {
            ap.scan_interval = None;
        }
    });
    let title = {
        let names = names.clone();
        move |affected: &str| format!("The access point {names} scans other channels, which interrupts {affected}")
    };
    vec![factor.words(
        title,
        format!("without the scans of {names}"),
        format!(
            "It is away from its channel for {} of each {}. Switch off automatic channel selection in the background, or scan less often.",
            span(first.scan_away.unwrap_or(DEFAULT_SCAN_AWAY).as_millis_f64()),
            span(interval.as_millis_f64())
        ),
    )]
}
