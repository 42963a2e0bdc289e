//! `netburn fetch`.

use crate::args::{FetchArgs, Format, Version};
use crate::exit::{CliError, ExitStatus};
use crate::runtime;
use crate::signals::Signals;
use crate::terminal::{document, eprint_message, print_stdout};
use netburn_report::sanitise::sanitise;
use netburn_scenario::plan::Http;
use netburn_traffic::drive::CancelHandle;
use netburn_traffic::fetch::{FetchError, Options, Permission, Report, Second, csv, find, run};
use netburn_units::Seed;
use netburn_workload::Connections;
use std::io::{self, BufRead, IsTerminal, Write};
use std::time::SystemTime;

/// `netburn fetch URL`.
pub(crate) fn fetch(args: &FetchArgs) -> Result<ExitStatus, CliError> {
    let options = options(args);
    if let Some(path) = &args.output {
        // A file that can't be written is an error before the measurement, not after it.
        let opened = std::fs::OpenOptions::new().create(true).append(true).open(path);
        opened.map_err(|e| CliError::Usage(format!("{}: {e}", path.display())))?;
    }
    let runtime = runtime::here()?;
    let measured = runtime.block_on(measured(args, &options));
    runtime.shutdown_background();
    let (report, interrupted) = measured?;
    if let Some(path) = &args.output {
        csv::append(path, &report, SystemTime::now())
            .map_err(|e| CliError::Failed(format!("{}: {e}", path.display())))?;
    }
    let text = match (args.measurement.format, args.batch) {
        (Format::Text, _) => report.text(),
        (Format::Json, false) => document(&report.json()),
        (Format::Json, true) => format!("{}\n", report.json()),
    };
    print_stdout(&text)?;
    Ok(if interrupted || report.finished == 0 {
        ExitStatus::NotMeasured
    } else {
        ExitStatus::Success
    })
}

fn options(args: &FetchArgs) -> Options {
    Options {
        rate: args.rate,
        concurrency: args.concurrency,
        duration: args.time,
        drain: args.drain,
        jitter: args.jitter,
        percentiles: args.percentile.clone(),
        post: args.post,
        connections: if args.new_connections {
            Connections::New
        } else {
            Connections::Keep
        },
        http: match args.http {
            Version::H1 => Http::H1,
            Version::H2 => Http::H2,
        },
        insecure: args.measurement.insecure,
        idle: args.idle,
        seed: Seed(args.measurement.seed),
        ..Options::new(args.url.clone())
    }
}

/// The report, and `true` if a signal interrupted the measurement.
async fn measured(args: &FetchArgs, options: &Options) -> Result<(Report, bool), CliError> {
    let not_measured = |e: FetchError| {
        let text = sanitise(&e.to_string());
        let hint = if !options.insecure && e.is_certificate() {
            "; help: --insecure accepts any certificate"
        } else {
            ""
        };
        CliError::Failed(format!("{text}{hint}"))
    };
    let mut signals = Signals::new().map_err(|e| CliError::Failed(format!("can't listen for signals: {e}")))?;
    let site = signals.or_interrupted(find(options)).await?.map_err(not_measured)?;
    if site.redirects > 0 {
        eprint_message(&format!("redirected to {}", sanitise(&site.url.to_string())));
    }
    check_permission(&site.permission, &site.url.host, args.measurement.yes)?;
    let mut unread = false;
    let (stopper, stop) = CancelHandle::new();
    let mut heading = Some(Second::heading());
    let each = |second: &Second| {
        let line = match (args.measurement.format, args.batch) {
            (Format::Json, true) => second.json().to_string(),
            _ => [heading.take(), Some(second.line())]
                .into_iter()
                .flatten()
                .collect::<Vec<_>>()
                .join("\n"),
        };
        if !args.batch {
            eprint_message(&line);
        } else if print_stdout(&format!("{line}\n")).is_err() && !unread {
            // A closed pipe stops the measurement.
            unread = true;
            stopper.stop();
        }
    };
    let (report, interrupted) = signals.or_stopped(&stopper, run(options, &site, stop, each)).await?;
    let report = report.map_err(not_measured)?;
    if unread {
        Err(CliError::BrokenPipe)
    } else {
        Ok((report, interrupted))
    }
}

/// Checks that the server permits load tests, or that the user confirms the permission.
pub(crate) fn check_permission(permission: &Permission, host: &str, yes: bool) -> Result<(), CliError> {
    match permission {
        Permission::ThisMachine => return Ok(()),
        Permission::Consents { by } => {
            eprint_message(&format!("{} permits load tests", sanitise(by)));
            return Ok(());
        }
        Permission::Unknown if yes => return Ok(()),
        Permission::Unknown => {}
    }
    let host = sanitise(host);
    if !(io::stdin().is_terminal() && io::stderr().is_terminal()) {
        return Err(CliError::Usage(format!(
            "{host} is another machine and does not permit load tests at /.well-known/netburn; help: --yes confirms \
             that you have the permission"
        )));
    }
    let _ = write!(
        io::stderr(),
        "{host} is another machine and does not announce that it permits load tests. Do you own it, or do you have \
         its owner's permission? [y/N] "
    );
    let mut answer = String::new();
    let _ = io::stdin().lock().read_line(&mut answer);
    match answer.trim() {
        "y" | "Y" | "yes" => Ok(()),
        _ => Err(CliError::Usage("not confirmed: nothing was sent".to_owned())),
    }
}
