//! Traffic of other stations that is no transfer without end: streams, pages, calls.

use super::Family;
use crate::causes::factor::{Class, Factor, Part, Rank};
use crate::causes::scene::{Scene, is_elastic};
use netburn_analysis::explain::Kind;
use netburn_scenario::Plan;
use netburn_scenario::plan::StationWorkload;
use netburn_units::BitRate;
use netburn_workload::{Direction, Kind as Use};

pub(super) const FAMILY: Family = Family {
    without: "no streams, pages and calls of one other station",
    find,
};

/// Rate of datagrams in both directions from which they are a factor.
const NOTICEABLE: BitRate = BitRate::from_bps(500_000);

fn find(scene: &Scene<'_>) -> Vec<Factor> {
    let stations = scene.plan.stations.iter().enumerate();
    let busy = stations.filter(|(_, station)| station.workloads.iter().any(is_noticeable));
    busy.map(|(station, _)| factor(scene, station)).collect()
}

fn is_noticeable(workload: &StationWorkload) -> bool {
    let config = &workload.config;
    match config.kind {
        Use::Pages | Use::Stream | Use::Dash | Use::Calls | Use::CloudGaming | Use::VideoCall => true,
        Use::Download | Use::Upload | Use::Responsiveness | Use::Probe | Use::Voice | Use::Game => false,
        Use::Datagrams => {
            let streams = config.packet_streams();
            [streams.up, streams.down]
                .into_iter()
                .flatten()
                .any(|stream| stream.rate() >= NOTICEABLE)
        }
    }
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
            .any(|direction| is_elastic(&workload.config, direction))
    };
    if let Some(station) = plan.stations.iter_mut().find(|station| station.name == name) {
        station.workloads.retain(is_endless);
    }
}
