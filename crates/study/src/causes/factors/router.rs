//! The forwarding rate of an access point or router.

use super::Family;
use crate::causes::factor::{Factor, Part, Rank};
use crate::causes::scene::Scene;
use netburn_analysis::explain::Kind;
use netburn_analysis::format::mbps;
use netburn_scenario::plan::{ApSetting, Setting};

pub(super) const FAMILY: Family = Family {
    without: "no limit of the forwarding",
    find,
};

fn find(scene: &Scene<'_>) -> Vec<Factor> {
    let limited = scene
        .plan
        .aps
        .iter()
        .filter_map(|ap| Some((ap.name.clone(), ap.forwarding?)));
    limited
        .map(|(name, rate)| {
            let edited = name.clone();
            Factor::builder(Part::Line, Kind::Router, Rank::Place)
                .edit(move |plan| {
                    for ap in plan.aps.iter_mut().filter(|ap| ap.name == edited) {
                        ap.forwarding = None;
                    }
                    for change in &mut plan.changes {
                        change.settings.retain(
                            |setting| !matches!(setting, Setting::Ap(of, ApSetting::Forwarding(_)) if *of == edited),
                        );
                    }
                })
                .words(
                    {
                        let name = name.clone();
                        move |names| format!("The processor of {name} forwards too little for {names}")
                    },
                    format!("with a faster processor in {name}"),
                    format!(
                        "{name} forwards {} Mbit/s in both directions together. Use a faster router, or hardware offloading.",
                        mbps(rate.as_mbps_f64())
                    ),
                )
        })
        .collect()
}
