//! Policers of the provider.

use super::factor::{Factor, Part, Rank};
use super::intervention::{InterventionBuilder, below};
use super::scene::Scene;
use super::{Cause, Definition, Family, Kind};
use crate::format::mbps;
use netburn_scenario::plan::Policer;

pub(super) const CAUSE: Definition = Definition {
    rule: None,
    what_ifs,
    changes: "a shaper with CAKE below the rate of the policer",
};

pub(super) const FAMILY: Family = Family {
    without: "no policer",
    find: factors,
};

fn factors(scene: &Scene<'_>) -> Vec<Factor> {
    let policers: Vec<Policer> = scene
        .plan
        .wans()
        .flat_map(|wan| [wan.policer_down, wan.policer_up])
        .flatten()
        .collect();
    let Some(rate) = policers.iter().map(|policer| policer.rate).min() else {
        return Vec::new();
    };
    let factor = Factor::builder(Part::Line, Kind::Policer, Rank::Disturbance).edit(|plan| {
        for wan in plan.wans_mut() {
            (wan.policer_down, wan.policer_up) = (None, None);
        }
    });
    vec![factor.words(
        |names| format!("The provider drops packets of {names} above a rate (policer)"),
        "without the policer",
        format!(
            "The policer drops what exceeds {} Mbit/s and its bucket. Limit the traffic in the router to less than that (SQM), so \
             that packets wait instead of being dropped. If a workload needs more, only a faster tariff helps.",
            mbps(rate.as_mbps_f64())
        ),
    )]
}

/// Proposes a shaper below the rate of the policer.
fn what_ifs(builder: &mut InterventionBuilder<'_>, _: &Cause) {
    for line in builder.plan.lines() {
        for (way, policer) in [("down", line.wan.policer_down), ("up", line.wan.policer_up)] {
            if let Some(policer) = policer {
                builder.shaper(Kind::Policer, &line, way, below(policer.rate));
            }
        }
    }
}
