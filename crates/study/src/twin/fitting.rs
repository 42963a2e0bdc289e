//! A fit on several threads, which can be stopped.

use netburn_fit::{Fit, Measurement, Settings, SimulationError, fit};
use netburn_parallel::Cancel;
use netburn_parallel::pool::map;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Correction for a run that is no measurement.
pub const MEASURE_HELP: &str =
    "help: `netburn measure` makes a run for a fit, and `netburn scenarios measure STATION…` prints its scenario";

/// Fits the model to a measurement on `threads` threads. Calls `report` with the number of finished simulations, and with
/// their share of the most that it can need. `None` if `cancel` was stopped.
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
                return Err(SimulationError::Stopped);
            }
            let result = work(number);
            let finished = done.fetch_add(1, Ordering::Relaxed) + 1;
            report(finished, (finished as f64 / settings.simulations() as f64).min(1.0));
            result
        })
    });
    match fitted {
        Err(SimulationError::Stopped) => Ok(None),
        fitted => fitted.map(Some),
    }
}
