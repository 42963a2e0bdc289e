//! Checks that the keys of timed changes exist.

use super::air::check_radio;
use super::wire::wired_queues;
use super::{MAX_CHANGES, Names};
use crate::change::is_of_link;
use crate::decode::{Context, List, Spanned};
use crate::file::AtSection;
use crate::places::Place;
use crate::plan::check_floor;
use crate::plan::{Change, Plan, Setting, Station, StationSetting};
use crate::suggest::list;
use netburn_medium::queue::Place as QueuePlace;

pub(super) fn changes(read: &Spanned<List<AtSection>>, plan: &Plan, names: &Names, cx: &mut Context) -> Vec<Change> {
    if read.0.len() > MAX_CHANGES {
        let help = format!("expected up to {MAX_CHANGES}");
        cx.problem_at(read, format!("too many changes: found {}", read.0.len()), help);
        return Vec::new();
    }
    let mut changes = Vec::new();
    for at in &read.0 {
        let (Some(time), Some(settings)) = (&at.time, &at.set) else {
            continue;
        };
        if time.0 > plan.duration {
            let message = format!("the change is after the end of the load: found {}", time.0);
            let help = format!("expected up to `duration`, which is {}", plan.duration);
            cx.problem_at(time, message, help);
        }
        for setting in &settings.0 {
            check(setting, plan, names, cx);
        }
        changes.push(Change {
            time: time.0,
            settings: settings.0.iter().map(|at| at.value.clone()).collect(),
        });
    }
    changes.sort_by_key(|change| change.time);
    changes
}

fn check(setting: &Spanned<Setting>, plan: &Plan, names: &Names, cx: &mut Context) {
    match &setting.value {
        Setting::Link(_) => {}
        Setting::Router(_) if plan.router.is_some() => {}
        Setting::Router(_) => {
            let help = "add `[router]`, or change the keys of an access point";
            cx.problem_at(setting, "the scenario has no `[router]`", help.to_owned());
        }
        Setting::Ap(name, _) => check_name(setting, "access point", name, &names.aps, cx),
        Setting::Radio(radio, _) => check_radio(setting, radio, &plan.aps, names, cx),
        Setting::Station(name, station) => {
            check_name(setting, "station", name, &names.stations, cx);
            if let Some(existing) = plan.station(name) {
                check_applies(setting, *station, existing, plan, cx);
            }
        }
    }
}

/// Reports a Wi-Fi setting of a station on a wired link, and a link setting of a station on Wi-Fi.
fn check_applies(at: &Spanned<Setting>, setting: StationSetting, station: &Station, plan: &Plan, cx: &mut Context) {
    use StationSetting::Queue;
    let name = &station.name;
    let of_link = is_of_link(&at.value);
    match (setting, station.link.is_some()) {
        (Queue(kind), true) if !kind.is_on(QueuePlace::Wire) => {
            let message = format!("`{}` needs Wi-Fi, and `{name}` has a `link`", kind.name());
            cx.problem_at(at, message, format!("expected one of {}", wired_queues()));
        }
        (Queue(_), _) => {}
        (_, true) if !of_link => {
            let help = "for a station with a `link`, `queue` and the keys below `link` can change";
            cx.problem_at(at, format!("`{name}` has a `link` and no Wi-Fi"), help.to_owned());
        }
        (StationSetting::Position(position), false) if !station.air.path.is_empty() => {
            let place = Spanned {
                value: Place(position),
                place: at.place.clone(),
                path: at.path.clone(),
            };
            check_floor(&place, plan.building.as_ref(), cx);
        }
        (StationSetting::Position(_), false) => {
            let help = format!("add a `position` to `[station.{name}]`: its place at the start");
            cx.problem_at(at, format!("`{name}` has no position"), help);
        }
        (_, false) if of_link => {
            let help = format!("add one instead of `joins`: `[station.{name}.link]`");
            cx.problem_at(at, format!("`{name}` has no `link`"), help);
        }
        _ => {}
    }
}

fn check_name(
    at: &Spanned<Setting>,
    what: &str,
    name: &str,
    names: &std::collections::BTreeSet<String>,
    cx: &mut Context,
) {
    if names.contains(name) {
        return;
    }
    let all = || names.iter().map(String::as_str);
    let help = match cx.nearest(name, all()) {
        Some(near) => format!("did you mean `{near}`?"),
        None if names.is_empty() => format!("the scenario has no {what}"),
        None => format!("expected one of {}", list(all())),
    };
    let shown = crate::suggest::quoted_name(name);
    cx.problem_at(at, format!("unknown {what} {shown}"), help);
}
