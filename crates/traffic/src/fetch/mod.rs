//! `netburn fetch`: one client against any HTTP server.
//!
//! [`find`] requests a URL once, follows redirects and returns whether the server consents to load tests. Without
//! consent, the caller asks the user. [`run`] measures with the driver of all real runs and reports every second. The
//! [`Report`] is the result.
//!
//! - [`options`], [`url`]: parameters.
//! - [`site`], [`permission`]: properties of the server, and its consent. [`mod@reach`]: the address that answers.
//! - [`seconds`], [`report`]: results, without clocks and sockets. [`csv`]: a line for a file.

pub mod csv;
pub mod options;
pub mod permission;
pub mod reach;
pub mod report;
pub mod seconds;
pub mod site;
pub mod url;

pub use options::Options;
pub use permission::Permission;
pub use reach::ReachError;
pub use report::Report;
pub use seconds::Second;
pub use site::{Site, find};
pub use url::{Url, UrlError};

use crate::clock::RunClock;
use crate::drive::{CancelToken, Idle, Load, baseline, on_thread};
use netburn_record::Row;
use netburn_units::{Duration, Instant};
use netburn_workload::{ProbeTarget, Workload};
use report::Tally;
use seconds::Seconds;
use std::sync::Arc;
use tokio::sync::mpsc;

/// Error of a fetch.
#[derive(Debug, thiserror::Error)]
pub enum FetchError {
    /// The host can't be reached.
    #[error(transparent)]
    Reach(#[from] ReachError),
    /// The server answers with a status other than success.
    #[error("{0}: found status {1}, expected success")]
    Status(Url, u16),
    /// A redirect does not lead to a valid URL.
    #[error("{0}: invalid redirect: {1}")]
    Redirect(Url, #[source] UrlError),
    /// There are too many redirects.
    #[error("{0}: more than {most} redirects", most = site::MAX_REDIRECTS)]
    TooManyRedirects(Url),
    /// An operating system error on this machine.
    #[error("can't measure on this machine: {0}")]
    Machine(#[from] std::io::Error),
}

impl FetchError {
    /// Returns whether the server's certificate was rejected.
    #[must_use]
    pub fn is_certificate(&self) -> bool {
        matches!(self, FetchError::Reach(error) if error.is_certificate())
    }
}

/// Measures. Calls `second` after every second.
///
/// Cancelling `stop` ends the measurement at once, with a report of the results so far.
///
/// # Errors
/// [`FetchError::Machine`] when this machine provides no thread or timer. Errors of the server are in the report.
pub async fn run(
    options: &Options,
    site: &Site,
    stop: CancelToken,
    mut second: impl FnMut(&Second),
) -> Result<Report, FetchError> {
    let target = Arc::new(site.target.clone());
    let mut tally = Tally::default();
    if !options.idle.is_zero() && !stop.is_stopped() {
        let idle = Idle {
            station: 0,
            target: Arc::clone(&target),
            targets: vec![ProbeTarget::Server],
            datagrams: matches!(site.permission, Permission::Consents { .. }),
        };
        let clock = RunClock::starting_now();
        let (rows, mut received) = mpsc::unbounded_channel();
        let until = Instant::ZERO + options.idle;
        let probed = baseline(vec![idle], until, options.seed, clock, rows, stop.clone());
        probed.await?;
        while let Some(batch) = received.recv().await {
            batch.iter().for_each(|row| tally.put_idle(row));
        }
    }

    // Far enough in the future for the thread to start. The first page is due at run time zero.
    let clock = RunClock::starting_at(std::time::Instant::now() + std::time::Duration::from_millis(20));
    let load = Load {
        station: 0,
        workload: 0,
        machine: machine(options, site),
        target,
    };
    let (rows, mut received) = mpsc::unbounded_channel();
    let driving = tokio::spawn(on_thread(vec![load], clock, rows, stop));
    let mut seconds = Seconds::default();
    let mut take = |batch: &[Row], until: Instant| {
        for row in batch {
            seconds.put(row);
            tally.put(row);
        }
        while let Some(ended) = seconds.next(until) {
            second(&ended);
        }
    };
    while let Some(batch) = received.recv().await {
        // Rows arrive within 100 ms of their time.
        take(&batch, clock.now() - Duration::from_millis(200));
    }
    let elapsed = clock.now().checked_since(Instant::ZERO).unwrap_or(Duration::ZERO);
    take(&[], Instant::ZERO + elapsed);
    let drive = driving.await.map_err(std::io::Error::other)??;
    Ok(tally.report(options, site, elapsed, drive))
}

/// Creates a schedule whose first page is due at run time zero. With a rate, the phase of a station is subtracted.
fn machine(options: &Options, site: &Site) -> Workload {
    let config = options.workload(site.size);
    let end = Instant::ZERO + options.duration;
    let settle = end + options.drain;
    let first = Workload::new(config.clone(), Instant::ZERO, end, settle, options.seed, 0).first_due();
    let phase = first
        .and_then(|due| due.checked_since(Instant::ZERO))
        .unwrap_or(Duration::ZERO);
    Workload::new(config, Instant::ZERO - phase, end, settle, options.seed, 0)
}
