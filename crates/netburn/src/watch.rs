//! `netburn watch`: probes of one network for days. The decisions are in the crate `watch`.
//!
//! - `run`: the main loop. `segment`: one record, from its plan to its end. `server`: the address of the server.
//! - `service`: the watch as a service.
//! - `folder`: the folder of the records. `page`: the map of a week.
//! - `alerts`: rules and their actions. `metrics`: the page for Prometheus.

mod alerts;
mod folder;
mod metrics;
mod page;
mod run;
mod segment;
mod server;
mod service;

use crate::args::WatchArgs;
use crate::exit::{CliError, ExitStatus};
use crate::runtime;
use netburn_units::Duration;

/// Range of `--load`.
const LOADS: std::ops::RangeInclusive<Duration> = Duration::from_secs(1)..=Duration::from_secs(60);

/// `netburn watch`.
pub(crate) fn watch(args: &WatchArgs) -> Result<ExitStatus, CliError> {
    if let Some(load) = args.load.load {
        check_load(args, load)?;
    }
    if args.service.uninstall {
        return service::uninstall();
    }
    alerts::check(&args.alerts)?;
    if args.service.install {
        return service::install(args);
    }
    if args.page {
        return page::write_week(&args.dir);
    }
    let runtime = runtime::on(2)?;
    let ended = runtime.block_on(run::run(args));
    runtime.shutdown_background();
    ended
}

fn check_load(args: &WatchArgs, load: Duration) -> Result<(), CliError> {
    if !LOADS.contains(&load) {
        return Err(CliError::Usage(format!("--load: found {load}, expected 1 s to 60 s")));
    }
    match &args.server {
        Some(server) if server.port.is_none() => Err(CliError::Usage(format!(
            "--load: `{server}` receives pings only; help: start `netburn serve` there, and write --server {server}:4480"
        ))),
        _ => Ok(()),
    }
}
