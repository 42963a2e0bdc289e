//! `netburn fetch`.

use crate::args::{FetchArgs, Format, Version};
use crate::exit::{CliError, ExitStatus};
use crate::record::document;
use crate::runtime;
use crate::signals::Signals;
use crate::terminal::{eprint_message, print_stdout};
use netburn_report::sanitise::sanitise;
use netburn_scenario::plan::Http;
use netburn_traffic::drive::CancelHandle;
use netburn_traffic::fetch::{FetchError, Options, Permission, Report, Second, Site, csv, find, run};
use netburn_units::Seed;
use netburn_workload::Connections;
use std::io::{self, BufRead, IsTerminal, Write};
use std::time::SystemTime;

/// `netburn fetch URL`.
pub(crate) fn fetch(args: &FetchArgs) -> Result<ExitStatus, CliError> {
    let options = options(args);
    if let Some(path) = &args.output {
        // Found out now rather than after the measuring.
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
    let text = match (args.format, args.batch) {
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
        insecure: args.insecure,
        idle: args.idle,
        seed: Seed(args.seed),
        ..Options::new(args.url.clone())
    }
}

/// The report, and whether somebody ended it early.
async fn measured(args: &FetchArgs, options: &Options) -> Result<(Report, bool), CliError> {
    let not_measured = |e: FetchError| {
        let said = sanitise(&e.to_string());
        let hint = if !options.insecure && said.contains("certificate") {
            "; --insecure takes any certificate"
        } else {
            ""
        };
        CliError::Failed(format!("{said}{hint}"))
    };
    let mut signals = Signals::new().map_err(|e| CliError::Failed(format!("can't listen for signals: {e}")))?;
    let ended = || CliError::Failed("ended before anything was measured".to_owned());
    let site = tokio::select! {
        site = find(options) => site.map_err(not_measured)?,
        () = signals.next() => return Err(ended()),
    };
    if site.redirects > 0 {
        eprint_message(&format!("redirected to {}", sanitise(&site.url.to_string())));
    }
    agreed(&site, args.yes)?;
    let mut unread = false;
    let (stopper, stop) = CancelHandle::new();
    let mut heading = Some(Second::heading());
    let each = |second: &Second| {
        let line = match (args.format, args.batch) {
            (Format::Json, true) => second.json().to_string(),
            _ => [heading.take(), Some(second.line())]
                .into_iter()
                .flatten()
                .collect::<Vec<_>>()
                .join("\n"),
        };
        match args.batch {
            // A reader that is gone wants no more seconds, and no report.
            true if print_stdout(&format!("{line}\n")).is_err() && !unread => {
                unread = true;
                stopper.stop();
            }
            true => {}
            false => eprint_message(&line),
        }
    };
    let mut interrupted = false;
    let report = {
        let mut running = std::pin::pin!(run(options, &site, stop, each));
        loop {
            tokio::select! {
                report = &mut running => break report.map_err(not_measured)?,
                () = signals.next() => if interrupted { return Err(ended()) } else {                         interrupted = true;
                        stopper.stop();
                     }
            }
        }
    };
    if unread {
        Err(CliError::BrokenPipe)
    } else {
        Ok((report, interrupted))
    }
}

/// Whether this server may be burned: by its own word, or by that of who sits here.
fn agreed(site: &Site, yes: bool) -> Result<(), CliError> {
    match &site.permission {
        Permission::ThisMachine => return Ok(()),
        Permission::Consents { by } => {
            eprint_message(&format!("with the consent of {}", sanitise(by)));
            return Ok(());
        }
        Permission::Unknown if yes => return Ok(()),
        Permission::Unknown => {}
    }
    let host = sanitise(&site.url.host);
    if !(io::stdin().is_terminal() && io::stderr().is_terminal()) {
        return Err(CliError::Usage(format!(
            "{host} is another machine and doesn't say at /.well-known/netburn that it may be burned; --yes says that \
             you may"
        )));
    }
    let _ = write!(
        io::stderr(),
        "{host} is another machine and doesn't say that it may be burned. Is it yours, or do you have its owner's \
         leave? [y/N] "
    );
    let mut answer = String::new();
    let _ = io::stdin().lock().read_line(&mut answer);
    match answer.trim() {
        "y" | "Y" | "yes" => Ok(()),
        _ => Err(CliError::Usage("nothing was sent".to_owned())),
    }
}
