//! Being told to stop.

use std::io;
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
        tokio::select! {
            _ = self.interrupt.recv() => {}
            _ = self.terminate.recv() => {}
            _ = self.hangup.recv() => {}
        }
    }
}
