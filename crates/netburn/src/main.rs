//! The command line program: tests and models networks with several simultaneous clients.
//!
//! [`args`] parses the arguments, the commands resolve and run them, and [`exit`] determines the exit status.

mod args;
mod compare;
mod crosscheck;
mod decode;
mod doctor;
mod errors;
mod exit;
mod explain;
mod export;
mod fetch;
mod fleet;
mod import;
mod join;
mod lab;
mod lab_opening;
mod page;
mod plan;
mod program;
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
use exit::{CliError, ExitStatus};
use std::process::ExitCode;
use tracing_subscriber::EnvFilter;

fn main() -> ExitCode {
    let cli = match Cli::from_command_line() {
        Ok(cli) => cli,
        Err(error) => {
            // A closed pipe is not an error.
            let _ = error.print();
            return ExitCode::from(u8::try_from(error.exit_code()).unwrap_or(2));
        }
    };
    log(cli.verbose);
    match perform(cli.command) {
        Ok(ended) => ended.into(),
        Err(stop) => {
            match &stop {
                CliError::Usage(why) | CliError::Failed(why) | CliError::Command(_, why) => {
                    terminal::eprint_message(why)
                }
                CliError::BrokenPipe => {}
            }
            ExitCode::from(stop.status())
        }
    }
}

fn perform(command: Command) -> Result<ExitStatus, CliError> {
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
        Command::RestoreTerminal => lab::keep_terminal().map(|()| ExitStatus::Success),
        Command::Crosscheck(args) => crosscheck::crosscheck(&args),
        Command::Flow(args) => crosscheck::flow(&args.end),
        Command::LabInit => std::process::exit(lab::helper()),
        Command::Schema(args) => plan::schema(&args),
        Command::Agent => join::agent(),
    }
}

/// Starts logging to standard error. `NETBURN_LOG` sets the filter (`debug`, `netburn_fleet=trace`); the number of `-v` is
/// its default. Without either, the crates with their own messages for users do not log.
fn log(verbose: u8) {
    let default = match verbose {
        // `netburn_` is a prefix: it matches every library crate of netburn.
        0 => "warn,netburn_=off,netburn_dashboard=warn",
        1 => "info",
        2 => "debug",
        _ => "trace",
    };
    let filter = EnvFilter::try_from_env("NETBURN_LOG").unwrap_or_else(|_| EnvFilter::new(default));
    tracing_subscriber::fmt()
        .with_env_filter(filter)
        .with_writer(std::io::stderr)
        .with_ansi(terminal::stderr_colour())
        .init();
}
