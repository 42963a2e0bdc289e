//! Timed changes: that what they change is there.

use super::air::check_radio;
use super::wire::wired_queues;
use super::{MAX_CHANGES, Names};
use crate::plan::{Change, Plan, Setting, Station, StationSetting};
use crate::decode::{Spanned, Context, List};
use crate::sections::AtSection;
use crate::suggest::list;
use crate::enums::WIRED_QUEUES;

pub(super) fn changes(read: &Spanned<List<AtSection>>, plan: &Plan, names: &Names, cx: &mut Context) -> Vec<Change> {
    if read.0.len() > MAX_CHANGES {
        let help = format!("a scenario has up to {MAX_CHANGES}");
        cx.problem_at(read, format!("there are {} changes", read.0.len()), help);
        return Vec::new();
    }
    let mut changes = Vec::new();
    for at in &read.0 {
        let (Some(time), Some(settings)) = (&at.time, &at.set) else {
            continue;
        };
        if time.0 > plan.duration {
            let message = format!("{} is after the end: `duration` is {}", time.0, plan.duration);
            cx.problem_at(time, message, "change things while it runs".to_owned());
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
        Setting::Ap(name, _) => known(setting, "access point", name, &names.aps, cx),
        Setting::Radio(radio, _) => check_radio(setting, radio, &plan.aps, names, cx),
        Setting::Station(name, station) => {
            known(setting, "station", name, &names.stations, cx);
            if let Some(there) = plan.station(name) {
                has(setting, *station, there, cx);
            }
        }
    }
}

/// Reports a change of what a station doesn't have: one is on the air or on a wire.
fn has(at: &Spanned<Setting>, setting: StationSetting, station: &Station, cx: &mut Context) {
    use StationSetting::{LinkDelay, LinkDown, LinkLoss, LinkRate, LinkUp, Queue};
    let name = &station.name;
    let of_link = matches!(
        setting,
        LinkRate(_) | LinkDown(_) | LinkUp(_) | LinkDelay(_) | LinkLoss(_)
    );
    match (setting, station.link.is_some()) {
        (Queue(kind), true) if !WIRED_QUEUES.contains(&kind) => {
            let message = format!(
                "`{}` serves stations on the air, and `{name}` has a `link`",
                kind.name()
            );
            cx.problem_at(at, message, format!("on a wire it is one of {}", wired_queues()));
        }
        (Queue(_), _) => {}
        (_, true) if !of_link => {
            let help = "of a station on a wire `queue` and what is below `link` can change";
            cx.problem_at(
                at,
                format!("`{name}` has a `link`: it is not on the air"),
                help.to_owned(),
            );
        }
        (_, false) if of_link => {
            let help = format!("give it one in place of `joins`: `[station.{name}.link]`");
            cx.problem_at(at, format!("`{name}` has no `link`"), help);
        }
        _ => {}
    }
}

fn known(at: &Spanned<Setting>, what: &str, name: &str, names: &std::collections::BTreeSet<String>, cx: &mut Context) {
    if names.contains(name) {
        return;
    }
    let all = || names.iter().map(String::as_str);
    let help = match cx.nearest(name, all()) {
        Some(near) => format!("did you mean `{near}`?"),
        None if names.is_empty() => "there is none".to_owned(),
        None => format!("there are {}", list(all())),
    };
    let shown = crate::suggest::quoted_name(name);
    cx.problem_at(at, format!("there is no {what} {shown}"), help);
}
