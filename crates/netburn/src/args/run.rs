//! `run` and `plan`.

use super::Format;
use clap::{Args, ValueEnum};
use netburn_units::Duration;
use std::path::PathBuf;

/// Run a scenario and say who passed, and why.
///
/// On `lab` the access point of the scenario is modelled, not one's own, and real programs with this machine's TCP run at its
/// stations, in real time. On `simulate` those are modelled, too, in virtual time. On `local` the server and one process per
/// station start on this machine, without Wi-Fi. On `fleet` the stations are the devices that have joined `netburn fleet serve`, over
/// the real air. Where it is real, idle latency is measured first, and everybody starts at one
/// instant. The report goes to standard output, the live view to standard error, the run to a folder. Ctrl-C ends it
/// early and keeps what there is; a second one aborts.
#[derive(Debug, Args)]
pub(crate) struct RunArgs {
    #[command(flatten)]
    pub(crate) changes: Changes,
    /// More scenarios, with --interleave
    #[arg(value_name = "OTHERS", requires = "interleave")]
    pub(crate) others: Vec<String>,
    /// Run several scenarios in turns, every round in a random order of its own (by the seed), so that what drifts meanwhile
    /// doesn't decide between them; then hold the others against the first
    #[arg(long)]
    pub(crate) interleave: bool,
    /// Where it runs [default: lab where the machine permits it, else simulate; local where no access point is described]
    #[arg(long, value_enum, value_name = "ENVIRONMENT")]
    pub(crate) on: Option<EnvironmentArg>,
    /// Keep the run in this folder, or in DIR-2 when that is taken [default: runs/TIME-SCENARIO]
    #[arg(long, value_name = "DIR")]
    pub(crate) out: Option<PathBuf>,
    /// How the report is written
    #[arg(long, value_enum, default_value_t, value_name = "FORMAT")]
    pub(crate) format: Format,
    /// Exit with 1 when a goal failed; with `--check=marginal` also when one was only marginally met
    #[arg(long, value_enum, value_name = "FROM", num_args = 0..=1, require_equals = true, default_missing_value = "fail")]
    pub(crate) check: Option<Check>,
    /// Don't ask before moving more than 10 GB over a network
    #[arg(long, short)]
    pub(crate) yes: bool,
    /// How long missing agents are waited for; then it runs without them
    #[arg(long, value_name = "TIME", default_value = "60s", help_heading = "On the fleet")]
    pub(crate) wait: Duration,
    /// The member that serves, one that joined with `--serve` [default: this machine]
    #[arg(long, value_name = "NAME", help_heading = "On the fleet")]
    pub(crate) server: Option<String>,
}

/// Show the resolved plan, the bytes it may move and what it assumes; runs nothing.
#[derive(Debug, Args)]
pub(crate) struct PlanArgs {
    #[command(flatten)]
    pub(crate) changes: Changes,
    /// The environment that it would run on [default: as for `run`]
    #[arg(long, value_enum, value_name = "ENVIRONMENT")]
    pub(crate) on: Option<EnvironmentArg>,
    /// How the plan is written; as JSON it is a scenario with every default filled in
    #[arg(long, value_enum, default_value_t, value_name = "FORMAT")]
    pub(crate) format: Format,
}

/// A scenario, and what is different this time.
#[derive(Debug, Clone, Args)]
pub(crate) struct Changes {
    /// A file, or the name of a built-in scenario
    pub(crate) scenario: String,
    /// What all chance comes from, instead of the scenario's
    #[arg(long, value_name = "N", value_parser = seed, allow_hyphen_values = true)]
    pub(crate) seed: Option<u64>,
    /// How many times it runs, instead of the scenario's
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=10_000))]
    pub(crate) repeat: Option<u32>,
    /// How long the load runs, such as `60s` or `5min`, instead of the scenario's
    #[arg(long, value_name = "TIME", allow_hyphen_values = true)]
    pub(crate) duration: Option<Duration>,
    /// Any key of the scenario, such as `server.link.rate="15 Mbit/s"`; may be given several times
    #[arg(long = "set", value_name = "KEY=VALUE")]
    pub(crate) set: Vec<String>,
}

/// Where a scenario can run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum EnvironmentArg {
    /// Everything modelled, in virtual time
    Simulate,
    /// Kernel TCP through a modelled access point, in real time (Linux)
    Lab,
    /// Real traffic between processes of this machine
    Local,
    /// Real devices, which have joined `netburn fleet serve`
    Fleet,
}

/// A number that all chance comes from.
pub(crate) fn seed(text: &str) -> Result<u64, String> {
    let wrong = |_| format!("a seed is a whole number, 0 to {}", u64::MAX);
    text.parse().map_err(wrong)
}

/// From which verdict on `--check` objects.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Check {
    /// A goal failed
    Fail,
    /// A goal was at best marginally met
    Marginal,
}
