//! Resolution of a station's wired link, which excludes Wi-Fi.

use crate::decode::{Context, Section};
use crate::plan::StationSection;
use crate::problem::Problem;
use crate::suggest::list;
use netburn_medium::queue::{Place, QueueKind};

/// Checks the keys of a station with a wired link, which the key `wire` describes.
pub(super) fn check(section: &StationSection, wire: &str, cx: &mut Context) {
    reject_wifi_keys(section, wire, cx);
    if let Some(at) = section.queue.as_ref().filter(|at| !at.value.is_on(Place::Wire)) {
        let message = format!("`{}` needs Wi-Fi, and the station has a `{wire}`", at.value.name());
        cx.problem_at(at, message, format!("expected one of {}", wired_queues()));
    }
}

/// Names of the queue disciplines for wired hosts.
pub(super) fn wired_queues() -> String {
    list(QueueKind::all_on(Place::Wire).into_iter().map(QueueKind::name))
}

/// Reports every Wi-Fi key of a station with a wired link.
fn reject_wifi_keys(section: &StationSection, wire: &str, cx: &mut Context) {
    if let Some(joins) = &section.joins {
        let help = "remove one of them";
        let message = format!("`joins` and `{wire}` exclude each other");
        cx.problem_at(joins, message, help.to_owned());
    }
    let keys = StationSection::keys();
    for (name, place, path) in section.present() {
        if keys.iter().any(|key| key.wifi && key.name == name) {
            let message = format!("`{name}` needs Wi-Fi, and the station has a `{wire}`");
            let help = format!("remove it, or use `joins` instead of `{wire}`");
            cx.problems.push(Problem::new(place.clone(), path, message, Some(help)));
        }
    }
}
