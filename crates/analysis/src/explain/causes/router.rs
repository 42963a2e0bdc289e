//! The forwarding rate of an access point or router.

use super::factor::{Factor, Part, Rank};
use super::intervention::{Effort, InterventionBuilder, written};
use super::scene::Scene;
use super::{Cause, Definition, Family, Kind, list, severity, worst_symptom};
use crate::explain::facts::RunFacts;
use crate::format::{mbps, percent};
use netburn_scenario::Plan;
use netburn_scenario::plan::{ApSetting, Device};

pub(super) const CAUSE: Definition = Definition {
    rule: Some((find, criterion)),
    what_ifs,
    changes: "four times the forwarding rate",
};

/// A processor in use for this share of the time has no room left.
const BUSY: f64 = 0.95;

/// Condition under which the rule names its cause.
fn criterion() -> String {
    format!(
        "simulate, lab: a simulation without the cause shows it. fleet with an observed access point: its busiest processor \
         was in use for {} of the time or more.",
        percent(BUSY)
    )
}

fn find(facts: &RunFacts<'_>, _: &[Cause]) -> Vec<Cause> {
    let observed = facts.evidence.access_points.iter();
    let causes = observed.filter_map(|(name, access_point)| {
        let stations = facts.degraded_at(access_point);
        let mask = facts.bad_bins(&stations);
        let (busy, dropped) = access_point.processors(&mask).filter(|(busy, _)| *busy >= BUSY)?;
        let names = facts.names(stations.iter().copied());
        (!names.is_empty()).then(|| Cause {
            kind: Kind::Router,
            severity: severity(facts, stations.iter().copied()),
            title: format!("The processor of {name} is too slow for {}", list(&names)),
            evidence: format!(
                "Its busiest processor was in use for {} of the time, and dropped {dropped} packets.{}",
                percent(busy),
                worst_symptom(facts, &stations)
            ),
            advice:
                "Use hardware offloading, a lower rate of its shaper, fewer programs on it, or a faster access point."
                    .to_owned(),
            stations: names,
            by: vec![name.clone()],
        })
    });
    causes.collect()
}

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
