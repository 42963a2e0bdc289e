//! The queue of an access point, and that of its hardware.

use super::factor::{Class, Factor, Part, Rank};
use super::scene::Scene;
use super::slow_station::is_slow;
use super::{Family, Kind};
use netburn_medium::config::{Aql, HardwareQueue};
use netburn_medium::queue::{QueueKind, Sharing};
use netburn_scenario::Plan;
use netburn_scenario::plan::{Ap, ApSetting, Setting};
use netburn_workload::Direction;

pub(super) const FAMILY: Family = Family {
    without: "a queue for each flow, airtime fairness and airtime queue limits at one access point",
    find: factors,
};

/// Frames in the hardware above which its queue is a cause of its own.
const DEEP_FRAMES: u32 = 64;

fn factors(scene: &Scene<'_>) -> Vec<Factor> {
    let poor = scene
        .plan
        .aps
        .iter()
        .filter(|ap| !ap.queue.properties().shares_airtime || is_deep(ap) || is_changed(scene.plan, ap));
    poor.map(|ap| factor(scene, ap)).collect()
}

const fn is_deep(ap: &Ap) -> bool {
    match ap.hardware_queue {
        HardwareQueue::Unlimited => true,
        HardwareQueue::Frames(frames) => frames > DEEP_FRAMES,
        HardwareQueue::Aggregates(_) | HardwareQueue::Time(_) => false,
    }
}

fn is_changed(plan: &Plan, ap: &Ap) -> bool {
    let mut settings = plan.changes.iter().flat_map(|change| &change.settings);
    settings.any(|setting| matches!(setting, Setting::Ap(of, ApSetting::Queue(_)) if *of == ap.name))
}

fn factor(scene: &Scene<'_>, ap: &Ap) -> Factor {
    let loaders = scene.elastic(&scene.on_ap(&ap.name), Direction::Down);
    let slow: Vec<usize> = loaders
        .iter()
        .copied()
        .filter(|station| is_slow(scene, *station))
        .collect();
    let by = if slow.is_empty() { loaders.clone() } else { slow.clone() };
    let (name, edited) = (ap.name.clone(), ap.name.clone());
    let origin = scene.names(&by);
    let title = {
        let name = name.clone();
        move |kind, names: &str| match kind {
            Kind::SlowNeighbour => format!("{origin} is slow and uses too much airtime, which delays {names}"),
            Kind::WifiDelay => format!("Packets of {names} wait in the queue of the access point {name}"),
            _ => format!("Bufferbloat: {origin}'s download fills the queue of {name}, which delays {names}"),
        }
    };
    // A slow station fills the queue with long transmissions.
    let class = move |victim: usize| {
        let (kind, rank) = match (loaders.is_empty(), slow.is_empty() || slow.contains(&victim)) {
            (true, _) => (Kind::WifiDelay, Rank::Queue),
            (false, true) => (Kind::DownloadBloat, Rank::Queue),
            (false, false) => (Kind::SlowNeighbour, Rank::SlowStation),
        };
        Some(Class { kind, rank })
    };
    Factor::builder(Part::Air, Kind::DownloadBloat, Rank::Queue)
        .by(by)
        .class(class)
        .edit(move |plan| fair(plan, &edited))
        .words_by_kind(
            title,
            format!("with a queue for each flow and a fair share of the airtime at {name}"),
            advice(ap),
        )
}

fn advice(ap: &Ap) -> String {
    let queue = ap.queue.name();
    match ap.queue.properties().sharing {
        Sharing::All => format!(
            "The access point has one queue for all flows (`{queue}`). Use a queue for each flow (`queue = \"airtime\"`, as in mac80211)."
        ),
        Sharing::Station | Sharing::Flow => {
            format!("The queue of the access point is `{queue}`. Share the airtime (`queue = \"airtime\"`, as in mac80211).")
        }
        Sharing::StationFlow => {
            "The access point has a queue for each flow. The remaining delay is in its hardware queue: limit it (`queue = \"airtime\"` with \
             `aql`)."
                .to_owned()
        }
    }
}

fn fair(plan: &mut Plan, name: &str) {
    for change in &mut plan.changes {
        change
            .settings
            .retain(|setting| !matches!(setting, Setting::Ap(of, ApSetting::Queue(_)) if of == name));
    }
    let Some(ap) = plan.aps.iter_mut().find(|ap| ap.name == name) else {
        return;
    };
    ap.queue = QueueKind::Airtime;
    ap.queue_limit = QueueKind::Airtime.default_limit();
    ap.aql = Some(Aql::default());
    if is_deep(ap) {
        ap.hardware_queue = HardwareQueue::default();
    }
}
