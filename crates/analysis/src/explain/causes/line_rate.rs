//! The rate of an internet line or of a station's own wire, by direction, and a shaper far below the rate.

use super::factor::{Factor, Part, Rank};
use super::intervention::{InterventionBuilder, below};
use super::observed_shaper;
use super::scene::{Line, Scene};
use super::{Cause, Definition, Family, Kind};
use crate::format::mbps;
use netburn_scenario::Plan;
use netburn_scenario::plan::{ApSetting, Capacity, Device, Setting, ShaperRate, StationSetting};
use netburn_units::{BitRate, Probability};
use netburn_workload::Direction;

pub(super) const SHAPER: Definition = Definition {
    rule: Some((observed_shaper::find, observed_shaper::criterion)),
    what_ifs: shaper_what_ifs,
    changes: "a shaper at 90 % of the lowest rate of the line",
};

pub(super) const FAMILY: Family = Family {
    without: "four times the rate of the line or of the station's wire, at least 100 Mbit/s; a shaper at 95 % of the line",
    find: factors,
};

/// Factor of the rate.
const TIMES: u64 = 4;
/// Rate that is enough for the workloads of a home.
const PLENTY: BitRate = BitRate::from_mbps(100);
/// A shaper below this share of the line's rate wastes it.
const LOW: f64 = 0.8;
/// Share at which a shaper still keeps the queue.
const USUAL: Option<Probability> = Probability::from_ppb(950_000_000);

fn factors(scene: &Scene<'_>) -> Vec<Factor> {
    let lines = scene.lines().into_iter();
    let each =
        lines.flat_map(|line| [Direction::Down, Direction::Up].map(|direction| of_line(scene, &line, direction)));
    each.flatten().flatten().chain(wires(scene)).collect()
}

fn of_line(scene: &Scene<'_>, line: &Line, direction: Direction) -> Option<Vec<Factor>> {
    let capacity = scene.plan.capacity(line.router, direction)?;
    let lowest = capacity.lowest_of_line(scene.plan.duration)?;
    let (router, way) = (line.router, way(direction));
    let mut factors = Vec::new();
    if let Some(shaper) = capacity
        .shaper()
        .filter(|rate| (rate.as_bps() as f64) < LOW * lowest.as_bps() as f64)
    {
        let name = line.name.clone();
        factors.push(
            Factor::builder(Part::Line, Kind::Shaper, Rank::Place)
                .edit(move |plan| usual_shaper(plan, router, direction))
                .words(
                    move |names| format!("The shaper limits {name} far below its rate {way}, which is too slow for {names}"),
                    format!("with the shaper at 95 % of the line, {way}"),
                    format!(
                        "The shaper is set to {} Mbit/s, and the line has {} Mbit/s. Set the shaper to 90 or 95 % of the line.",
                        mbps(shaper.as_mbps_f64()),
                        mbps(lowest.as_mbps_f64())
                    ),
                ),
        );
    }
    let name = line.name.clone();
    factors.push(
        Factor::builder(Part::Line, Kind::SlowLine, Rank::Capacity)
            .edit(move |plan| faster(plan, router, direction))
            .words(
                move |names| format!("{} is too slow {way} for {names}", capital(&name)),
                format!("with a much faster line, {way}"),
                advice(&capacity, lowest.as_mbps_f64()),
            ),
    );
    Some(factors)
}

fn advice(capacity: &Capacity, lowest: f64) -> String {
    let rate = match (capacity.is_variable(), capacity.rates()) {
        (true, [_, .., (time, rate)]) => format!(
            "The rate changes during the run, and is {} Mbit/s at least ({} Mbit/s from {:.0} s on).",
            mbps(lowest),
            mbps(rate.as_mbps_f64()),
            time.as_secs_f64()
        ),
        (true, _) => format!(
            "The rate changes during the run. In its worst second it is {} Mbit/s.",
            mbps(lowest)
        ),
        (false, _) => format!("The rate is {} Mbit/s.", mbps(lowest)),
    };
    format!(
        "{rate} Of it, {} Mbit/s can be content. Use a faster line, or request less (a lower video quality, smaller pages). Changes \
         to the Wi-Fi do not help.",
        mbps(lowest * capacity.content_share())
    )
}

const fn way(direction: Direction) -> &'static str {
    match direction {
        Direction::Down => "downstream",
        Direction::Up => "upstream",
    }
}

fn capital(text: &str) -> String {
    text.strip_prefix("the ")
        .map_or_else(|| text.to_owned(), |rest| format!("The {rest}"))
}

fn more(rate: BitRate) -> BitRate {
    BitRate::from_bps(rate.as_bps().saturating_mul(TIMES)).max(PLENTY)
}

/// Raises the rate of the line at all times, and that of a shaper with it. A trace is replaced by a constant rate.
fn faster(plan: &mut Plan, router: Device, direction: Direction) {
    let mut changes = std::mem::take(&mut plan.changes);
    for setting in changes.iter_mut().flat_map(|change| &mut change.settings) {
        match (plan.setting_of_mut(router, setting), direction) {
            (Some(ApSetting::WanDown(rate)), Direction::Down) | (Some(ApSetting::WanUp(rate)), Direction::Up) => {
                *rate = more(*rate);
            }
            _ => {}
        }
    }
    plan.changes = changes;
    let Some(wan) = plan.wan_mut(router) else { return };
    let shaper = wan.shaper.take();
    wan.shaper_down = wan.shaper_down.or(shaper);
    wan.shaper_up = wan.shaper_up.or(shaper);
    let (rate, trace, shaper) = match direction {
        Direction::Down => (&mut wan.down, &mut wan.trace_down, &mut wan.shaper_down),
        Direction::Up => (&mut wan.up, &mut wan.trace_up, &mut wan.shaper_up),
    };
    *rate = trace.take().map(|trace| trace.mean_rate()).or(*rate).map(more);
    if let Some(ShaperRate::Rate(rate)) = shaper {
        *rate = more(*rate);
    }
}

fn usual_shaper(plan: &mut Plan, router: Device, direction: Direction) {
    let Some(wan) = plan.wan_mut(router) else { return };
    let usual = USUAL.map(ShaperRate::Share);
    match direction {
        Direction::Down => wan.shaper_down = usual,
        Direction::Up => wan.shaper_up = usual,
    }
}

/// Wires of stations.
fn wires(scene: &Scene<'_>) -> Vec<Factor> {
    let stations = scene.plan.stations.iter().enumerate();
    let wired = stations.filter_map(|(station, planned)| Some((station, planned.name.clone(), planned.link.clone()?)));
    wired
        .map(|(station, name, link)| {
            let edited = name.clone();
            Factor::builder(Part::Line, Kind::SlowLine, Rank::Capacity)
                .only(vec![station])
                .edit(move |plan| faster_wire(plan, &edited))
                .words(
                    |names| format!("The wired link of {names} is too slow"),
                    format!("with a much faster wired link of {name}"),
                    format!(
                        "The link has {} Mbit/s down and {} Mbit/s up. Use a faster link, or request less.",
                        mbps(link.down.as_mbps_f64()),
                        mbps(link.up.as_mbps_f64())
                    ),
                )
        })
        .collect()
}

fn faster_wire(plan: &mut Plan, name: &str) {
    for setting in plan.changes.iter_mut().flat_map(|change| &mut change.settings) {
        if let Setting::Station(
            of,
            StationSetting::LinkRate(rate) | StationSetting::LinkDown(rate) | StationSetting::LinkUp(rate),
        ) = setting
            && of.as_str() == name
        {
            *rate = more(*rate);
        }
    }
    let station = plan.stations.iter_mut().find(|station| station.name == name);
    if let Some(link) = station.and_then(|station| station.link.as_mut()) {
        (link.down, link.up) = (more(link.down), more(link.up));
        link.device = link.device.map(more);
    }
}

/// Proposes a shaper at 90 % of the lowest rate of the lines.
fn shaper_what_ifs(builder: &mut InterventionBuilder<'_>, _: &Cause) {
    for line in builder.plan.lines() {
        for (way, direction) in [("down", Direction::Down), ("up", Direction::Up)] {
            let capacity = builder.plan.capacity(line.router, direction);
            let capacity = capacity.filter(|capacity| capacity.shaper().is_some());
            if let Some(lowest) = capacity.and_then(|capacity| capacity.lowest_of_line(builder.plan.duration)) {
                builder.shaper(Kind::Shaper, &line, way, below(lowest));
            }
        }
    }
}
