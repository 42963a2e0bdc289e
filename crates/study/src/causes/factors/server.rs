//! The link of the server.

use super::Family;
use crate::causes::factor::{Factor, Part, Rank};
use crate::causes::scene::Scene;
use netburn_analysis::explain::Kind;
use netburn_analysis::format::mbps;
use netburn_network::highest_rate;
use netburn_scenario::plan::{LinkSetting, RadioName, Setting};
use netburn_units::BitRate;
use std::collections::BTreeSet;

pub(super) const FAMILY: Family = Family {
    without: "ten times the rate of the server's link, and its default queue",
    find,
};

/// Factor of the rate.
const TIMES: u64 = 10;
/// Rate of the link if the scenario has none.
const DEFAULT: BitRate = BitRate::from_mbps(1_000);

fn find(scene: &Scene<'_>) -> Vec<Factor> {
    let rate = scene.plan.server.link.rate.unwrap_or(DEFAULT);
    if air(scene).is_some_and(|air| air <= lowest(scene, rate)) {
        return Vec::new();
    }
    let factor = Factor::builder(Part::Server, Kind::Server, Rank::Place).edit(move |plan| {
        plan.server.link.rate = Some(BitRate::from_bps(rate.as_bps().saturating_mul(TIMES)));
        plan.server.link.queue = None;
        for change in &mut plan.changes {
            change
                .settings
                .retain(|setting| !matches!(setting, Setting::Link(LinkSetting::Rate(_) | LinkSetting::Queue(_))));
        }
    });
    vec![factor.words(
        |names| format!("The server's link is the bottleneck for {names}, not the Wi-Fi"),
        "with ten times the rate of the server's link",
        format!(
            "The link has {} Mbit/s. Connect the server to a faster link, or request less. Changes to the Wi-Fi do not help.",
            mbps(rate.as_mbps_f64())
        ),
    )]
}

/// Lowest rate of the link in the run.
fn lowest(scene: &Scene<'_>, rate: BitRate) -> BitRate {
    let settings = scene.plan.changes.iter().flat_map(|change| &change.settings);
    let rates = settings.filter_map(|setting| match setting {
        Setting::Link(LinkSetting::Rate(rate)) => Some(*rate),
        _ => None,
    });
    rates.fold(rate, BitRate::min)
}

/// Sum of the highest rates of the radios with stations, which a link of this rate never limits. `None` if a station has a wire
/// or can move to another radio.
fn air(scene: &Scene<'_>) -> Option<BitRate> {
    if scene.plan.stations.iter().any(|station| station.air.roaming.is_some()) {
        return None;
    }
    let joined = scene.joined.iter().map(Option::as_ref);
    let radios: BTreeSet<(&str, RadioName)> = joined
        .map(|radio| radio.map(|radio| (radio.ap.as_str(), radio.radio)))
        .collect::<Option<_>>()?;
    let rate = |(ap, name): &(&str, RadioName)| {
        let radios = scene.ap(ap)?.all_radios().ok()?;
        let (_, config) = radios.iter().find(|(known, _)| known == name)?;
        Some(highest_rate(config).as_bps())
    };
    radios.iter().map(rate).sum::<Option<u64>>().map(BitRate::from_bps)
}
