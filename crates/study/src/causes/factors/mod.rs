//! The factors: one file for each family, registered by a line in [`FAMILIES`].

mod absences;
mod access_point_queue;
mod access_point_scans;
mod adapter;
mod backhaul;
mod distance;
mod fair_share;
mod handover;
mod line_loss;
mod line_queue;
mod line_rate;
mod other_networks;
mod outage;
mod own_channel;
mod policer;
mod power_save;
mod router;
mod scans;
mod server;
mod slow_device;
mod slow_station;
mod station_queue;
mod traffic;

use super::factor::Factor;
use super::scene::Scene;

/// A family of factors.
pub(super) struct Family {
    /// Replacement of the factor in a simulation, for the manual.
    pub(super) without: &'static str,
    /// Factors of this family in a plan.
    pub(super) find: fn(&Scene<'_>) -> Vec<Factor>,
}

/// All families.
pub(super) const FAMILIES: [Family; 23] = [
    line_queue::FAMILY,
    line_rate::FAMILY,
    line_loss::FAMILY,
    policer::FAMILY,
    outage::FAMILY,
    router::FAMILY,
    server::FAMILY,
    distance::FAMILY,
    other_networks::FAMILY,
    own_channel::FAMILY,
    backhaul::FAMILY,
    slow_station::FAMILY,
    access_point_queue::FAMILY,
    access_point_scans::FAMILY,
    power_save::FAMILY,
    scans::FAMILY,
    absences::FAMILY,
    handover::FAMILY,
    adapter::FAMILY,
    slow_device::FAMILY,
    station_queue::FAMILY,
    fair_share::FAMILY,
    traffic::FAMILY,
];

/// All factors of a plan. A factor that its plan does not have is not among them.
pub(super) fn find(scene: &Scene<'_>) -> Vec<Factor> {
    FAMILIES.iter().flat_map(|family| (family.find)(scene)).collect()
}
