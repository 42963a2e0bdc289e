//! What asynchronous work runs on.

use crate::exit::Stop;
use tokio::runtime::{Builder, Runtime};

/// On this thread alone.
pub(crate) fn here() -> Result<Runtime, Stop> {
    built(Builder::new_current_thread())
}

/// On so many threads.
pub(crate) fn on(threads: usize) -> Result<Runtime, Stop> {
    let mut builder = Builder::new_multi_thread();
    builder.worker_threads(threads);
    built(builder)
}

fn built(mut builder: Builder) -> Result<Runtime, Stop> {
    let runtime = builder.enable_all().build();
    runtime.map_err(|error| Stop::NotMeasured(format!("no runtime: {error}")))
}
