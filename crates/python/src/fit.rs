//! Models of measured networks.

use crate::errors;
use crate::run::Run;
use crate::table::Table;
use crate::work::{Share, perform};
use netburn_fit::{CannotFit, Measurement, Settings};
use netburn_runner::Cancel;
use netburn_runner::pool::processors;
use netburn_study::twin::{MEASURE_HELP, fit_json, fit_models};
use netburn_units::Seed;
use pyo3::prelude::*;
use std::sync::Arc;

pub(crate) fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<Fit>()?;
    module.add_function(wrap_pyfunction!(fit, module)?)
}

/// A model that was fitted to a run.
#[pyclass(frozen, module = "netburn_runtime")]
pub(crate) struct Fit {
    fit: netburn_fit::Fit,
    /// Name of the run.
    run: String,
}

#[pymethods]
impl Fit {
    /// Returns the JSON document of `netburn fit --format json`.
    fn document(&self) -> String {
        fit_json(&self.run, &self.fit).to_string()
    }

    /// Returns the models of the posterior.
    fn samples(&self) -> Table {
        Table::of_draws(&self.fit)
    }

    /// Returns the measured values beside those of the models.
    fn observations(&self) -> Table {
        Table::of_observations(&self.fit)
    }
}

/// Fits a model to a run on `threads` threads.
#[pyfunction]
#[pyo3(signature = (run, seed, threads=None, progress=None))]
fn fit(
    py: Python<'_>,
    run: &Run,
    seed: u64,
    threads: Option<usize>,
    progress: Option<&Bound<'_, PyAny>>,
) -> PyResult<Fit> {
    let (share, cancel) = (Share::default(), Cancel::default());
    let (shown, stop, run) = (share.clone(), cancel.clone(), Arc::clone(&run.run));
    let threads = threads.unwrap_or_else(processors).max(1);
    let name = run.path().display().to_string();
    let settings = Settings {
        seed: Seed(seed),
        ..Settings::default()
    };
    let fitted = perform(py, progress, &share, &cancel, move || {
        let measurement = Measurement::of_run(&run, settings.length).map_err(|error| unusable(&run, error))?;
        fit_models(&measurement, &settings, threads, &stop, &|_, done| shown.set(done))
            .map_err(|error| errors::RunError::new_err(error.to_string()))
    })?;
    let fit = fitted?.expect("only an exception cancels the fit, and it was returned");
    Ok(Fit { fit, run: name })
}

/// The exception for a run that is no measurement, or none that is reliable.
fn unusable(run: &netburn_record::Run, error: CannotFit) -> PyErr {
    let text = format!("{}: {error}", run.path().display());
    match error {
        CannotFit::Record(error) => errors::record(&error),
        CannotFit::Schedule(_) => errors::RunError::new_err(format!("{text}\n{MEASURE_HELP}")),
        _ => errors::RunError::new_err(text),
    }
}
