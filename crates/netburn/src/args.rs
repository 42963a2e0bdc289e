//! Typed command line arguments.

mod compare;
mod decode;
mod demo;
pub(crate) mod examples;
mod explain;
mod export;
mod fetch;
mod fit;
mod fleet;
mod generate;
mod groups;
mod init;
mod lab;
mod measure;
mod measurement;
mod observed;
mod playground;
mod rpm;
mod run;
mod scenarios;
mod serve;
mod sqm;
mod sweep;
mod ui;
mod verify;
mod watch;

pub(crate) use compare::{CompareArgs, CompareFormat};
pub(crate) use decode::DecodeArgs;
pub(crate) use demo::DemoArgs;
pub(crate) use explain::ExplainArgs;
pub(crate) use export::{ExportArgs, ExportFormat, FlentTest, ImportArgs};
pub(crate) use fetch::{FetchArgs, Version};
pub(crate) use fit::FitArgs;
pub(crate) use fleet::{
    CheckArgs, DeployArgs, FleetArgs, FleetCommand, FleetListArgs, FleetServeArgs, JoinArgs, Label, LimitsArgs,
    RevokeArgs,
};
pub(crate) use generate::{CompleteArgs, GenerateArgs, Generated};
pub(crate) use init::InitArgs;
#[cfg(target_os = "linux")]
pub(crate) use lab::CommandArgs;
pub(crate) use lab::{DoctorArgs, LabArgs};
pub(crate) use measure::MeasureArgs;
pub(crate) use observed::Observed;
pub(crate) use playground::PlaygroundArgs;
pub(crate) use rpm::{RpmArgs, RpmDirection};
pub(crate) use run::{BandArg, Changes, Check, EnvironmentArg, PlanArgs, RunArgs};
pub(crate) use scenarios::{ScenariosArgs, ScenariosCommand};
pub(crate) use serve::{LimitArgs, Listen, ServeArgs};
pub(crate) use sqm::SqmArgs;
pub(crate) use sweep::{SweepArgs, SweepFormat};
pub(crate) use ui::UiArgs;
pub(crate) use verify::VerifyArgs;
pub(crate) use watch::{AlertArgs, WatchArgs, WatchServer};

use clap::{Args, CommandFactory, FromArgMatches, Parser, Subcommand, ValueEnum};
use std::path::PathBuf;

/// Test and model networks with several simultaneous clients
///
/// netburn shows how a network feels when everyone uses it at once, why, and what would help. To test your own Wi-Fi, run
/// `netburn ui` and follow its page.
///
/// It runs the workloads of a scenario (web pages, video, calls, downloads) on all its stations at the same time. It measures
/// the latency of each operation from its due time, compares the results with goals, and reports pass, marginal, fail or
/// inconclusive.
#[derive(Debug, Parser)]
#[command(name = "netburn", version, max_term_width = 100, after_help = AFTER)]
pub(crate) struct Cli {
    /// Log to standard error: -v, -vv, -vvv
    #[arg(short, long, action = clap::ArgAction::Count, global = true, hide = true)]
    pub(crate) verbose: u8,
    #[command(subcommand)]
    pub(crate) command: Command,
}

impl Cli {
    /// Parses the command line of this process. `--help` lists the commands by group.
    pub(crate) fn from_command_line() -> Result<Cli, clap::Error> {
        let mut command = groups::with_groups(examples::with_examples(Cli::command()));
        let mut matches = command.try_get_matches_from_mut(std::env::args_os())?;
        Cli::from_arg_matches_mut(&mut matches).map_err(|error| error.format(&mut command))
    }
}

/// Join a fleet with this device
///
/// This executable has only the command `fleet join`, for devices with little memory. The controller runs on another
/// machine, with the complete netburn.
#[derive(Debug, Parser)]
#[command(name = "netburn", version, max_term_width = 100)]
pub(crate) struct AgentCli {
    /// Log to standard error: -v, -vv, -vvv
    #[arg(short, long, action = clap::ArgAction::Count, global = true, hide = true)]
    pub(crate) verbose: u8,
    #[command(subcommand)]
    pub(crate) command: AgentCommand,
}

#[derive(Debug, Subcommand)]
pub(crate) enum AgentCommand {
    /// Join a fleet
    #[command(subcommand)]
    Fleet(AgentFleet),
}

#[derive(Debug, Subcommand)]
pub(crate) enum AgentFleet {
    Join(Box<JoinArgs>),
}

const AFTER: &str = "Exit status:
  0    the command ran (with --check: and no goal failed)
  1    with --check, a goal failed; with compare --fail-on or --bisect, a metric is worse
  2    the input is invalid
  3    no reliable measurement: inconclusive, interrupted, a station lost
  125  with compare --bisect, instead of 2 and 3: `git bisect` skips the commit
  lab returns the exit status of its commands; see `netburn lab --help`.

Data goes to standard output, everything else to standard error. -v also logs to standard error;
-vv or NETBURN_LOG=debug logs more.";

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    Demo(DemoArgs),
    Run(RunArgs),
    Plan(PlanArgs),
    Scenarios(ScenariosArgs),
    Init(InitArgs),
    Playground(PlaygroundArgs),
    Serve(Box<ServeArgs>),
    Fetch(Box<FetchArgs>),
    Rpm(Box<RpmArgs>),
    Sqm(Box<SqmArgs>),
    Report(ReportArgs),
    Compare(Box<CompareArgs>),
    Explain(ExplainArgs),
    Fit(FitArgs),
    Measure(MeasureArgs),
    Watch(Box<WatchArgs>),
    Verify(VerifyArgs),
    Runs(RunsArgs),
    Ui(UiArgs),
    Export(ExportArgs),
    Import(ImportArgs),
    Decode(DecodeArgs),
    Sweep(SweepArgs),
    Lab(Box<LabArgs>),
    Fleet(FleetArgs),
    Doctor(DoctorArgs),
    Schema(SchemaArgs),
    Generate(GenerateArgs),
    #[command(hide = true)]
    Complete(CompleteArgs),
    /// Create the namespaces of a lab and the processes in them
    #[command(hide = true)]
    LabInit,
    /// Restore the terminal after its user has exited
    #[command(hide = true)]
    RestoreTerminal,
    /// Play one station for a controller
    #[command(hide = true)]
    Agent,
}

/// Format of a result.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, ValueEnum)]
pub(crate) enum Format {
    /// Human-readable text
    #[default]
    Text,
    /// For scripts
    Json,
}

/// Format of a report.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, ValueEnum)]
pub(crate) enum ReportFormat {
    /// Human-readable text
    #[default]
    Text,
    /// For scripts
    Json,
    /// GitHub Flavored Markdown, for the summary of a CI job
    Markdown,
}

/// Show the report of a finished or interrupted run
///
/// If a run was killed, netburn first completes its record with every row that reached the disk. netburn writes the
/// page report.html in the run's folder again. The page is one self-contained file.
///
/// `--bundle` writes one archive for a bug report: the record, the page, the versions of kernel, drivers and firmware, and
/// the statistics of the Wi-Fi stations. `netburn report ARCHIVE` prints the report of such an archive.
#[derive(Debug, Args)]
pub(crate) struct ReportArgs {
    /// Folder of the run, or an archive of --bundle
    pub(crate) run: PathBuf,
    /// Format of the report
    #[arg(long, value_enum, default_value_t, value_name = "FORMAT")]
    pub(crate) format: ReportFormat,
    /// Show the familiar grades of the probes, such as bufferbloat letters
    #[arg(long)]
    pub(crate) grades: bool,
    /// File for the page [default: report.html in the run's folder]
    #[arg(long, value_name = "FILE")]
    pub(crate) html: Option<PathBuf>,
    /// Folder for the charts, as SVG and PNG
    #[arg(long, value_name = "DIR")]
    pub(crate) charts: Option<PathBuf>,
    /// Archive to write for a bug report (.tar.gz)
    #[arg(long, value_name = "FILE")]
    pub(crate) bundle: Option<PathBuf>,
    /// Replace names and addresses in the archive
    #[arg(long, requires = "bundle", alias = "anonymize")]
    pub(crate) anonymise: bool,
}

/// List the runs in a folder, oldest first
#[derive(Debug, Args)]
pub(crate) struct RunsArgs {
    /// Folder that contains the runs
    #[arg(default_value = "runs")]
    pub(crate) dir: PathBuf,
    /// Format of the list
    #[arg(long, value_enum, default_value_t, value_name = "FORMAT")]
    pub(crate) format: Format,
}

/// Print a JSON Schema
#[derive(Debug, Args)]
pub(crate) struct SchemaArgs {
    /// Schema to print
    #[arg(value_enum, default_value_t, value_name = "SCHEMA")]
    pub(crate) name: SchemaName,
}

/// Documents with a JSON Schema.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, ValueEnum)]
pub(crate) enum SchemaName {
    /// Scenario file
    #[default]
    Scenario,
    /// Messages between controller and agents
    Protocol,
}
