//! What a network feels like when everybody uses it at once, why, and what would help: the command.
//!
//! Typed arguments ([`args`]) become a resolved plan, that runs, and [`exit`] alone decides how it ends.

mod args;
mod compare;
mod crosscheck;
mod decode;
mod doctor;
mod exit;
mod explain;
mod export;
mod fetch;
mod fleet;
mod import;
mod join;
mod lab;
mod page;
mod plan;
mod record;
mod run;
mod runtime;
mod serve;
mod signals;
mod sweep;
mod terminal;
mod ui;
mod validate;

use args::{Cli, Command};
use clap::Parser;
use exit::{Ended, Stop};
use std::process::ExitCode;
use tracing_subscriber::EnvFilter;

fn main() -> ExitCode {
    let cli = match Cli::try_parse() {
        Ok(cli) => cli,
        Err(error) => {
            // Help that nobody reads to its end is no fault.
            let _ = error.print();
            return ExitCode::from(u8::try_from(error.exit_code()).unwrap_or(2));
        }
    };
    log(cli.verbose);
    match perform(cli.command) {
        Ok(ended) => ended.into(),
        Err(stop) => {
            match &stop {
                Stop::Wrong(why) | Stop::NotMeasured(why) | Stop::Command(_, why) => terminal::say(why),
                Stop::Unread => {}
            }
            ExitCode::from(stop.status())
        }
    }
}

fn perform(command: Command) -> Result<Ended, Stop> {
    match command {
        Command::Run(args) => run::run(&args),
        Command::Plan(args) => plan::plan(&args),
        Command::Serve(args) => serve::serve(&args),
        Command::Fetch(args) => fetch::fetch(&args),
        Command::Report(args) => record::report(&args),
        Command::Compare(args) => compare::compare(&args),
        Command::Explain(args) => explain::explain(&args),
        Command::Runs(args) => record::runs(&args),
        Command::Ui(args) => ui::ui(&args),
        Command::Export(args) => export::export(&args),
        Command::Import(args) => import::import(&args),
        Command::Decode(args) => decode::decode(&args),
        Command::Validate(args) => validate::validate(&args),
        Command::Sweep(args) => sweep::sweep(&args),
        Command::Lab(args) => lab::lab(&args),
        Command::Fleet(args) => fleet::fleet(&args),
        Command::Doctor(args) => doctor::doctor(&args),
        Command::LabTerminal => lab::keep_terminal().map(|()| Ended::Ran),
        Command::Crosscheck(args) => crosscheck::crosscheck(&args),
        Command::Flow(args) => crosscheck::flow(&args.end),
        Command::LabInit => std::process::exit(lab::helper()),
        Command::Schema(args) => plan::schema(&args),
        Command::Agent => join::agent(),
    }
}

/// Logs go to standard error: what `NETBURN_LOG` asks for (`debug`, `netburn_fleet=trace`), or as much as there are `-v`.
/// Without either, what people should know of a fleet, its traffic and a lab is said in sentences and not logged.
fn log(verbose: u8) {
    let usual = match verbose {
        0 => "warn,netburn_fleet=off,netburn_traffic=off,netburn_lab=off",
        1 => "info",
        2 => "debug",
        _ => "trace",
    };
    let filter = EnvFilter::try_from_env("NETBURN_LOG").unwrap_or_else(|_| EnvFilter::new(usual));
    tracing_subscriber::fmt()
        .with_env_filter(filter)
        .with_writer(std::io::stderr)
        .with_ansi(terminal::stderr_colour())
        .init();
}
