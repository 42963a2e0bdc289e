//! Errors as Python exceptions. Their texts are those that the command prints.

use netburn_record::Error as RecordFailure;
use netburn_runner::{RunError as RunFailure, Unsupported};
use netburn_scenario::ScenarioError as InvalidScenario;
use pyo3::create_exception;
use pyo3::exceptions::PyException;
use pyo3::prelude::*;

create_exception!(netburn, Error, PyException, "Base class of all errors of netburn.");
create_exception!(
    netburn,
    ScenarioError,
    Error,
    "A scenario, or a change of one, is invalid. The text is that of the command, with the lines of the file."
);
create_exception!(
    netburn,
    RunError,
    Error,
    "A run, a sweep or a fit has no result, or its result can't be stored."
);
create_exception!(
    netburn,
    RecordError,
    Error,
    "A folder is not a record, or can't be read or written."
);

pub(crate) fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    let py = module.py();
    module.add_class::<Problem>()?;
    module.add("Error", py.get_type::<Error>())?;
    module.add("ScenarioError", py.get_type::<ScenarioError>())?;
    module.add("RunError", py.get_type::<RunError>())?;
    module.add("RecordError", py.get_type::<RecordError>())
}

/// One problem of a scenario.
#[pyclass(frozen, eq, get_all, module = "netburn_runtime")]
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Problem {
    /// Path of the key; `None` if the problem concerns no key.
    key: Option<String>,
    /// Description of the problem, with the value found.
    message: String,
    /// Expected value, or a suggestion.
    help: Option<String>,
    /// Line in the file, from 1; `None` for a change.
    line: Option<usize>,
    /// Column in the line, in characters, from 1.
    column: Option<usize>,
}

#[pymethods]
impl Problem {
    #[new]
    fn new(
        key: Option<String>,
        message: String,
        help: Option<String>,
        line: Option<usize>,
        column: Option<usize>,
    ) -> Self {
        Problem {
            key,
            message,
            help,
            line,
            column,
        }
    }

    /// For pickle.
    fn __getnewargs__(&self) -> (Option<String>, String, Option<String>, Option<usize>, Option<usize>) {
        let Problem {
            key,
            message,
            help,
            line,
            column,
        } = self.clone();
        (key, message, help, line, column)
    }

    fn __repr__(&self) -> String {
        let place = self.line.map_or_else(String::new, |line| format!("line {line}: "));
        let key = self.key.as_ref().map_or_else(String::new, |key| format!("{key}: "));
        format!("<Problem {place}{key}{}>", self.message)
    }
}

/// The exception for an invalid scenario. It has all problems, and the fields of the first one.
pub(crate) fn scenario(py: Python<'_>, error: &InvalidScenario) -> PyErr {
    let raised = ScenarioError::new_err(error.render(false));
    match with_fields(raised.value(py), error) {
        Ok(()) => raised,
        Err(other) => other,
    }
}

fn with_fields(raised: &Bound<'_, PyAny>, error: &InvalidScenario) -> PyResult<()> {
    let problems: Vec<Problem> = error
        .problems()
        .iter()
        .map(|problem| Problem {
            key: (!problem.path.is_empty()).then(|| problem.path.clone()),
            message: problem.message.clone(),
            help: problem.help.clone(),
            line: problem.line,
            column: problem.column,
        })
        .collect();
    raised.setattr("file", error.name())?;
    let first = problems.first().cloned();
    let first = first.expect("an error has at least one problem");
    raised.setattr("key", first.key)?;
    raised.setattr("message", first.message)?;
    raised.setattr("help", first.help)?;
    raised.setattr("line", first.line)?;
    raised.setattr("column", first.column)?;
    raised.setattr("problems", problems)
}

/// The exception for a run without a result.
pub(crate) fn run(py: Python<'_>, error: &RunFailure) -> PyErr {
    match error {
        RunFailure::Unsupported(Unsupported::Scenario(error)) => scenario(py, error),
        error => RunError::new_err(error.to_string()),
    }
}

/// The exception for a record.
pub(crate) fn record(error: &RecordFailure) -> PyErr {
    RecordError::new_err(error.to_string())
}
