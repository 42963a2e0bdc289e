//! Long work on a thread of its own. The calling thread waits without the interpreter's lock. It checks for signals and
//! reports the progress.

use crate::threads;
use netburn_runner::Cancel;
use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::time::{Duration, Instant};

/// Interval between checks for signals.
const SIGNAL_CHECK: Duration = Duration::from_millis(20);

/// Interval between reports of the progress.
const PROGRESS: Duration = Duration::from_millis(200);

/// Maximum time that stopped work gets to end after a signal.
const STOPPING: Duration = Duration::from_millis(40);

/// Progress of the work as a share, 0 to 1. Clones share their value.
#[derive(Debug, Clone, Default)]
pub(crate) struct Share(Arc<AtomicU64>);

impl Share {
    /// Sets the share.
    pub(crate) fn set(&self, share: f64) {
        self.0.store(share.to_bits(), Ordering::Relaxed);
    }

    fn get(&self) -> f64 {
        f64::from_bits(self.0.load(Ordering::Relaxed))
    }
}

/// Performs `work` on another thread and returns its result. Calls `progress` with the share a few times a second. If a
/// signal handler or `progress` raises an exception, cancels the work and returns the exception; work that does not end
/// soon continues in the background until its next check of `cancel`.
pub(crate) fn perform<T: Send + 'static>(
    py: Python<'_>,
    progress: Option<&Bound<'_, PyAny>>,
    share: &Share,
    cancel: &Cancel,
    work: impl FnOnce() -> T + Send + 'static,
) -> PyResult<T> {
    // The receiver is not `Sync`: it moves into and out of the part without the lock.
    let (sender, mut receiver) = channel();
    threads::execute(move || {
        // After an interruption there is no receiver.
        let _ = sender.send(work());
    })?;
    let mut reported = Instant::now();
    loop {
        let (result, back) = py.detach(move || (receiver.recv_timeout(SIGNAL_CHECK), receiver));
        receiver = back;
        match result {
            Ok(result) => return Ok(result),
            Err(RecvTimeoutError::Disconnected) => {
                // Its panic was printed to standard error.
                return Err(PyRuntimeError::new_err("internal error of netburn: a thread panicked"));
            }
            Err(RecvTimeoutError::Timeout) => {}
        }
        let mut checked = py.check_signals();
        if let (Ok(()), Some(progress)) = (&checked, progress)
            && reported.elapsed() >= PROGRESS
        {
            reported = Instant::now();
            checked = progress.call1((share.get(),)).map(|_| ());
        }
        if let Err(raised) = checked {
            cancel.abort();
            py.detach(move || {
                let _ = receiver.recv_timeout(STOPPING);
            });
            return Err(raised);
        }
    }
}
