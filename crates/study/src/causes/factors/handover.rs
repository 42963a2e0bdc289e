//! Handovers of stations that move, and steering by the access points.

use super::Family;
use crate::causes::factor::{Factor, Part, Rank};
use crate::causes::scene::Scene;
use netburn_analysis::explain::Kind;
use netburn_medium::config::{Security, Steering};
use netburn_scenario::Plan;
use netburn_units::Duration;

pub(super) const FAMILY: Family = Family {
    without: "fast handovers: no keys to negotiate (802.11r), neighbour reports (802.11k), 1 ms for each frame; no steering",
    find,
};

/// Time from the reception of a frame until the answer, in a fast handover.
const FAST: Duration = Duration::from_millis(1);

fn find(scene: &Scene<'_>) -> Vec<Factor> {
    let stations = scene.plan.stations.iter().enumerate();
    let roams: Vec<usize> = stations
        .filter(|(_, station)| station.air.roaming.is_some())
        .map(|(station, _)| station)
        .collect();
    if roams.is_empty() {
        return Vec::new();
    }
    let mut factors = Vec::new();
    if scene
        .plan
        .networks
        .iter()
        .any(|network| network.steering != Steering::default())
    {
        let factor = Factor::builder(Part::Station, Kind::Roaming, Rank::Disturbance)
            .only(roams.clone())
            .own_advice()
            .edit(|plan| {
                plan.networks
                    .iter_mut()
                    .for_each(|network| network.steering = Steering::default());
            });
        factors.push(factor.words(
            |names| format!("The access points steer {names} away, and disconnect it"),
            "without steering",
            "Set the steering so that it does not disconnect clients that reject a request, or switch it off.",
        ));
    }
    let factor = Factor::builder(Part::Station, Kind::Roaming, Rank::Disturbance)
        .only(roams)
        .edit(fast);
    factors.push(factor.words(
        |names| format!("Handovers interrupt {names}"),
        "with fast handovers",
        "Fast transition (802.11r) shortens the gap, and neighbour reports (802.11k) shorten the search. A lower transmit power of the access \
         points prevents needless roams.",
    ));
    factors
}

fn fast(plan: &mut Plan) {
    for network in &mut plan.networks {
        (network.security, network.radius_delay) = (Security::Open, None);
        (network.k, network.r) = (true, false);
    }
    for roaming in plan
        .stations
        .iter_mut()
        .filter_map(|station| station.air.roaming.as_mut())
    {
        (roaming.frame_processing, roaming.flush_delay, roaming.k) = (FAST, Duration::ZERO, true);
    }
}
