//! The delay of the wired links up to the server.

use super::Family;
use crate::causes::factor::{Factor, Part, Rank};
use crate::causes::scene::Scene;
use netburn_analysis::explain::Kind;
use netburn_analysis::format::span;
use netburn_scenario::Plan;
use netburn_scenario::plan::{ApSetting, LinkSetting, Setting, StationSetting};
use netburn_units::Duration;

pub(super) const FAMILY: Family = Family {
    without: "at most 2 ms of delay, one way, on each wired link",
    find,
};

/// One-way delay of a link within a city.
const NEAR: Duration = Duration::from_millis(2);
/// One-way delay up to the server from which distance is a factor.
const FAR: Duration = Duration::from_millis(10);

fn find(scene: &Scene<'_>) -> Vec<Factor> {
    let plan = scene.plan;
    let wans = plan.wans().map(|wan| wan.delay);
    let wires = plan
        .stations
        .iter()
        .filter_map(|station| Some(station.link.as_ref()?.delay));
    let changed = plan
        .changes
        .iter()
        .flat_map(|change| &change.settings)
        .filter_map(delay);
    let farthest = wans.chain(wires).chain(changed).max().unwrap_or_default() + plan.server.link.delay;
    if farthest < FAR {
        return Vec::new();
    }
    let factor = Factor::builder(Part::Server, Kind::DistantServer, Rank::Place).edit(near);
    vec![factor.words(
        |names| format!("The server is too far away for {names}"),
        "with a server in the same city",
        format!(
            "The wired links to the server have up to {} of delay, one way. A faster line or another queue does not shorten it. Use a \
             nearer server (a mirror, a CDN) or fewer round trips (persistent connections, HTTP/2, smaller objects).",
            span(farthest.as_millis_f64())
        ),
    )]
}

fn delay(setting: &Setting) -> Option<Duration> {
    match setting {
        Setting::Link(LinkSetting::Delay(delay))
        | Setting::Ap(_, ApSetting::WanDelay(delay))
        | Setting::Router(ApSetting::WanDelay(delay))
        | Setting::Station(_, StationSetting::LinkDelay(delay)) => Some(*delay),
        _ => None,
    }
}

fn near(plan: &mut Plan) {
    plan.server.link.delay = plan.server.link.delay.min(NEAR);
    for wan in plan.wans_mut() {
        wan.delay = wan.delay.min(NEAR);
    }
    for link in plan.stations.iter_mut().filter_map(|station| station.link.as_mut()) {
        link.delay = link.delay.min(NEAR);
    }
    for change in &mut plan.changes {
        change.settings.retain(|setting| delay(setting).is_none());
    }
}
