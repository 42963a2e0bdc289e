//! The router, the ports of access points, and the cables that lead to them.

use super::Names;
use crate::decode::{Context, Named, Spanned};
use crate::file::Scenario;
use crate::plan::{Ap, Backhaul, Plan, Port, StationLink};
use crate::plan::{ApSection, StationSection};
use crate::suggest::list;

/// Name of the `[router]` where access points are named.
const ROUTER: &str = "router";

/// Checks the router, and replaces its name in the backhauls of access points.
pub(super) fn router(file: &Scenario, plan: &mut Plan, cx: &mut Context) {
    let aps = file.ap.iter().flat_map(|aps| &aps.0);
    let Some(section) = &file.router else { return };
    if let (Some(at), Some(router)) = (&section.wan, &plan.router)
        && let Some(wan) = &router.wan
    {
        super::line::check(wan, &at.value, cx);
    }
    for (name, ap) in aps {
        if name.value == ROUTER {
            let help = "give it another name, or remove `[router]` and use `[ap.router.wan]`";
            cx.problem_at(
                name,
                "the name `router` means `[router]` in this scenario",
                help.to_owned(),
            );
        }
        if let Some(at) = &ap.wan {
            let message = format!("`{}` is behind `[router]`, so it has no line of its own", name.value);
            let help = match section.wan {
                Some(_) => "remove it: the line is `[router.wan]`",
                None => "move its keys to `[router.wan]`",
            };
            cx.problem_at(at, message, help.to_owned());
        }
    }
    for ap in &mut plan.aps {
        if ap.backhaul == Backhaul::Port(ROUTER.to_owned()) {
            ap.backhaul = Backhaul::Wired;
        }
    }
}

/// Checks the cable of an access point to another one.
pub(super) fn check_port(
    at: &Spanned<impl Sized>,
    ap: &Ap,
    other: &str,
    sections: &Named<ApSection>,
    (plan, names): (&Plan, &Names),
    cx: &mut Context,
) {
    if other == ap.name {
        let help = "name another access point, or use `\"wired\"`";
        cx.problem_at(at, "the cable leads to the access point itself", help.to_owned());
        return;
    }
    if !check_ap(at, other, names, cx) {
        return;
    }
    let wan = sections.0.iter().find(|(name, _)| name.value == ap.name);
    if let Some(at) = wan.and_then(|(_, section)| section.wan.as_ref()) {
        let message = format!("`{}` is behind `{other}`, so it has no line of its own", ap.name);
        cx.problem_at(
            at,
            message,
            format!("remove it, or move its keys to `[ap.{other}.wan]`"),
        );
    }
    let above = plan.aps.iter().find(|above| above.name == other);
    if above.is_some_and(|above| above.backhaul.is_wireless()) {
        let message = format!("`{other}` has a wireless backhaul, so that no access point can be behind its ports");
        let help = format!("name an access point with a wire, or use the backhaul of `{other}`");
        cx.problem_at(at, message, help);
    }
}

/// Sets the cable of a station, and checks its other end. Returns the key that has it.
pub(super) fn cable(
    link: &mut Option<StationLink>,
    name: &str,
    section: &StationSection,
    (plan, names): (&Plan, &Names),
    cx: &mut Context,
) -> Option<&'static str> {
    let wired = section.wired.as_ref();
    let Some((at, wired)) = wired.and_then(|at| Some((at, at.value.0.as_ref()?))) else {
        let own = section.link.as_ref()?;
        let link = link.as_mut()?;
        match &own.value.to {
            Some(to) => check_end(to, &mut link.to, (plan, names), cx),
            None => check_end(own, &mut link.to, (plan, names), cx),
        }
        return Some("link");
    };
    if section.link.is_some() {
        let help = "remove one of them: `wired` is a cable to the router, and `link` one to the server";
        cx.problem_at(at, "`wired` and `link` exclude each other", help.to_owned());
    }
    let mut set = wired.link.clone();
    if wired.is_named {
        check_end(at, &mut set.to, (plan, names), cx);
    } else {
        set.to = default_port(at, name, plan, cx).unwrap_or_default();
    }
    *link = Some(set);
    Some("wired")
}

/// The router to which a cable leads that does not name its other end.
fn default_port<T>(at: &Spanned<T>, station: &str, plan: &Plan, cx: &mut Context) -> Option<Port> {
    if plan.router.is_some() {
        return Some(Port::Router);
    }
    let edges: Vec<&Ap> = plan.edges().collect();
    let with_line: Vec<&Ap> = edges.iter().copied().filter(|ap| ap.wan.is_some()).collect();
    match (&edges[..], &with_line[..]) {
        ([only], _) | (_, [only]) => return Some(Port::Ap(only.name.clone())),
        // An access point that is invalid has been reported.
        ([], _) if !cx.problems.is_empty() => {}
        ([], _) => {
            let help =
                format!("add `[router]`, or use `[station.{station}.link]` instead for a cable to the server's link");
            cx.problem_at(at, "the scenario has no router, so the cable leads nowhere", help);
        }
        (_, several) => {
            let several = if several.is_empty() { &edges } else { &with_line };
            let names = list(several.iter().map(|ap| ap.name.as_str()));
            let message = "several access points can be the router of the cable";
            let help = format!(
                "name one of {names}: `wired = \"{}\"`; or add `[router]`",
                several[0].name
            );
            cx.problem_at(at, message, help);
        }
    }
    None
}

/// Checks the other end of a station's cable.
fn check_end<T>(at: &Spanned<T>, to: &mut Port, (plan, names): (&Plan, &Names), cx: &mut Context) {
    match to {
        Port::Router if plan.router.is_none() && names.aps.contains(ROUTER) => *to = Port::Ap(ROUTER.to_owned()),
        Port::Router if plan.router.is_none() => {
            let help = "add `[router]`, or name an access point";
            cx.problem_at(at, "the scenario has no `[router]`", help.to_owned());
        }
        Port::Ap(ap) => {
            check_ap(at, ap, names, cx);
        }
        Port::Router | Port::Server => {}
    }
}

/// Reports an unknown access point.
fn check_ap<T>(at: &Spanned<T>, name: &str, names: &Names, cx: &mut Context) -> bool {
    if names.aps.contains(name) {
        return true;
    }
    let known = || names.aps.iter().map(String::as_str);
    let help = match cx.nearest(name, known()) {
        _ if name == ROUTER => "add `[router]`, or name an access point".to_owned(),
        Some(near) => format!("did you mean `{near}`?"),
        None if names.aps.is_empty() => format!("the scenario has none; add one with `[ap.{name}]`"),
        None => format!("expected one of {}", list(known())),
    };
    cx.problem_at(at, format!("unknown access point `{name}`"), help);
    false
}
