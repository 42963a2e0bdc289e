//! Signals that end a command.

use crate::exit::CliError;
use crate::runtime;
use crate::terminal::eprint_message;
use netburn_runner::Cancel;
use std::io;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};
use std::thread;
use tokio::signal::unix::{Signal, SignalKind, signal};

/// Handler of SIGINT (Ctrl-C), SIGTERM and SIGHUP. While it exists, these signals do not kill the process.
#[derive(Debug)]
pub(crate) struct Signals {
    interrupt: Signal,
    terminate: Signal,
    hangup: Signal,
}

impl Signals {
    /// Installs the signal handlers.
    ///
    /// # Errors
    /// If the system rejects a handler.
    pub(crate) fn new() -> io::Result<Self> {
        Ok(Signals {
            interrupt: signal(SignalKind::interrupt())?,
            terminate: signal(SignalKind::terminate())?,
            hangup: signal(SignalKind::hangup())?,
        })
    }

    /// Waits for the next signal.
    pub(crate) async fn next(&mut self) {
        self.next_kind().await;
    }

    /// Waits for the next signal and returns it.
    pub(crate) async fn next_kind(&mut self) -> Asked {
        tokio::select! {
            _ = self.interrupt.recv() => Asked::Interrupt,
            _ = self.terminate.recv() => Asked::Terminate,
            _ = self.hangup.recv() => Asked::Hangup,
        }
    }
}

/// Signal that requests an end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Asked {
    /// SIGINT: a terminal sends it to all processes in its foreground.
    Interrupt,
    /// SIGTERM, to this process only.
    Terminate,
    /// SIGHUP, to this process only, or because the terminal was closed.
    Hangup,
}

impl Asked {
    /// Number of the signal (POSIX).
    pub(crate) const fn number(self) -> i32 {
        match self {
            Asked::Hangup => 1,
            Asked::Interrupt => 2,
            Asked::Terminate => 15,
        }
    }

    /// Returns whether the signal ends this process, and not only the foreground commands.
    pub(crate) const fn ends(self) -> bool {
        !matches!(self, Asked::Interrupt)
    }
}

/// Calls `handler` on each signal from now on, on a thread of its own, instead of the handler before.
pub(crate) fn handle(handler: impl FnMut() + Send + 'static) -> Result<(), CliError> {
    static HANDLER: Mutex<Option<Box<dyn FnMut() + Send>>> = Mutex::new(None);
    let mut current = HANDLER.lock().unwrap_or_else(PoisonError::into_inner);
    if current.is_none() {
        let runtime = runtime::here()?;
        let mut signals = {
            let _inside = runtime.enter();
            Signals::new().map_err(|error| CliError::Failed(error.to_string()))?
        };
        thread::spawn(move || {
            runtime.block_on(async {
                loop {
                    signals.next().await;
                    if let Some(handler) = &mut *HANDLER.lock().unwrap_or_else(PoisonError::into_inner) {
                        handler();
                    }
                }
            });
        });
    }
    *current = Some(Box::new(handler));
    Ok(())
}

/// Returns a flag that the first signal sets. The second signal ends the process with status 3.
pub(crate) fn stop_flag() -> Result<&'static AtomicBool, CliError> {
    static STOP: AtomicBool = AtomicBool::new(false);
    STOP.store(false, Ordering::Relaxed);
    stop_or_exit(|| STOP.store(true, Ordering::Relaxed))?;
    Ok(&STOP)
}

/// Returns a cancellation that the first signal stops. The second signal ends the process with status 3.
pub(crate) fn cancel_or_exit() -> Result<Cancel, CliError> {
    let cancel = Cancel::default();
    let canceller = cancel.clone();
    stop_or_exit(move || canceller.stop())?;
    Ok(cancel)
}

fn stop_or_exit(stop: impl Fn() + Send + 'static) -> Result<(), CliError> {
    let mut stopped = false;
    handle(move || {
        if stopped {
            std::process::exit(3);
        }
        stopped = true;
        stop();
        eprint_message("stopping and saving the results; a second signal aborts");
    })
}
