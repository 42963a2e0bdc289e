//! Simulated time for tests: a modelled server behind a link, and scripts of described steps.

pub(crate) mod network;
pub(crate) mod script;

use netburn_units::Instant;

/// `millis` ms after the run began.
pub(crate) const fn ms(millis: i64) -> Instant {
    Instant::from_millis(millis)
}
