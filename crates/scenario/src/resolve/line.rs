//! Checks of the keys of a WAN link.

use crate::decode::Context;
use crate::plan::WanSection;
use crate::plan::{ShaperRate, Wan};

/// Checks the shapers and traces of a WAN link.
pub(super) fn check(wan: &Wan, section: &WanSection, cx: &mut Context) {
    check_shapers(wan, section, cx);
    check_traces(section, cx);
}

/// Checks that a shaper with a share of the link's rate has a rate.
fn check_shapers(wan: &Wan, section: &WanSection, cx: &mut Context) {
    let keys = [
        (&section.shaper, "down", wan.down.or(wan.up)),
        (&section.shaper_down, "down", wan.down),
        (&section.shaper_up, "up", wan.up),
    ];
    for (at, direction, rate) in keys {
        let share = at.as_ref().filter(|at| matches!(at.value, ShaperRate::Share(_)));
        if let (Some(at), None) = (share, rate) {
            let message = format!("found {} of the link's rate, which is unlimited", found(at.value));
            let help = format!("add `{direction} = \"50 Mbit/s\"`, or use a rate instead of a share");
            cx.problem_at(at, message, help);
        }
    }
}

/// Checks that a direction has a rate or a trace, and not both.
fn check_traces(section: &WanSection, cx: &mut Context) {
    let ways = [
        (&section.trace_down, section.down.is_some(), "down"),
        (&section.trace_up, section.up.is_some(), "up"),
    ];
    for (trace, rate, way) in ways {
        if let (Some(at), true) = (trace, rate) {
            let message = format!("`trace_{way}` and `{way}` exclude each other");
            cx.problem_at(at, message, "remove one of them".to_owned());
        }
    }
}

/// A shaper's rate as it is written.
fn found(rate: ShaperRate) -> String {
    match rate {
        ShaperRate::Share(share) => share.to_string(),
        ShaperRate::Rate(rate) => rate.to_string(),
    }
}
