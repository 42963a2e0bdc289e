//! Being told to stop.

use crate::exit::Stop;
use crate::runtime;
use crate::terminal::say;
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
        tokio::select! {
            _ = self.interrupt.recv() => {}
            _ = self.terminate.recv() => {}
            _ = self.hangup.recv() => {}
        }
    }
}

/// A flag that the first signal sets; the second ends the process as it always does.
pub(crate) fn stop_flag() -> Result<&'static AtomicBool, Stop> {
    static STOP: AtomicBool = AtomicBool::new(false);
    STOP.store(false, Ordering::Relaxed);
    let not_measured = |error: std::io::Error| Stop::NotMeasured(error.to_string());
    let runtime = runtime::here()?;
    let mut signals = {
        let _inside = runtime.enter();
        Signals::new().map_err(not_measured)?
    };
    thread::spawn(move || {
        runtime.block_on(async {
            signals.next().await;
            STOP.store(true, Ordering::Relaxed);
            say("stopping, and keeping what there is; once more aborts");
            signals.next().await;
        });
        std::process::exit(3);
    });
    Ok(&STOP)
}
