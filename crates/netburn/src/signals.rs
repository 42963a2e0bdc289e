//! Being told to stop.

use crate::exit::CliError;
use crate::runtime;
use crate::terminal::eprint_message;
use std::io;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use tokio::signal::unix::{Signal, SignalKind, signal};

/// The signals that ask for an end: SIGINT (Ctrl-C), SIGTERM, SIGHUP. From its making on they no longer kill.
#[derive(Debug)]
pub(crate) struct Signals {
    interrupt: Signal,
    terminate: Signal,
    hangup: Signal,
}

impl Signals {
    /// Begins to listen.
    ///
    /// # Errors
    /// When the system doesn't let it.
    pub(crate) fn new() -> io::Result<Self> {
        Ok(Signals {
            interrupt: signal(SignalKind::interrupt())?,
            terminate: signal(SignalKind::terminate())?,
            hangup: signal(SignalKind::hangup())?,
        })
    }

    /// Returns when the next one comes.
    pub(crate) async fn next(&mut self) {
        self.next_kind().await;
    }

    /// Returns when the next one comes, and says which it is.
    pub(crate) async fn next_kind(&mut self) -> Asked {
        tokio::select! {
            _ = self.interrupt.recv() => Asked::Interrupt,
            _ = self.terminate.recv() => Asked::Terminate,
            _ = self.hangup.recv() => Asked::Hangup,
        }
    }
}

/// How an end was asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Asked {
    /// By SIGINT: a terminal sends it to all that run in its foreground.
    Interrupt,
    /// By SIGTERM, to this process alone.
    Terminate,
    /// By SIGHUP, to this process alone, or by the terminal's end.
    Hangup,
}

impl Asked {
    /// The signal's number, which POSIX gives to these three.
    pub(crate) const fn number(self) -> i32 {
        match self {
            Asked::Hangup => 1,
            Asked::Interrupt => 2,
            Asked::Terminate => 15,
        }
    }

    /// Whether this process is to end, and not only what runs in the foreground.
    pub(crate) const fn ends(self) -> bool {
        !matches!(self, Asked::Interrupt)
    }
}

/// A flag that the first signal sets; the second ends the process as it always does.
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
            eprint_message("stopping, and keeping what there is; once more aborts");
            signals.next().await;
        });
        std::process::exit(3);
    });
    Ok(&STOP)
}
