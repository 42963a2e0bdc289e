//! Absences of a station from its channel.

use crate::scalars::{Flag, SomeTime};
use crate::section_macro::section;
use crate::value::section_values;
use netburn_units::Duration;

/// Absences of a station at fixed times. The first one begins one interval after the start of the load.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Absence {
    /// Time from the beginning of an absence to that of the next one.
    pub interval: Duration,
    /// Duration of an absence; less than `interval`.
    pub length: Duration,
    /// True if the access point knows of them, by the power management bit (802.11-2020, clause 9.2.4.1.7).
    pub announced: bool,
}

section! {
    /// Absences of a station. The first one begins one `interval` after the start of the load.
    AbsenceSection(Absence = Absence::default()) {
        /// Time from the beginning of an absence to that of the next one.
        interval(required): SomeTime => interval;
        /// Duration of an absence, less than `interval`. The packets of the station itself wait for its return.
        length(required): SomeTime => length;
        /// True if the station announces its absences to the access point (power management bit), so that the packets to it wait there. Otherwise the access point keeps sending, and loses them.
        announced: Flag => announced;
    }
}

section_values! {
    AbsenceSection => Absence,
}
