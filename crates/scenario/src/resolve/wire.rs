//! A station's own wire: that it has no place on the air as well.

use super::air::to_u16;
use crate::plan::{StationAir, StationLink};
use crate::decode::{Spanned, Context};
use crate::sections::{StationLinkSection, StationSection};
use crate::suggest::list;
use crate::enums::WIRED_QUEUES;
use netburn_medium::config::QueueKind;

/// The link of a station that has one, and its place on the air: nowhere, but for its queue.
pub(super) fn link(
    section: &StationSection,
    link: &Spanned<StationLinkSection>,
    cx: &mut Context,
) -> (StationLink, StationAir) {
    not_both(section, cx);
    let default = StationAir::default();
    let queue = section.queue.as_ref().map_or(default.queue, |at| at.value);
    if let Some(at) = section.queue.as_ref().filter(|at| !WIRED_QUEUES.contains(&at.value)) {
        let message = format!(
            "`{}` serves stations on the air, and this one has a `link`",
            queue.name()
        );
        cx.problem_at(at, message, format!("on a wire it is one of {}", wired_queues()));
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
        ring: link.ring.as_ref().map_or(default_link.ring, |at| u32::from(to_u16(at.0))),
        bql: link.bql.as_ref().and_then(|at| at.0),
    };
    (read, StationAir { queue, ..default })
}

/// The names of the queues that a wired host can have.
pub(super) fn wired_queues() -> String {
    list(WIRED_QUEUES.iter().map(|queue: &QueueKind| queue.name()))
}

/// Reports every key of the air that stands beside a link.
fn not_both(section: &StationSection, cx: &mut Context) {
    if let Some(joins) = &section.joins {
        let help = "a station joins a network or has a link of its own: leave one of the two out";
        cx.problem_at(joins, "the station has a `link` already", help.to_owned());
    }
    macro_rules! of_the_air {
        ($($key:ident),+) => {
            $(if let Some(at) = &section.$key {
                let message = concat!("`", stringify!($key), "` is of the air, and the station has a `link`");
                cx.problem_at(at, message, "leave it out, or give `joins` in place of `link`".to_owned());
            })+
        };
    }
    of_the_air!(
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
