//! Timed changes: that what they change is there.

use super::air::check_radio;
use super::{MOST_CHANGES, Names};
use crate::plan::{Change, Plan, Setting};
use crate::reading::{At, Context, List};
use crate::sections::AtSection;
use crate::suggest::list;

pub(super) fn changes(read: &At<List<AtSection>>, plan: &Plan, names: &Names, cx: &mut Context) -> Vec<Change> {
    if read.0.len() > MOST_CHANGES {
        let help = format!("a scenario has up to {MOST_CHANGES}");
        cx.wrong(read, format!("there are {} changes", read.0.len()), help);
        return Vec::new();
    }
    let mut changes = Vec::new();
    for at in &read.0 {
        let (Some(time), Some(settings)) = (&at.time, &at.set) else {
            continue;
        };
        if time.0 > plan.duration {
            let message = format!("{} is after the end: `duration` is {}", time.0, plan.duration);
            cx.wrong(time, message, "change things while it runs".to_owned());
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

fn check(setting: &At<Setting>, plan: &Plan, names: &Names, cx: &mut Context) {
    match &setting.value {
        Setting::Link(_) => {}
        Setting::Ap(name, _) => known(setting, "access point", name, &names.aps, cx),
        Setting::Radio(radio, _) => check_radio(setting, radio, &plan.aps, names, cx),
        Setting::Station(name, _) => known(setting, "station", name, &names.stations, cx),
    }
}

fn known(at: &At<Setting>, what: &str, name: &str, names: &std::collections::BTreeSet<String>, cx: &mut Context) {
    if names.contains(name) {
        return;
    }
    let all = || names.iter().map(String::as_str);
    let help = match cx.nearest(name, all()) {
        Some(near) => format!("did you mean `{near}`?"),
        None if names.is_empty() => "there is none".to_owned(),
        None => format!("there are {}", list(all())),
    };
    let shown = crate::suggest::name_shown(name);
    cx.wrong(at, format!("there is no {what} {shown}"), help);
}
