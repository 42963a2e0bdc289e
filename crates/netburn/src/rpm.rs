//! `netburn rpm`.

use crate::args::{Format, RpmArgs, RpmDirection};
use crate::exit::{CliError, ExitStatus};
use crate::fetch::check_permission;
use crate::runtime;
use crate::signals::Signals;
use crate::terminal::{document, eprint_message, print_stdout};
use netburn_report::sanitise::sanitise;
use netburn_traffic::drive::CancelHandle;
use netburn_traffic::rpm::report::{heading, interval_line};
use netburn_traffic::rpm::{Load, Options, Report, RpmError, find, run};
use netburn_units::Seed;
use netburn_workload::Direction;
use netburn_workload::responsiveness::Config;

/// `netburn rpm URL`.
pub(crate) fn rpm(args: &RpmArgs) -> Result<ExitStatus, CliError> {
    let options = options(args);
    let runtime = runtime::here()?;
    let measured = runtime.block_on(measured(args, &options));
    runtime.shutdown_background();
    let (report, interrupted) = measured?;
    let text = match args.measurement.format {
        Format::Text => report.text(),
        Format::Json => document(&report.json()),
    };
    // Notes contain paths and errors of the server.
    let lines: Vec<String> = text.lines().map(sanitise).collect();
    print_stdout(&format!("{}\n", lines.join("\n")))?;
    Ok(if interrupted || !report.is_measured() {
        ExitStatus::NotMeasured
    } else {
        ExitStatus::Success
    })
}

fn options(args: &RpmArgs) -> Options {
    let mut options = Options::new(args.url.clone());
    options.load = match (args.concurrent, args.direction) {
        (true, _) => Load::Concurrent,
        (false, None) => Load::Sequential,
        (false, Some(RpmDirection::Down)) => Load::Only(Direction::Down),
        (false, Some(RpmDirection::Up)) => Load::Only(Direction::Up),
    };
    options.insecure = args.measurement.insecure;
    options.allow_other_host = args.allow_other_host;
    options.seed = Seed(args.measurement.seed);
    options.config = Config {
        idle: args.idle,
        interval: args.draft.id,
        intervals: args.draft.mad,
        tolerance: args.draft.sdt,
        kept: args.draft.tmp,
        connections: args.draft.mnp,
        probes_per_second: args.draft.mps,
        probe_share: args.draft.ptc,
        time: args.time,
        data: Some(args.max_data),
        ..options.config
    };
    options
}

/// The report, and `true` if a signal interrupted the measurement.
async fn measured(args: &RpmArgs, options: &Options) -> Result<(Report, bool), CliError> {
    let mut signals = Signals::new().map_err(|e| CliError::Failed(format!("can't listen for signals: {e}")))?;
    let wrong = |error: RpmError| not_measured(&error, options);
    let site = signals.or_interrupted(find(options)).await?.map_err(wrong)?;
    check_permission(&site.permission, &site.urls.host, args.measurement.yes)?;
    let (stopper, stop) = CancelHandle::new();
    let mut first = true;
    let running = run(options, &site, stop, |directions, interval| {
        if std::mem::take(&mut first) {
            eprint_message(&heading());
        }
        eprint_message(&interval_line(directions, interval));
    });
    let (report, interrupted) = signals.or_stopped(&stopper, running).await?;
    Ok((report.map_err(wrong)?, interrupted))
}

/// The message for an error, with the option that permits what the server requests.
fn not_measured(error: &RpmError, options: &Options) -> CliError {
    let text = sanitise(&error.to_string());
    let help = if !options.insecure && error.is_certificate() {
        "\nhelp: --insecure accepts any certificate"
    } else if error.is_other_host() {
        "\nhelp: --allow-other-host permits a test of that server"
    } else {
        ""
    };
    let message = format!("{text}{help}");
    if error.is_usage() {
        CliError::Usage(message)
    } else {
        CliError::Failed(message)
    }
}
