//! Signals that end a command.

use crate::exit::CliError;
use crate::runtime;
use crate::terminal::eprint_below;
use netburn_runner::Cancel;
use netburn_traffic::drive::CancelHandle;
use std::io;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};
use std::thread;

#[cfg_attr(unix, path = "signals/unix.rs")]
#[cfg_attr(windows, path = "signals/windows.rs")]
mod system;

/// Handler of SIGINT (Ctrl-C), SIGTERM and SIGHUP; on Windows, of Ctrl-C, Ctrl-Break, a closed console and a shutdown.
/// While it exists, they do not end the process.
#[derive(Debug)]
pub(crate) struct Signals(system::Streams);

impl Signals {
    /// Installs the signal handlers.
    ///
    /// # Errors
    /// If the system rejects a handler.
    pub(crate) fn new() -> io::Result<Self> {
        system::Streams::new().map(Self)
    }

    /// Waits for the next signal.
    pub(crate) async fn next(&mut self) {
        self.next_kind().await;
    }

    /// The result of `work`; an error if a signal comes first.
    pub(crate) async fn or_interrupted<T>(&mut self, work: impl Future<Output = T>) -> Result<T, CliError> {
        tokio::select! {
            done = work => Ok(done),
            () = self.next() => Err(CliError::Failed("interrupted before the first result".to_owned())),
        }
    }

    /// The result of a measurement, and `true` if a signal stopped it early. A second signal interrupts it.
    pub(crate) async fn or_stopped<T>(
        &mut self,
        stopper: &CancelHandle,
        measurement: impl Future<Output = T>,
    ) -> Result<(T, bool), CliError> {
        let mut measurement = std::pin::pin!(measurement);
        tokio::select! {
            done = &mut measurement => return Ok((done, false)),
            () = self.next() => stopper.stop(),
        }
        Ok((self.or_interrupted(measurement).await?, true))
    }

    /// Waits for the next signal and returns it.
    pub(crate) async fn next_kind(&mut self) -> Asked {
        self.0.next().await
    }
}

/// Signal that requests an end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Asked {
    /// SIGINT of a terminal, which sends it to all processes in its foreground. On Windows, Ctrl-C.
    Interrupt,
    /// SIGINT of a process, to this process only.
    #[cfg_attr(windows, expect(dead_code, reason = "no process sends Ctrl-C to one other process"))]
    SentInterrupt,
    /// SIGTERM, to this process only. On Windows, Ctrl-Break, or the end of the system.
    Terminate,
    /// SIGHUP, to this process only, or because the terminal was closed. On Windows, the console was closed.
    Hangup,
}

#[cfg_attr(not(target_os = "linux"), expect(dead_code, reason = "only labs run commands"))]
impl Asked {
    /// Number of the signal (POSIX).
    pub(crate) const fn number(self) -> i32 {
        match self {
            Asked::Hangup => 1,
            Asked::Interrupt | Asked::SentInterrupt => 2,
            Asked::Terminate => 15,
        }
    }

    /// Returns whether the signal ends this process, and not only the foreground commands.
    pub(crate) const fn ends(self) -> bool {
        !matches!(self, Asked::Interrupt)
    }
}

/// Calls `handler` on each signal from now on, on a thread of its own, instead of the handler before. After a signal to an
/// earlier handler, it is also called at once. So a signal between two runs of a command is not lost.
pub(crate) fn handle(mut handler: impl FnMut() + Send + 'static) -> Result<(), CliError> {
    static HANDLER: Mutex<Option<Box<dyn FnMut() + Send>>> = Mutex::new(None);
    /// True if a signal has arrived. Read and written while `HANDLER` is locked.
    static RECEIVED: AtomicBool = AtomicBool::new(false);
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
                    let mut handler = HANDLER.lock().unwrap_or_else(PoisonError::into_inner);
                    RECEIVED.store(true, Ordering::Relaxed);
                    if let Some(handler) = &mut *handler {
                        handler();
                    }
                }
            });
        });
    }
    if RECEIVED.load(Ordering::Relaxed) {
        handler();
    }
    *current = Some(Box::new(handler));
    Ok(())
}

/// Message after the first signal of a command that writes results to files.
pub(crate) const SAVING: &str = "stopping and saving the results; a second signal aborts";
/// Message after the first signal of a command that only prints.
pub(crate) const STOPPING: &str = "stopping; a second signal aborts";

/// Returns a cancellation that the first signal stops, with this message. The second signal ends the process with status 3.
pub(crate) fn cancel_or_exit(message: &'static str) -> Result<Cancel, CliError> {
    let cancel = Cancel::default();
    let canceller = cancel.clone();
    handle(move || {
        if canceller.is_stopped() {
            std::process::exit(3);
        }
        canceller.stop();
        eprint_below(message);
    })?;
    Ok(cancel)
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;
    use std::process::Command;
    use std::time::{Duration, Instant};

    #[test]
    fn a_signal_stops_the_next_run_too() {
        let first = cancel_or_exit(SAVING).unwrap();
        assert!(!first.is_stopped());
        let kill = format!("kill -INT {}", std::process::id());
        assert!(Command::new("sh").args(["-c", &kill]).status().unwrap().success());
        let until = Instant::now() + Duration::from_secs(60);
        while !first.is_stopped() && Instant::now() < until {
            thread::sleep(Duration::from_millis(5));
        }
        assert!(first.is_stopped());
        assert!(cancel_or_exit(SAVING).unwrap().is_stopped());
    }
}
