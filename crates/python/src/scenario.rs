//! Scenarios and plans.

use crate::errors;
use netburn_scenario::{Document, Environment, Plan, built_in_scenarios};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

pub(crate) fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<Scenario>()?;
    module.add_function(wrap_pyfunction!(load, module)?)?;
    module.add_function(wrap_pyfunction!(parse, module)?)?;
    module.add_function(wrap_pyfunction!(built_in, module)?)
}

/// A scenario before it is resolved. It does not change: `with_changes` returns another one.
#[pyclass(frozen, module = "netburn_runtime")]
pub(crate) struct Scenario {
    pub(crate) document: Document,
}

#[pymethods]
impl Scenario {
    /// Path of the file, or name of the built-in scenario.
    #[getter]
    fn origin(&self) -> &str {
        self.document.origin()
    }

    /// Returns the scenario with changes. A key and a value are those of `--set KEY=VALUE`.
    fn with_changes(&self, py: Python<'_>, changes: Vec<(String, String)>) -> PyResult<Self> {
        let mut document = self.document.clone();
        for (key, value) in changes {
            document
                .set(&key, &value)
                .map_err(|error| errors::scenario(py, &error))?;
        }
        Ok(Scenario { document })
    }

    /// Checks keys and values, without those that only an environment needs.
    fn check(&self, py: Python<'_>) -> PyResult<()> {
        let resolved = py.detach(|| self.document.resolve());
        resolved.map(drop).map_err(|error| errors::scenario(py, &error))
    }

    /// Returns the plan for an environment as a JSON document, and notes on keys without effect there.
    fn plan(&self, py: Python<'_>, environment: &str) -> PyResult<(String, Vec<String>)> {
        let (plan, notes) = self.resolve(py, parse_environment(environment)?)?;
        Ok((plan.to_json().to_string(), notes))
    }

    /// Returns the plan as lines of text.
    fn describe(&self, py: Python<'_>, environment: &str) -> PyResult<Vec<String>> {
        let environment = parse_environment(environment)?;
        let (plan, _) = self.resolve(py, environment)?;
        Ok(plan.describe(environment))
    }
}

impl Scenario {
    fn resolve(&self, py: Python<'_>, environment: Environment) -> PyResult<(Plan, Vec<String>)> {
        let resolved = py.detach(|| self.document.resolve_for(environment));
        resolved.map_err(|error| errors::scenario(py, &error))
    }
}

/// Loads the file with this path, else the built-in scenario with this name.
#[pyfunction]
fn load(py: Python<'_>, name_or_path: &str) -> PyResult<Scenario> {
    let document = netburn_scenario::load(name_or_path).map_err(|error| errors::scenario(py, &error))?;
    Ok(Scenario { document })
}

/// Reads a scenario from TOML. Errors show `origin` as the name of the file.
#[pyfunction]
fn parse(py: Python<'_>, text: &str, origin: &str) -> PyResult<Scenario> {
    let document = Document::from_toml(origin, text).map_err(|error| errors::scenario(py, &error))?;
    Ok(Scenario { document })
}

/// Returns the names of the built-in scenarios.
#[pyfunction]
fn built_in() -> Vec<&'static str> {
    built_in_scenarios().iter().map(|(name, _)| *name).collect()
}

fn parse_environment(name: &str) -> PyResult<Environment> {
    name.parse()
        .map_err(|error: netburn_scenario::ParseEnvironmentError| PyValueError::new_err(error.to_string()))
}
