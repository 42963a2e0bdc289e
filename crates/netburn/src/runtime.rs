//! Tokio runtimes of the commands.

use crate::exit::CliError;
use std::sync::{Arc, Mutex, mpsc};
use std::{io, thread};
use tokio::runtime::{Builder, Runtime};

/// On this thread alone.
pub(crate) fn here() -> Result<Runtime, CliError> {
    built(Builder::new_current_thread())
}

/// Runtime with `threads` worker threads.
pub(crate) fn on(threads: usize) -> Result<Runtime, CliError> {
    start_and_end(threads + 1).map_err(|error| CliError::Failed(format!("can't start threads: {error}")))?;
    let mut builder = Builder::new_multi_thread();
    builder.worker_threads(threads);
    built(builder)
}

fn built(mut builder: Builder) -> Result<Runtime, CliError> {
    let runtime = builder.enable_all().build();
    runtime.map_err(|error| CliError::Failed(format!("no runtime: {error}")))
}

/// Starts this number of threads at once and ends them. Tokio panics when a limit of processes stops one of its own.
fn start_and_end(threads: usize) -> io::Result<()> {
    let (release, held) = mpsc::channel::<()>();
    let held = Arc::new(Mutex::new(held));
    let waits = |_| {
        let held = Arc::clone(&held);
        thread::Builder::new().spawn(move || drop(held.lock().map(|held| held.recv())))
    };
    // Threads that started end, because the sender is dropped.
    let started = (0..threads).map(waits).collect::<io::Result<Vec<_>>>();
    drop(release);
    for thread in started? {
        thread.join().map_err(|_| io::Error::other("a thread panicked"))?;
    }
    Ok(())
}
