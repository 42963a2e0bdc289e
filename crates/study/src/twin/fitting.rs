//! A fit on several threads, which can be stopped.

use netburn_fit::{Fit, Measurement, Settings, SimulationError, fit};
use netburn_runner::Cancel;
use netburn_runner::pool::map;
use netburn_scenario::Document;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Simulations of a fit with the default settings, about: 20 models of five disciplines three times, 60 models twice, and eight
/// seeds twice.
const SIMULATIONS: f64 = 436.0;

/// Correction for a run that is no measurement.
pub const MEASURE_HELP: &str =
    "help: `netburn measure` makes a run for a fit, and `netburn scenarios measure STATION…` prints its scenario";

/// Fits the model to a measurement on `threads` threads. Calls `report` with the number of finished simulations, and with
/// their share of all, which is approximate and at most 1. `None` if `cancel` was stopped.
///
/// # Errors
/// A model cannot be simulated.
pub fn fit_models(
    measurement: &Measurement,
    settings: &Settings,
    threads: usize,
    cancel: &Cancel,
    report: &(dyn Fn(usize, f64) + Sync),
) -> Result<Option<Fit>, SimulationError> {
    let done = AtomicUsize::new(0);
    let fitted = fit(measurement, settings, &|count, work| {
        map(count, threads, &|number| {
            if cancel.is_stopped() {
                // A fit ends at the first error. This one is not returned.
                return Err(Document::from_toml("stopped", "stopped").map_or_else(Into::into, |_| unreachable!()));
            }
            let result = work(number);
            let finished = done.fetch_add(1, Ordering::Relaxed) + 1;
            report(finished, (finished as f64 / SIMULATIONS).min(1.0));
            result
        })
    });
    if cancel.is_stopped() {
        return Ok(None);
    }
    fitted.map(Some)
}
