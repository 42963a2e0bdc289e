//! The native module `netburn_runtime` of the Python package. It is a shell, as the command is: it converts values
//! between Python and the crates below, and nothing depends on it.
//!
//! Modules, from the top:
//!
//! - [`scenario`] – scenarios and plans. [`run`]: simulated and recorded runs. [`sweep`]: sweeps.
//! - [`fit`] – models of measured networks.
//! - [`mod@decode`] – speed ratings.
//! - [`table`](mod@table) – tables as Arrow streams.
//! - [`work`] – long work without the interpreter's lock, with progress, which Ctrl-C ends.
//! - [`errors`] – errors as Python exceptions.

mod decode;
mod errors;
mod fit;
mod run;
mod scenario;
mod sweep;
mod table;
mod threads;
mod work;

use pyo3::prelude::*;

#[pymodule(name = "_native", gil_used = false)]
fn netburn_runtime(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add("__version__", env!("CARGO_PKG_VERSION"))?;
    errors::register(module)?;
    decode::register(module)?;
    scenario::register(module)?;
    run::register(module)?;
    sweep::register(module)?;
    fit::register(module)?;
    table::register(module)
}
