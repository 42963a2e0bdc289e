//! Delays in the stations' drivers and hosts.

use super::factor::{Factor, Part, Rank};
use super::scene::Scene;
use super::{Family, Kind};
use netburn_units::Duration;

pub(super) const FAMILY: Family = Family {
    without: "no `rx_interrupt_delay` and `tx_completion_delay` of the stations",
    find: factors,
};

/// Delay from which a driver is a factor.
const SLOW: Duration = Duration::from_millis(1);

fn factors(scene: &Scene<'_>) -> Vec<Factor> {
    let stations = scene.plan.stations.iter().enumerate();
    let slow =
        stations.filter(|(_, station)| station.rx_interrupt_delay >= SLOW || station.tx_completion_delay >= SLOW);
    let slow: Vec<usize> = slow.map(|(station, _)| station).collect();
    if slow.is_empty() {
        return Vec::new();
    }
    let factor = Factor::builder(Part::Station, Kind::Device, Rank::Disturbance)
        .only(slow)
        .edit(|plan| {
            for station in &mut plan.stations {
                (station.rx_interrupt_delay, station.tx_completion_delay) = (Duration::ZERO, Duration::ZERO);
            }
        });
    vec![factor.words(
        |names| format!("{names} itself delays packets, in its driver or adapter"),
        "without delays in the device",
        "Update the driver or the firmware of the device, or use another adapter. Other stations on the same radio do not have this delay, so \
         changes of the access point and of the line do not help.",
    )]
}
