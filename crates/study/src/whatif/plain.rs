//! Changes and values in words without technical terms.

use super::{Value, WhatIf};
use netburn_analysis::explain::causes::Effort;
use netburn_analysis::format::mbps;

/// Path of the throughput among the metrics.
const THROUGHPUT: &str = "throughput_mbps";

/// Words for the goals of a kind of workload: kind, a part of the text of the goal, words that precede a share.
const GOALS: [(&str, &str, &str); 11] = [
    ("pages", "", "pages in time"),
    ("voice", "", "clear call"),
    ("calls", "", "call in time"),
    ("stream", "stall", "video without stalls"),
    ("stream", "", "video at its full rate"),
    ("dash", "stall", "video without stalls"),
    ("dash", "", "video at its full rate"),
    ("game", "gap", "game without gaps"),
    ("game", "", "game in time"),
    ("video-call", "freeze", "video call without freezes"),
    ("video-call", "", "video call in time"),
];

/// The change as an instruction, without a full stop.
pub(super) fn instruction(what_if: &WhatIf) -> String {
    let sentence = what_if.set.iter().find_map(|(key, value)| {
        let parts: Vec<&str> = key.split('.').collect();
        match (parts.as_slice(), value.as_str()) {
            (["ap", _, "queue"], "airtime" | "fq-codel" | "fq-mac") => Some(
                "Use a fair queue in the access point, so that no device has to wait for the packets of another"
                    .to_owned(),
            ),
            (["ap", _, "aql"], _) => Some("Limit the hardware queue of the access point (AQL)".to_owned()),
            ([.., "wan", "shaper_down"], _) if both(what_if) => Some(sqm("both directions")),
            ([.., "wan", "shaper_down"], _) => Some(sqm("downloads")),
            ([.., "wan", "shaper_up"], _) => Some(sqm("uploads")),
            ([.., "wan", "queue"], _) => {
                Some("Use a short queue for the internet line in the router or modem".to_owned())
            }
            ([.., "wan", direction @ ("down" | "up")], rate) => Some(match value_of(what_if, "wan.up") {
                Some(up) if *direction == "down" => format!("Get an internet line with {rate} down and {up} up"),
                _ => format!("Get an internet line with {rate} {direction}"),
            }),
            (["station", name, "signal"], to) => {
                Some(format!("Move {name} nearer to the access point, to a signal of {to}"))
            }
            (["station", name, "joins"], to) => Some(format!("Connect {name} to {to}")),
            (["station", name, "adapter_rate"], _) if what_if.effort == Effort::Program => limited(what_if, name),
            _ => None,
        }
    });
    // Labels that start with a name keep its spelling.
    sentence.unwrap_or_else(|| match what_if.label.strip_prefix("the ") {
        Some(rest) => format!("The {rest}"),
        None => what_if.label.clone(),
    })
}

fn both(what_if: &WhatIf) -> bool {
    value_of(what_if, "wan.shaper_up").is_some()
}

/// Value of the key whose path ends with this.
fn value_of<'a>(what_if: &'a WhatIf, end: &str) -> Option<&'a str> {
    let found = what_if.set.iter().find(|(key, _)| key.ends_with(&format!(".{end}")));
    found.map(|(_, value)| value.as_str())
}

/// Limit of the transfers of a device. A limit of its adapter stands for one of its programs; a fitted model has no other.
fn limited(what_if: &WhatIf, name: &str) -> Option<String> {
    let rate = what_if.plan.station(name)?.air.adapter_rate;
    let (what, rate) = match (rate.down, rate.up) {
        (Some(down), None) => ("downloads", down),
        (None, Some(up)) => ("uploads", up),
        _ => return None,
    };
    Some(format!("Limit {what} of {name} to {rate} in its program"))
}

fn sqm(direction: &str) -> String {
    format!("Use SQM in the router for {direction}: it keeps them slightly below the rate of the internet line")
}

/// Name of a value; `None` for one that only an engineer needs.
pub(super) fn name(value: &Value) -> Option<String> {
    if let Some((_, goal)) = &value.key.goal {
        let known = GOALS
            .iter()
            .find(|(kind, part, _)| *kind == value.kind && goal.contains(part));
        let workload = value.key.workload.as_deref().unwrap_or_default();
        return Some(known.map_or_else(|| format!("{workload}, {goal}:"), |(_, _, words)| (*words).to_owned()));
    }
    if value.key.quantity.path != THROUGHPUT {
        return None;
    }
    let is_transfer = matches!(value.kind.as_str(), "download" | "upload");
    is_transfer.then(|| match value.key.workload {
        Some(_) => value.kind.clone(),
        None => "all traffic".to_owned(),
    })
}

/// `31 % → 96 % (91 to 99 %)`: the medians, and the smallest and the largest value with the change.
pub(super) fn change(value: &Value) -> String {
    format!("{} → {}", median(value, value.before), with_range(value, value.after))
}

/// `31 % (20 to 45 %)`: the value without a change.
pub(super) fn now(value: &Value) -> String {
    with_range(value, value.before)
}

fn with_range(value: &Value, all: [f64; 3]) -> String {
    let [low, high] = [all[0], all[2]].map(|one| number(value, one));
    let range = if low == high { low } else { format!("{low} to {high}") };
    let percent = if value.is_goal() { " %" } else { "" };
    format!("{} ({range}{percent})", median(value, all))
}

/// `31 %`: the median with its unit.
pub(super) fn median(value: &Value, [_, median, _]: [f64; 3]) -> String {
    let unit = if value.is_goal() { "%" } else { "Mbit/s" };
    format!("{} {unit}", number(value, median))
}

fn number(value: &Value, one: f64) -> String {
    if value.is_goal() {
        // A share that is nearly 1 must not look complete.
        format!("{:.0}", (one * 100.0 + 1e-9).floor())
    } else {
        mbps(one)
    }
}
