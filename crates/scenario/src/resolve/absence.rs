//! Checks of the absences of a station.

use crate::decode::Context;
use crate::plan::Absence;
use crate::plan::StationSection;

/// Checks the absences of a station. Roaming and power save switch the receiver themselves, so a station cannot have both.
pub(super) fn check(absence: Absence, section: &StationSection, cx: &mut Context) {
    let Some(at) = &section.absence else { return };
    if let (Some(length), true) = (&at.value.length, absence.length >= absence.interval) {
        let message = format!("`length` is not less than `interval`: found {}", length.0);
        let help = format!("expected less than `interval`, which is {}", absence.interval);
        cx.problem_at(length, message, help);
    }
    let exclusive = |key: &str| format!("`{key}` and `absence` exclude each other");
    let help = || "remove one of them".to_owned();
    if let Some(at) = &section.roaming {
        cx.problem_at(at, exclusive("roaming"), help());
    }
    if let Some(at) = &section.power_save {
        cx.problem_at(at, exclusive("power_save"), help());
    }
}
