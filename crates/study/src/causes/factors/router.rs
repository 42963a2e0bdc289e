//! The forwarding rate of an access point or router.

use super::Family;
use crate::causes::factor::{Factor, Part, Rank};
use crate::causes::scene::Scene;
use netburn_analysis::explain::Kind;
use netburn_analysis::format::mbps;
use netburn_scenario::Plan;
use netburn_scenario::plan::{ApSetting, Device};

pub(super) const FAMILY: Family = Family {
    without: "no limit of the forwarding",
    find,
};

fn find(scene: &Scene<'_>) -> Vec<Factor> {
    let plan = scene.plan;
    let limited = plan
        .devices()
        .filter_map(|device| Some((device, plan.name_of(device).to_owned(), plan.forwarding_of(device)?)));
    limited
        .map(|(device, name, rate)| {
            Factor::builder(Part::Line, Kind::Router, Rank::Place)
                .edit(move |plan| unlimited(plan, device))
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

/// Removes the limit of a device's forwarding.
fn unlimited(plan: &mut Plan, device: Device) {
    match device {
        Device::Router => plan.router.iter_mut().for_each(|router| router.forwarding = None),
        Device::Ap(ap) => plan.aps[ap].forwarding = None,
    }
    let mut changes = std::mem::take(&mut plan.changes);
    for change in &mut changes {
        change
            .settings
            .retain(|setting| !matches!(plan.setting_of(device, setting), Some(ApSetting::Forwarding(_))));
    }
    plan.changes = changes;
}
