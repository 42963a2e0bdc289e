//! The forwarding rate of an access point or router.

use super::factor::{Factor, Part, Rank};
use super::intervention::{Effort, InterventionBuilder, written};
use super::scene::Scene;
use super::{Cause, Definition, Family, Kind};
use crate::format::mbps;
use netburn_scenario::Plan;
use netburn_scenario::plan::{ApSetting, Device};

pub(super) const CAUSE: Definition = Definition {
    rule: None,
    what_ifs,
    changes: "four times the forwarding rate",
};

/// Factor of a forwarding rate.
const FORWARDING_FACTOR: u64 = 4;

pub(super) const FAMILY: Family = Family {
    without: "no limit of the forwarding",
    find: factors,
};

fn factors(scene: &Scene<'_>) -> Vec<Factor> {
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

fn what_ifs(builder: &mut InterventionBuilder<'_>, _: &Cause) {
    for device in builder.plan.devices() {
        let Some(rate) = builder.plan.forwarding_of(device) else {
            continue;
        };
        let faster = written(rate.as_bps().saturating_mul(FORWARDING_FACTOR));
        let key = format!("{}.forwarding", builder.plan.key_of(device));
        let label = format!("{} forwards {faster}", builder.plan.name_of(device));
        builder.propose(Kind::Router, Effort::Purchase, label, &[(&key, &faster)]);
    }
}
