//! Models of measured networks.

use crate::errors;
use crate::run::Run;
use crate::table::Table;
use crate::work::{Share, perform};
use netburn_analysis::fitted::FittedView;
use netburn_fit::{CannotFit, Measurement, Models, Settings};
use netburn_runner::Cancel;
use netburn_runner::pool::processors;
use netburn_study::twin::{MEASURE_HELP, fit_json, fit_models, models_of_fit};
use netburn_units::Seed;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use serde_json::Value;
use std::sync::Arc;

pub(crate) fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<Fit>()?;
    module.add_function(wrap_pyfunction!(fit, module)?)?;
    module.add_function(wrap_pyfunction!(check_measurement, module)?)?;
    module.add_function(wrap_pyfunction!(fit_of_document, module)?)
}

/// A model that was fitted to a run.
#[pyclass(frozen, module = "netburn_runtime")]
pub(crate) struct Fit {
    models: Models,
    /// The document of `netburn fit --format json`.
    document: Value,
    view: FittedView,
}

impl Fit {
    fn new(models: Models, document: Value) -> PyResult<Self> {
        let view = serde_json::from_value(document.clone());
        let view = view.map_err(|error| PyValueError::new_err(error.to_string()))?;
        Ok(Fit { models, document, view })
    }
}

#[pymethods]
impl Fit {
    /// Returns the JSON document of `netburn fit --format json`.
    fn document(&self) -> String {
        self.document.to_string()
    }

    /// Returns the models of the posterior.
    fn samples(&self) -> Table {
        Table::of_draws(&self.models)
    }

    /// Returns the measured values beside those of the models.
    fn observations(&self) -> Table {
        Table::of_observations(&self.view)
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
        fit_models(&observed(&run)?, &settings, threads, &stop, &|_, done| shown.set(done))
            .map_err(|error| errors::RunError::new_err(error.to_string()))
    })?;
    let fit = fitted?.expect("only an exception cancels the fit, and it was returned");
    let document = fit_json(&name, &fit);
    Fit::new(fit.models, document)
}

/// Raises the error with which a fit of this run ends at once: it is no measurement, or none that is reliable.
#[pyfunction]
fn check_measurement(py: Python<'_>, run: &Run) -> PyResult<()> {
    let run = Arc::clone(&run.run);
    py.detach(|| observed(&run)).map(drop)
}

/// The fit to this run that another process made and returned as its document.
#[pyfunction]
fn fit_of_document(py: Python<'_>, run: &Run, document: &str) -> PyResult<Fit> {
    let run = Arc::clone(&run.run);
    py.detach(|| {
        let invalid = |error: &dyn std::fmt::Display| PyValueError::new_err(error.to_string());
        let models = models_of_fit(document, &observed(&run)?).map_err(|error| invalid(&error))?;
        let mut document: Value = serde_json::from_str(document).map_err(|error| invalid(&error))?;
        document["run"] = run.path().display().to_string().into();
        Fit::new(models, document)
    })
}

fn observed(run: &netburn_record::Run) -> PyResult<Measurement> {
    Measurement::of_run(run, Settings::default().length).map_err(|error| unusable(run, error))
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
