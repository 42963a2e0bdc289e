//! Unix: SIGINT (Ctrl-C), SIGTERM and SIGHUP.

use super::Asked;
use netburn_platform::interrupts;
use std::io;
use tokio::signal::unix::{Signal, SignalKind, signal};

/// Streams of the three signals.
#[derive(Debug)]
pub(super) struct Streams {
    interrupt: Signal,
    terminate: Signal,
    hangup: Signal,
}

impl Streams {
    pub(super) fn new() -> io::Result<Self> {
        interrupts::observe();
        Ok(Streams {
            interrupt: signal(SignalKind::interrupt())?,
            terminate: signal(SignalKind::terminate())?,
            hangup: signal(SignalKind::hangup())?,
        })
    }

    pub(super) async fn next(&mut self) -> Asked {
        tokio::select! {
            _ = self.interrupt.recv() => {
                if interrupts::is_from_process() {
                    Asked::SentInterrupt
                } else {
                    Asked::Interrupt
                }
            }
            _ = self.terminate.recv() => Asked::Terminate,
            _ = self.hangup.recv() => Asked::Hangup,
        }
    }
}
