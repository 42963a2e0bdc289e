//! Loss on wired links: the internet line, the server's link, and the wires of stations.

use super::Family;
use crate::causes::factor::{Factor, Part, Rank};
use crate::causes::scene::Scene;
use netburn_analysis::explain::Kind;
use netburn_scenario::Plan;
use netburn_scenario::plan::{ApSetting, LinkSetting, Setting, StationSetting};
use netburn_units::Probability;

pub(super) const FAMILY: Family = Family {
    without: "no loss on wired links",
    find,
};

fn find(scene: &Scene<'_>) -> Vec<Factor> {
    let mut without = scene.plan.clone();
    lossless(&mut without);
    if without == *scene.plan {
        return Vec::new();
    }
    let at_home = scene.plan.wans().any(|wan| wan.loss.as_ppb() > 0);
    let advice = if at_home {
        "Check the line: cables, the modem's error counters, and the provider. Until it is fixed, a congestion control that does \
         not treat loss as congestion (BBR) reaches a higher rate."
    } else {
        "Check the wired links: cables, ports and error counters. Until they are fixed, a congestion control that does not treat \
         loss as congestion (BBR) reaches a higher rate."
    };
    let factor = Factor::builder(Part::Line, Kind::LossyLine, Rank::Disturbance).edit(lossless);
    vec![factor.words(
        |names| format!("Packets of {names} are lost on a link, not in a queue"),
        "without loss on the wired links",
        advice,
    )]
}

fn lossless(plan: &mut Plan) {
    plan.server.link.loss = Probability::ZERO;
    for wan in plan.wans_mut() {
        wan.loss = Probability::ZERO;
    }
    for link in plan.stations.iter_mut().filter_map(|station| station.link.as_mut()) {
        link.loss = Probability::ZERO;
    }
    for change in &mut plan.changes {
        change.settings.retain(|setting| {
            !matches!(
                setting,
                Setting::Link(LinkSetting::Loss(_))
                    | Setting::Ap(_, ApSetting::WanLoss(_))
                    | Setting::Router(ApSetting::WanLoss(_))
                    | Setting::Station(_, StationSetting::LinkLoss(_))
            )
        });
    }
}
