//! `netburn fetch`: one client against any HTTP server.
//!
//! [`find`] asks once what there is at a URL, follows redirects, and says whether the server agrees to be burned; who
//! calls then asks somebody if it doesn't; [`run`] measures, by the same driver as everything else, and tells every
//! second how it goes; the [`Report`] comes at the end.
//!
//! - [`options`], [`url`]: what is asked for.
//! - [`site`], [`permission`]: what there is, and whether it may be burned.
//! - [`seconds`], [`report`]: what was measured, without clocks and sockets. [`csv`]: a line of it for a file.

pub mod csv;
pub mod options;
pub mod permission;
pub mod report;
pub mod seconds;
pub mod site;
pub mod url;

pub use options::Options;
pub use permission::Permission;
pub use report::Report;
pub use seconds::Second;
pub use site::{Site, find};
pub use url::{Url, UrlError};

use crate::client::RequestError;
use crate::clock::RunClock;
use crate::drive::{CancelToken, Idle, Load, baseline, on_thread};
use netburn_record::Row;
use netburn_units::{Duration, Instant};
use netburn_workload::Workload;
use report::Tally;
use seconds::Seconds;
use std::sync::Arc;
use tokio::sync::mpsc;

/// Why there is nothing to measure.
#[derive(Debug, thiserror::Error)]
pub enum FetchError {
    /// The host's name leads nowhere.
    #[error("no address for `{0}`: {1}")]
    Lookup(String, String),
    /// The server doesn't answer.
    #[error("{0}: {1}")]
    Request(Url, #[source] RequestError),
    /// It answers something other than success.
    #[error("{0}: the server answers with status {1}")]
    Status(Url, u16),
    /// It sends us somewhere that isn't a URL to fetch.
    #[error("{0} leads somewhere else: {1}")]
    Redirect(Url, #[source] UrlError),
    /// It sends us round.
    #[error("{0}: more than {most} redirects", most = site::MAX_REDIRECTS)]
    TooManyRedirects(Url),
    /// This machine refuses.
    #[error("can't measure here: {0}")]
    Machine(#[from] std::io::Error),
}

/// Measures. `second` is told of every second, when it is over.
///
/// Pulling `stop` ends it at once, with a report of what there is.
///
/// # Errors
/// When this machine gives no thread or timer. What the server does wrong is in the report.
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

    // Far enough ahead that the thread is there, and so that the first page falls due at run time zero.
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
        // Rows come within a tenth of a second of what they tell.
        take(&batch, clock.now() - Duration::from_millis(200));
    }
    let elapsed = clock.now().checked_since(Instant::ZERO).unwrap_or(Duration::ZERO);
    take(&[], Instant::ZERO + elapsed);
    let drive = driving.await.map_err(std::io::Error::other)??;
    Ok(tally.report(options, site, elapsed, drive))
}

/// The schedule whose first page falls due at run time zero: with a rate, the phase that a station would have is taken
/// back.
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
