//! Resolution of a station's wired link, which excludes Wi-Fi.

use super::air::to_u16;
use crate::decode::{Context, Spanned};
use crate::enums::WIRED_QUEUES;
use crate::plan::{StationAir, StationLink};
use crate::sections::{StationLinkSection, StationSection};
use crate::suggest::list;
use netburn_medium::config::QueueKind;

/// Returns a station's wired link, and Wi-Fi settings that are at their defaults except for the queue.
pub(super) fn link(
    section: &StationSection,
    link: &Spanned<StationLinkSection>,
    cx: &mut Context,
) -> (StationLink, StationAir) {
    reject_wifi_keys(section, cx);
    let default = StationAir::default();
    let queue = section.queue.as_ref().map_or(default.queue, |at| at.value);
    if let Some(at) = section.queue.as_ref().filter(|at| !WIRED_QUEUES.contains(&at.value)) {
        let message = format!("`{}` needs Wi-Fi, and the station has a `link`", queue.name());
        cx.problem_at(at, message, format!("expected one of {}", wired_queues()));
    }
    let default_link = StationLink::default();
    let both = link.rate.as_ref().map(|at| at.0);
    let read = StationLink {
        down: link.down.as_ref().map(|at| at.0).or(both).unwrap_or(default_link.down),
        up: link.up.as_ref().map(|at| at.0).or(both).unwrap_or(default_link.up),
        delay: link.delay.as_ref().map_or(default_link.delay, |at| at.0),
        loss: link.loss.as_ref().map_or(default_link.loss, |at| at.0),
        queue: link.queue.as_ref().map(|at| at.0),
        device: link.device.as_ref().map(|at| at.0),
        ring: link
            .ring
            .as_ref()
            .map_or(default_link.ring, |at| u32::from(to_u16(at.0))),
        bql: link.bql.as_ref().and_then(|at| at.0),
    };
    (read, StationAir { queue, ..default })
}

/// Names of the queue disciplines for wired hosts.
pub(super) fn wired_queues() -> String {
    list(WIRED_QUEUES.iter().map(|queue: &QueueKind| queue.name()))
}

/// Reports every Wi-Fi key of a station with a wired link.
fn reject_wifi_keys(section: &StationSection, cx: &mut Context) {
    if let Some(joins) = &section.joins {
        let help = "remove one of them";
        cx.problem_at(joins, "`joins` and `link` exclude each other", help.to_owned());
    }
    macro_rules! wifi_keys {
        ($($key:ident),+) => {
            $(if let Some(at) = &section.$key {
                let message = concat!("`", stringify!($key), "` needs Wi-Fi, and the station has a `link`");
                cx.problem_at(at, message, "remove it, or use `joins` instead of `link`".to_owned());
            })+
        };
    }
    wifi_keys!(
        radio_selection,
        standard,
        streams,
        signal,
        distance,
        mcs,
        signal_up,
        hidden_from,
        rate_control,
        adapter_rate,
        hardware_queue,
        weight
    );
}
