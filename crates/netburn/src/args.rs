//! The command line, typed.

mod compare;
mod crosscheck;
mod decode;
mod explain;
mod export;
mod fetch;
mod fleet;
mod lab;
mod run;
mod serve;
mod sweep;
mod ui;
mod validate;

pub(crate) use compare::{CompareArgs, CompareFormat};
pub(crate) use crosscheck::{Against, CrosscheckArgs, CrosscheckFormat, FlowArgs, FlowEnd};
pub(crate) use decode::DecodeArgs;
pub(crate) use explain::ExplainArgs;
pub(crate) use export::{ExportArgs, ExportFormat, FlentTest, ImportArgs};
pub(crate) use fetch::{FetchArgs, Version};
pub(crate) use fleet::{
    CheckArgs, DeployArgs, FleetArgs, FleetCommand, FleetListArgs, FleetServeArgs, JoinArgs, Label, LimitsArgs,
    RevokeArgs,
};
pub(crate) use lab::{CommandArgs, DoctorArgs, LabArgs};
pub(crate) use run::{Changes, Check, EnvironmentArg, PlanArgs, RunArgs};
pub(crate) use serve::{LimitArgs, ServeArgs};
pub(crate) use sweep::{SweepArgs, SweepFormat};
pub(crate) use ui::UiArgs;
pub(crate) use validate::{ValidateArgs, ValidateFormat};

use clap::{Args, Parser, Subcommand, ValueEnum};
use std::path::PathBuf;

/// What a network feels like when everybody uses it at once.
///
/// netburn runs the uses that people have (browsing, a 4K stream, a call, a download) on many stations at the same
/// moment, measures each operation from the instant it was due, holds it against a goal, and says pass, marginal or
/// fail.
#[derive(Debug, Parser)]
#[command(name = "netburn", version, max_term_width = 100, after_help = AFTER)]
pub(crate) struct Cli {
    /// Log more to standard error: -v, -vv, -vvv
    #[arg(short, long, action = clap::ArgAction::Count, global = true, hide = true)]
    pub(crate) verbose: u8,
    #[command(subcommand)]
    pub(crate) command: Command,
}

const AFTER: &str = "Exit status:
  0  it ran (with --check: and no goal failed)
  1  with --check, a goal failed; with validate, a figure is beyond its tolerance
  2  the input is wrong
  3  it could not be measured: inconclusive, interrupted, a station lost

Data goes to standard output, everything else to standard error. With -v there is a log as well,
with -vv or NETBURN_LOG=debug a longer one.";

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    Run(RunArgs),
    Plan(PlanArgs),
    Serve(Box<ServeArgs>),
    Fetch(Box<FetchArgs>),
    Report(ReportArgs),
    Compare(Box<CompareArgs>),
    Explain(ExplainArgs),
    Runs(RunsArgs),
    Ui(UiArgs),
    Export(ExportArgs),
    Import(ImportArgs),
    Decode(DecodeArgs),
    Validate(ValidateArgs),
    Sweep(SweepArgs),
    Lab(Box<LabArgs>),
    Fleet(FleetArgs),
    Doctor(DoctorArgs),
    Schema(SchemaArgs),
    Crosscheck(Box<CrosscheckArgs>),
    #[command(hide = true)]
    Flow(FlowArgs),
    /// Make a lab's namespaces, and be the ancestor of what runs in them
    #[command(hide = true)]
    LabInit,
    /// Put a terminal back when whoever took it is gone
    #[command(hide = true)]
    LabTerminal,
    /// Drive one station for a controller
    #[command(hide = true)]
    Agent,
}

/// How a result is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, ValueEnum)]
pub(crate) enum Format {
    /// For people
    #[default]
    Text,
    /// For scripts
    Json,
}

/// Show a run again, also one that was cut short.
///
/// A folder whose run was killed is finished first: every row that reached the disk is in it. The page, report.html in the
/// run's folder, is written anew: one file with everything inside, to open from disk or send on.
#[derive(Debug, Args)]
pub(crate) struct ReportArgs {
    /// The run's folder
    pub(crate) run: PathBuf,
    /// How the report is written
    #[arg(long, value_enum, default_value_t, value_name = "FORMAT")]
    pub(crate) format: Format,
    /// Write the page there instead of report.html in the run's folder
    #[arg(long, value_name = "FILE")]
    pub(crate) html: Option<PathBuf>,
    /// Write every chart into this folder too, as SVG and PNG
    #[arg(long, value_name = "DIR")]
    pub(crate) charts: Option<PathBuf>,
}

/// List the runs of a directory, oldest first.
#[derive(Debug, Args)]
pub(crate) struct RunsArgs {
    /// Where the run folders are
    #[arg(default_value = "runs")]
    pub(crate) dir: PathBuf,
    /// How the list is written
    #[arg(long, value_enum, default_value_t, value_name = "FORMAT")]
    pub(crate) format: Format,
}

/// Print a JSON Schema.
#[derive(Debug, Args)]
pub(crate) struct SchemaArgs {
    /// Of what
    #[arg(value_enum, default_value_t)]
    pub(crate) of: SchemaOf,
}

/// What has a JSON Schema.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, ValueEnum)]
pub(crate) enum SchemaOf {
    /// The scenario file
    #[default]
    Scenario,
    /// The messages between controller and participants
    Protocol,
}
