//! The link of the server.

use super::Family;
use crate::causes::factor::{Factor, Part, Rank};
use crate::causes::scene::Scene;
use netburn_analysis::explain::Kind;
use netburn_analysis::format::mbps;
use netburn_scenario::plan::{LinkSetting, Setting};
use netburn_units::BitRate;

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
