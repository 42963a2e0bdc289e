//! Walks many workloads through real sockets, on one thread.
//!
//! - [`load`]: what is driven, and what is handed back.

pub mod load;

pub use load::{DriveReport, Load, Rows, Stop, Stopper};

use crate::clock::RunClock;

/// Drives `loads` until each is settled or `stop` is pulled, and hands over `rows` in batches several times a second.
///
/// It does all its work on the thread that polls it (a future that isn't `Send`), and wants that thread for itself:
/// [`on_thread`] gives it one.
pub async fn drive(loads: Vec<Load>, clock: RunClock, rows: Rows, stop: Stop) -> DriveReport {
    let _ = (loads, clock, rows, stop);
    todo!()
}

/// [`drive`] on a thread and a runtime of its own. The future may be polled anywhere; dropping it pulls no stop.
///
/// # Errors
/// When the thread or its runtime can't be made.
pub async fn on_thread(loads: Vec<Load>, clock: RunClock, rows: Rows, stop: Stop) -> std::io::Result<DriveReport> {
    let (done, report) = tokio::sync::oneshot::channel();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    std::thread::Builder::new().name("drive".into()).spawn(move || {
        // Nobody waiting any more is no fault.
        let _ = done.send(runtime.block_on(drive(loads, clock, rows, stop)));
    })?;
    report
        .await
        .map_err(|_| std::io::Error::other("the driving thread died"))
}
