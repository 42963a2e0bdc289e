//! The command line program: tests and models networks with several simultaneous clients.
//!
//! Two executables are made of it. `netburn` has all commands. `netburn-agent` has only `fleet join`, for devices with
//! little memory: the linker removes everything else.
//!
//! Modules, from the top:
//!
//! - [`args`] – the arguments of all commands, and their help texts.
//! - One module per command, with the command's name: `run`, `lab`, `serve`, `fleet`, … Each resolves its arguments and
//!   calls the crates. `plan` and `record` each have several commands. `join` has the processes that a controller starts.
//! - `lab_opening`, `page`, `bundle`: opening of a lab, pages of runs, and archives of runs.
//! - `terminal`, `signals`, `runtime`, `program`: output, signals, tokio runtimes, and the path of this executable.
//! - [`errors`] and [`exit`]: error messages, and the exit status.

mod args;
mod bundle;
mod causes;
mod compare;
mod decode;
mod demo;
mod doctor;
mod errors;
mod exit;
mod explain;
mod export;
mod fetch;
mod fit;
mod fleet;
mod generate;
mod import;
mod init;
mod join;
#[cfg_attr(not(target_os = "linux"), path = "lab/unsupported.rs")]
mod lab;
#[cfg_attr(not(target_os = "linux"), path = "lab_opening/unsupported.rs")]
mod lab_opening;
mod measure;
mod page;
mod plan;
mod playground;
mod program;
mod record;
mod remedies;
mod rpm;
mod run;
mod runtime;
mod scenarios;
mod serve;
mod signals;
mod sqm;
mod sweep;
mod terminal;
mod ui;
mod verify;
mod watch;

use args::{AgentCli, AgentCommand, AgentFleet, Cli, Command, UiArgs};
use clap::Parser;
use exit::{CliError, ExitStatus};
use std::io::IsTerminal;
use std::process::ExitCode;
use tracing_subscriber::filter::Targets;
use tracing_subscriber::layer::SubscriberExt as _;
use tracing_subscriber::util::SubscriberInitExt as _;

/// Printed for `netburn` without arguments.
const FIRST_STEPS: &str = "\
netburn tests and models networks with several simultaneous clients. Start with one of these:

  netburn ui           test your own Wi-Fi, try a home and see your runs, in your browser
  netburn demo         see a slow network, its cause and what helps; takes about a minute
  netburn init         describe your home by answering questions, and simulate it
  netburn playground   one page on which you draw a home and see what would help
  netburn scenarios    list the networks that netburn can run, to change and run one

`netburn --help` lists all commands.";

/// Runs the command of the command line.
#[must_use]
pub fn main() -> ExitCode {
    netburn_platform::process::survive_file_size_limit();
    let command = if std::env::args_os().len() > 1 {
        match Cli::from_command_line() {
            Ok(cli) => {
                log(cli.verbose);
                cli.command
            }
            Err(error) => return unparsed(&error),
        }
    } else if std::io::stdin().is_terminal() && std::io::stdout().is_terminal() {
        terminal::eprint_message(FIRST_STEPS);
        Command::Ui(UiArgs::default())
    } else {
        return failed(&CliError::Usage(FIRST_STEPS.to_owned()));
    };
    match perform(command) {
        Ok(ended) => ended.into(),
        Err(stop) => failed(&stop),
    }
}

/// Runs the command of the executable for agents, `fleet join`.
#[must_use]
pub fn agent() -> ExitCode {
    netburn_platform::process::survive_file_size_limit();
    let AgentCli {
        verbose,
        command: AgentCommand::Fleet(AgentFleet::Join(args)),
    } = match AgentCli::try_parse() {
        Ok(cli) => cli,
        Err(error) => return unparsed(&error),
    };
    log(verbose);
    match fleet::join(&args) {
        Ok(ended) => ended.into(),
        Err(stop) => failed(&stop),
    }
}

/// Prints an error of the command line, or its help, and returns the status.
fn unparsed(error: &clap::Error) -> ExitCode {
    // A closed pipe is not an error.
    let _ = error.print();
    ExitCode::from(u8::try_from(error.exit_code()).unwrap_or(2))
}

/// Prints the error and returns its status.
fn failed(stop: &CliError) -> ExitCode {
    match stop {
        CliError::Usage(why) | CliError::Failed(why) | CliError::Command(_, why) => terminal::eprint_message(why),
        CliError::BrokenPipe => {}
    }
    ExitCode::from(stop.status())
}

fn perform(command: Command) -> Result<ExitStatus, CliError> {
    match command {
        Command::Demo(args) => demo::demo(&args),
        Command::Run(args) => run::run(&args),
        Command::Plan(args) => plan::plan(&args),
        Command::Scenarios(args) => scenarios::scenarios(&args),
        Command::Init(args) => init::init(&args),
        Command::Playground(args) => playground::playground(&args),
        Command::Serve(args) => serve::serve(&args),
        Command::Fetch(args) => fetch::fetch(&args),
        Command::Rpm(args) => rpm::rpm(&args),
        Command::Sqm(args) => sqm::sqm(&args),
        Command::Report(args) => record::report(&args),
        Command::Compare(args) => compare::compare(&args),
        Command::Explain(args) => explain::explain(&args),
        Command::Fit(args) => fit::fit(&args),
        Command::Measure(args) => measure::measure(&args),
        Command::Watch(args) => watch::watch(&args),
        Command::Verify(args) => verify::verify(&args),
        Command::Runs(args) => record::runs(&args),
        Command::Ui(args) => ui::ui(&args),
        Command::Export(args) => export::export(&args),
        Command::Import(args) => import::import(&args),
        Command::Decode(args) => decode::decode(&args),
        Command::Sweep(args) => sweep::sweep(&args),
        Command::Lab(args) => lab::lab(&args),
        Command::Fleet(args) => fleet::fleet(&args, measure::served),
        Command::Doctor(args) => doctor::doctor(&args),
        Command::RestoreTerminal => lab::keep_terminal().map(|()| ExitStatus::Success),
        Command::LabInit => std::process::exit(lab::helper()),
        Command::Generate(args) => generate::generate(&args),
        Command::Complete(args) => generate::complete(&args),
        Command::Schema(args) => plan::schema(&args),
        Command::Agent => join::agent(),
    }
}

/// Starts logging to standard error. `NETBURN_LOG` sets the filter (`debug`, `netburn_fleet_controller=trace`); the number of `-v` is
/// its default. Without either, the crates with their own messages for users do not log.
fn log(verbose: u8) {
    let default = match verbose {
        // `netburn_` is a prefix: it matches every library crate of netburn.
        0 => "warn,netburn_=off,netburn_dashboard=warn",
        1 => "info",
        2 => "debug",
        _ => "trace",
    };
    let filter: Option<Targets> = std::env::var("NETBURN_LOG").ok().and_then(|filter| filter.parse().ok());
    let lines = tracing_subscriber::fmt::layer()
        .with_writer(std::io::stderr)
        .with_ansi(terminal::stderr_colour());
    tracing_subscriber::registry()
        .with(lines)
        .with(filter.unwrap_or_else(|| default.parse().expect("the defaults are valid filters")))
        .init();
}
