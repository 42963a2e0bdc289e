//! The queue in front of an internet line, by direction. Without it, each flow has a queue of its own there.

use super::factor::{Factor, Part, Rank};
use super::scene::{Line, Scene};
use super::{Family, Kind};
use crate::format::mbps;
use netburn_medium::queue::QueueKind;
use netburn_scenario::Plan;
use netburn_scenario::plan::{Capacity, Device};
use netburn_units::{BitRate, ByteSize, Duration};
use netburn_workload::Direction;

pub(super) const FAMILY: Family = Family {
    without: "a queue for each flow in front of the line (FQ-CoDel), in one direction",
    find: factors,
};

/// A shaper up to this share of the line's rate keeps the queue in the router.
const SHAPED: f64 = 0.97;

/// A full queue that delays a packet for less than this misses no goal by its delay, but by the packets that it drops.
const NOTICEABLE_WAIT: Duration = Duration::from_millis(20);

/// Remedy for a queue that overflows.
const LONGER_QUEUE: &str = "The modem's buffer is too small for the bursts of this line. A router with SQM (CAKE or FQ-CoDel, slightly below \
     the line's rate) has room for them, and a queue for each flow keeps the delay short.";

fn factors(scene: &Scene<'_>) -> Vec<Factor> {
    let lines = scene.lines().into_iter();
    let each = lines.flat_map(|line| [Direction::Down, Direction::Up].map(|direction| factor(scene, &line, direction)));
    each.flatten().collect()
}

fn factor(scene: &Scene<'_>, line: &Line, direction: Direction) -> Option<Factor> {
    let capacity = scene.plan.capacity(line.router, direction)?;
    let lowest = capacity.lowest_of_line(scene.plan.duration)?;
    let wan = scene.plan.wan(line.router)?;
    let discipline = wan.discipline_in(direction);
    let too_high = capacity
        .shaper()
        .filter(|rate| rate.as_bps() as f64 > SHAPED * lowest.as_bps() as f64);
    if discipline.properties().sharing.is_by_flow() && too_high.is_none() && !capacity.is_variable() {
        return None;
    }
    let by = scene.elastic(&line.stations, direction);
    let kind = match (too_high.is_some(), by.is_empty(), direction) {
        (true, ..) => Kind::Shaper,
        (_, true, Direction::Down) => Kind::LineDown,
        (_, true, Direction::Up) => Kind::LineUp,
        (_, false, Direction::Down) => Kind::DownloadBloat,
        (_, false, Direction::Up) => Kind::UploadBloat,
    };
    let router = line.router;
    let rank = if by.is_empty() && too_high.is_none() && !capacity.is_variable() {
        Rank::Bursts
    } else {
        Rank::Queue
    };
    let overflows = rank == Rank::Bursts
        && longest_wait(wan.queue_in(direction), lowest).is_some_and(|wait| wait < NOTICEABLE_WAIT);
    let builder = Factor::builder(Part::Line, kind, rank)
        .by(by.clone())
        .edit(move |plan| short_queue(plan, router, direction));
    let (way, transfer) = words(direction);
    let (name, origin) = (line.name.clone(), scene.names(&by));
    let without = format!("with a queue for each flow in front of {name}, {way}");
    if overflows {
        let title = move |names: &str| format!("Bursts of {names} overflow the short queue of {name}, {way}");
        return Some(builder.words(title, without, LONGER_QUEUE));
    }
    let title = title(origin, name, transfer, way, too_high.is_some());
    Some(builder.words(
        title,
        without,
        advice(&capacity, lowest.as_mbps_f64(), way, too_high.is_some()),
    ))
}

/// The time that a packet behind a full queue of this capacity waits.
fn longest_wait(queue: Option<ByteSize>, rate: BitRate) -> Option<Duration> {
    rate.time_for(queue?)
}

fn title(
    origin: String,
    line: String,
    transfer: &'static str,
    way: &'static str,
    shaped: bool,
) -> impl Fn(&str) -> String {
    move |names| {
        let why = if shaped {
            ", because the shaper's rate is above that of the line"
        } else {
            ""
        };
        match origin.as_str() {
            "" => format!("Packets of {names} wait in the queue of {line}, {way}{why}"),
            _ => {
                format!("Bufferbloat: {origin}'s {transfer} fills the queue of {line}, which delays {names}{why}")
            }
        }
    }
}

fn advice(capacity: &Capacity, lowest: f64, way: &str, too_high: bool) -> String {
    match (capacity.shaper(), too_high) {
        (Some(rate), true) => format!(
            "The router has a shaper already, at {} Mbit/s. Set it below the lowest rate of the line, which is {} Mbit/s {way}. \
             Packets then wait in the router, where each flow has a queue of its own.",
            mbps(rate.as_mbps_f64()),
            mbps(lowest)
        ),
        (Some(rate), false) => format!(
            "The router limits this direction to {} Mbit/s already, but one queue (FIFO) holds all packets there. Set its discipline to CAKE \
             or FQ-CoDel, so that each flow has a queue of its own.",
            mbps(rate.as_mbps_f64())
        ),
        _ => "Limit the traffic in the router to slightly less than the rate of the line (SQM with CAKE or FQ-CoDel). Packets \
              then wait in the router, where each flow has a queue of its own. Changes to the Wi-Fi do not help."
            .to_owned(),
    }
}

/// Direction and transfer in words.
const fn words(direction: Direction) -> (&'static str, &'static str) {
    match direction {
        Direction::Down => ("downstream", "download"),
        Direction::Up => ("upstream", "upload"),
    }
}

/// Puts a queue for each flow in front of the line itself, and removes the shaper of this direction.
fn short_queue(plan: &mut Plan, router: Device, direction: Direction) {
    let Some(wan) = plan.wan_mut(router) else { return };
    let shaper = wan.shaper.take();
    let (down, up) = (wan.shaper_down.or(shaper), wan.shaper_up.or(shaper));
    match direction {
        Direction::Down => {
            (wan.discipline_down, wan.shaper_down, wan.shaper_up) = (Some(QueueKind::FqCodel), None, up);
        }
        Direction::Up => {
            (wan.discipline_up, wan.shaper_down, wan.shaper_up) = (Some(QueueKind::FqCodel), down, None);
        }
    }
}
