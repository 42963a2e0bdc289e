//! `netburn fetch`.

use crate::args::{FetchArgs, Format, Version};
use crate::exit::{Ended, Stop};
use crate::record::document;
use crate::runtime;
use crate::signals::Signals;
use crate::terminal::{data, say};
use netburn_report::sanitise::sanitise;
use netburn_scenario::plan::Http;
use netburn_traffic::drive::CancelHandle;
use netburn_traffic::fetch::{FetchError, Options, Permission, Report, Second, Site, csv, find, run};
use netburn_units::Seed;
use netburn_workload::Connections;
use std::io::{self, BufRead, IsTerminal, Write};
use std::time::SystemTime;

/// `netburn fetch URL`.
pub(crate) fn fetch(args: &FetchArgs) -> Result<Ended, Stop> {
    let options = options(args);
    if let Some(path) = &args.output {
        // Found out now rather than after the measuring.
        let opened = std::fs::OpenOptions::new().create(true).append(true).open(path);
        opened.map_err(|e| Stop::Wrong(format!("{}: {e}", path.display())))?;
    }
    let runtime = runtime::here()?;
    let measured = runtime.block_on(measured(args, &options));
    runtime.shutdown_background();
    let (report, interrupted) = measured?;
    if let Some(path) = &args.output {
        csv::append(path, &report, SystemTime::now())
            .map_err(|e| Stop::NotMeasured(format!("{}: {e}", path.display())))?;
    }
    let text = match (args.format, args.batch) {
        (Format::Text, _) => report.text(),
        (Format::Json, false) => document(&report.json()),
        (Format::Json, true) => format!("{}\n", report.json()),
    };
    data(&text)?;
    Ok(match interrupted || report.finished == 0 {
        true => Ended::NotMeasured,
        false => Ended::Ran,
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
        connections: match args.new_connections {
            true => Connections::New,
            false => Connections::Keep,
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
async fn measured(args: &FetchArgs, options: &Options) -> Result<(Report, bool), Stop> {
    let not_measured = |e: FetchError| {
        let said = sanitise(&e.to_string());
        let hint = match !options.insecure && said.contains("certificate") {
            true => "; --insecure takes any certificate",
            false => "",
        };
        Stop::NotMeasured(format!("{said}{hint}"))
    };
    let mut signals = Signals::new().map_err(|e| Stop::NotMeasured(format!("can't listen for signals: {e}")))?;
    let ended = || Stop::NotMeasured("ended before anything was measured".to_owned());
    let site = tokio::select! {
        site = find(options) => site.map_err(not_measured)?,
        () = signals.next() => return Err(ended()),
    };
    if site.redirects > 0 {
        say(&format!("redirected to {}", sanitise(&site.url.to_string())));
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
            true if data(&format!("{line}\n")).is_err() && !unread => {
                unread = true;
                stopper.stop();
            }
            true => {}
            false => say(&line),
        }
    };
    let mut interrupted = false;
    let report = {
        let mut running = std::pin::pin!(run(options, &site, stop, each));
        loop {
            tokio::select! {
                report = &mut running => break report.map_err(not_measured)?,
                () = signals.next() => match interrupted {
                    true => return Err(ended()),
                    false => {
                        interrupted = true;
                        stopper.stop();
                    }
                }
            }
        }
    };
    match unread {
        true => Err(Stop::Unread),
        false => Ok((report, interrupted)),
    }
}

/// Whether this server may be burned: by its own word, or by that of who sits here.
fn agreed(site: &Site, yes: bool) -> Result<(), Stop> {
    match &site.permission {
        Permission::ThisMachine => return Ok(()),
        Permission::Consents { by } => {
            say(&format!("with the consent of {}", sanitise(by)));
            return Ok(());
        }
        Permission::Unknown if yes => return Ok(()),
        Permission::Unknown => {}
    }
    let host = sanitise(&site.url.host);
    if !(io::stdin().is_terminal() && io::stderr().is_terminal()) {
        return Err(Stop::Wrong(format!(
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
        _ => Err(Stop::Wrong("nothing was sent".to_owned())),
    }
}
