//! Signals that end a command.

use crate::exit::CliError;
use crate::runtime;
use crate::terminal::eprint_message;
use std::io;
use std::sync::atomic::{AtomicBool, Ordering};
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

/// Returns a flag that the first signal sets. The second signal ends the process with status 3.
pub(crate) fn stop_flag() -> Result<&'static AtomicBool, CliError> {
    static STOP: AtomicBool = AtomicBool::new(false);
    STOP.store(false, Ordering::Relaxed);
    let not_measured = |error: std::io::Error| CliError::Failed(error.to_string());
    let runtime = runtime::here()?;
    let mut signals = {
        let _inside = runtime.enter();
        Signals::new().map_err(not_measured)?
    };
    thread::spawn(move || {
        runtime.block_on(async {
            signals.next().await;
            STOP.store(true, Ordering::Relaxed);
            eprint_message("stopping and saving the results; a second signal aborts");
            signals.next().await;
        });
        std::process::exit(3);
    });
    Ok(&STOP)
}
