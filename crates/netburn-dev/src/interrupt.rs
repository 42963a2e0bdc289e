//! Interruption by SIGINT (Ctrl-C).

use crate::exit::CliError;
use netburn_runner::Cancel;
use std::sync::{Mutex, PoisonError};

/// Returns a cancellation that the first SIGINT stops, so that folders of runs are deleted. A second one ends the process with
/// status 3. All calls return the same cancellation.
pub(crate) fn cancel() -> Result<Cancel, CliError> {
    static CANCEL: Mutex<Option<Cancel>> = Mutex::new(None);
    let mut installed = CANCEL.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(cancel) = &*installed {
        return Ok(cancel.clone());
    }
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_io()
        .build()
        .map_err(CliError::failed)?;
    let interrupts = {
        let _inside = runtime.enter();
        tokio::signal::unix::signal(tokio::signal::unix::SignalKind::interrupt())
    };
    let (mut interrupts, cancel) = (interrupts.map_err(CliError::failed)?, Cancel::default());
    let stopped = cancel.clone();
    std::thread::spawn(move || {
        runtime.block_on(async {
            while interrupts.recv().await.is_some() {
                if stopped.is_stopped() {
                    std::process::exit(3);
                }
                stopped.stop();
            }
        });
    });
    *installed = Some(cancel.clone());
    Ok(cancel)
}
