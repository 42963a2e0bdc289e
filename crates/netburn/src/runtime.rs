//! Tokio runtimes of the commands.

use crate::exit::CliError;
use tokio::runtime::{Builder, Runtime};

/// On this thread alone.
pub(crate) fn here() -> Result<Runtime, CliError> {
    built(Builder::new_current_thread())
}

/// Runtime with `threads` worker threads.
pub(crate) fn on(threads: usize) -> Result<Runtime, CliError> {
    let mut builder = Builder::new_multi_thread();
    builder.worker_threads(threads);
    built(builder)
}

fn built(mut builder: Builder) -> Result<Runtime, CliError> {
    let runtime = builder.enable_all().build();
    runtime.map_err(|error| CliError::Failed(format!("no runtime: {error}")))
}
