//! Traffic of other stations that is no transfer without end: streams, pages, calls.

use super::factor::{Class, Factor, Part, Rank};
use super::intervention::InterventionBuilder;
use super::scene::Scene;
use super::{Cause, Definition, Family, Kind};
use netburn_scenario::Plan;
use netburn_scenario::plan::StationWorkload;
use netburn_units::BitRate;
use netburn_workload::Direction;
use netburn_workload::kinds::Transport;

pub(super) const CAUSE: Definition = Definition {
    rule: None,
    what_ifs,
    changes: "another radio, a faster line",
};

pub(super) const FAMILY: Family = Family {
    without: "no streams, pages and calls of one other station",
    find: factors,
};

/// Rate of a stream of packets from which it is a factor: voice, and the inputs and updates of a game, are below it.
const NOTICEABLE: BitRate = BitRate::from_bps(500_000);

fn factors(scene: &Scene<'_>) -> Vec<Factor> {
    let stations = scene.plan.stations.iter().enumerate();
    let busy = stations.filter(|(_, station)| station.workloads.iter().any(is_noticeable));
    busy.map(|(station, _)| factor(scene, station)).collect()
}

fn is_noticeable(workload: &StationWorkload) -> bool {
    let config = &workload.config;
    let is_endless = [Direction::Down, Direction::Up]
        .into_iter()
        .any(|direction| config.loads(direction));
    let requests = config.kind().transport == Transport::Http && config.responsiveness().is_none();
    let streams = config.packet_streams();
    requests && !is_endless || streams.all().any(|(_, stream)| stream.rate() >= NOTICEABLE)
}

fn factor(scene: &Scene<'_>, station: usize) -> Factor {
    let name = scene.name(station).to_owned();
    let class = Class {
        kind: Kind::Traffic,
        rank: Rank::Traffic,
    };
    let factor = Factor::builder(Part::Load, Kind::Traffic, Rank::Traffic)
        .by(vec![station])
        .class(move |victim| (victim != station).then_some(class))
        .edit({
            let name = name.clone();
            move |plan| silence(plan, &name)
        });
    let without = format!("without the streams, pages and calls of {name}");
    factor.words(
        move |names| format!("{name}'s traffic leaves too little for {names}"),
        without,
        "Together the stations need more than there is. Move a station to another radio or to a wire, request less (a lower video quality), or \
         use a faster line or Wi-Fi.",
    )
}

/// Removes all but the transfers without end.
fn silence(plan: &mut Plan, name: &str) {
    let is_endless = |workload: &StationWorkload| {
        [Direction::Down, Direction::Up]
            .into_iter()
            .any(|direction| workload.config.loads(direction))
    };
    if let Some(station) = plan.stations.iter_mut().find(|station| station.name == name) {
        station.workloads.retain(is_endless);
    }
}

fn what_ifs(builder: &mut InterventionBuilder<'_>, cause: &Cause) {
    for name in cause.by.iter().chain(&cause.stations) {
        builder.other_radio(Kind::Traffic, name);
    }
    builder.slow_line(Kind::Traffic, cause);
}
