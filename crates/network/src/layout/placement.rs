//! Signals between positions.

use super::PlacedRadio;
use netburn_medium::config::LinkQuality;
use netburn_medium::geometry::{Building, Position};
use netburn_scenario::Plan;
use netburn_scenario::plan::Station;
use netburn_units::Dbm;

/// Quality of the link of a station with a radio at the start: at its first position, or with the
/// signal that the plan has for the radio. Otherwise it is that of the plan, for every radio.
pub(super) fn quality(plan: &Plan, station: &Station, radio: &PlacedRadio) -> Option<LinkQuality> {
    if !station.air.signals.is_empty() {
        let of_radio = station.air.signals.iter().find(|of| of.radio == radio.name)?;
        return Some(LinkQuality::Signal(hundredths(of_radio.at(0))));
    }
    let Some(position) = station.air.path.first() else {
        return station.air.quality;
    };
    let signal = signal_dbm(plan, radio, *position)?;
    Some(LinkQuality::Signal(hundredths(signal)))
}

/// Signal of a radio at a position in dBm, without shadowing; `None` if its access point has no
/// position.
fn signal_dbm(plan: &Plan, radio: &PlacedRadio, position: Position) -> Option<f64> {
    let from = plan.aps[radio.ap].position?;
    let band = radio.config.band;
    let loss = match &plan.building {
        Some(building) => building.model.loss_db(band, from, position),
        None => Building::default().loss_db(band, from, position),
    };
    Some(radio.config.power.as_dbm_f64() - loss)
}

/// A power, rounded to hundredths of a dBm.
pub(crate) fn hundredths(dbm: f64) -> Dbm {
    Dbm::from_hundredths(libm::round(dbm.clamp(-1e6, 1e6) * 100.0) as i32)
}
