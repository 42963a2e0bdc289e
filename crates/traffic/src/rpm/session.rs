//! Performs responsiveness tests with the driver of all workloads.

use super::options::Options;
use super::report::{Report, TestReport};
use super::site::{RpmError, Site};
use crate::clock::RunClock;
use crate::drive::{CancelToken, Load, drive_observed};
use netburn_platform::cpu::ThreadId;
use netburn_units::{Duration, Seed};
use netburn_workload::responsiveness::{Config, End, Interval};
use netburn_workload::{Direction, Workload};
use std::sync::Arc;
use tokio::sync::mpsc;

/// Performs the tests of `options` against a site, one after the other. Calls `interval` after every interval, with the
/// directions of the test.
///
/// Cancelling `stop` ends the test, with a report of the results so far. All work runs on the thread that polls this
/// future; it should have no other tasks.
///
/// # Errors
/// [`RpmError::Parameter`]. Errors of the server during a test are in the report.
pub async fn run(
    options: &Options,
    site: &Site,
    stop: CancelToken,
    mut interval: impl FnMut(&[Direction], &Interval),
) -> Result<Report, RpmError> {
    let mut tests = Vec::new();
    for (number, config) in options.tests()?.into_iter().enumerate() {
        let seed = options.seed.repeat(number as u64);
        let test = test(config, seed, site, stop.clone(), &mut interval).await?;
        let ended = test.failure.is_some() || stop.is_stopped();
        tests.push(test);
        if ended {
            break;
        }
    }
    Ok(Report::new(options, site, tests))
}

async fn test(
    config: Config,
    seed: Seed,
    site: &Site,
    stop: CancelToken,
    interval: &mut impl FnMut(&[Direction], &Interval),
) -> Result<TestReport, RpmError> {
    let (directions, timeout) = (config.directions.clone(), config.probe_timeout);
    let config = Config {
        tls_round_trips: site.handshake.round_trips,
        ..config
    };
    let clock = RunClock::starting_now();
    let load = Load {
        station: 0,
        workload: 0,
        machine: Workload::responsiveness_test(config, clock.now(), seed)?,
        target: Arc::new(site.target.clone()),
    };
    // The rows have no receiver: the test has its own result.
    let (rows, _) = mpsc::unbounded_channel();
    let mut result = None;
    let thread = ThreadId::current();
    let used = thread.time().ok();
    let drive = drive_observed(vec![load], clock, rows, stop, &mut |test| {
        while let Some(ended) = test.poll_interval() {
            interval(&directions, &ended);
        }
        if test.is_finished() {
            result = Some(test.result());
        }
    })
    .await?;
    let busy = match (used, thread.time()) {
        (Some(before), Ok(after)) => after.saturating_sub(before),
        _ => Duration::ZERO,
    };
    let result = result.expect("a drive ends with its test");
    let failure = matches!(result.end, End::ConnectionFailed(_)).then(|| {
        let late = || format!("can't connect within {} s", timeout.as_secs_f64());
        drive.load_failure.unwrap_or_else(late)
    });
    let span = clock.now().as_secs_f64();
    Ok(TestReport {
        directions,
        result,
        tls: site.handshake.version,
        failure,
        cpu: busy.as_secs_f64() / span.max(1e-9),
    })
}
