//! `netburn run` and `netburn plan`.

use super::Format;
use super::observed::Observed;
use clap::{Args, ValueEnum};
use netburn_units::Duration;
use std::path::PathBuf;

/// Run a scenario and report verdicts and likely causes
///
/// Runs on lab, local and fleet measure idle latency first and then start all stations together. Standard output gets
/// the report, standard error the live view, and a folder the record. The first Ctrl-C ends the run early and saves the
/// rows so far; a second one aborts.
#[derive(Debug, Args)]
pub(crate) struct RunArgs {
    #[command(flatten)]
    pub(crate) changes: Changes,
    /// Further scenarios, with --interleave
    #[arg(value_name = "OTHERS", requires = "interleave")]
    pub(crate) others: Vec<String>,
    /// Alternate between the scenarios in random order (from the seed) to cancel out drift, and compare the others with
    /// the first
    #[arg(long)]
    pub(crate) interleave: bool,
    /// Environment [default: lab if the machine supports it, else simulate; local if the scenario has no access point]
    #[arg(long, value_enum, value_name = "ENVIRONMENT")]
    pub(crate) on: Option<EnvironmentArg>,
    /// Folder for the record, or DIR-2 if it exists [default: runs/TIME-SCENARIO]
    #[arg(long, value_name = "DIR")]
    pub(crate) out: Option<PathBuf>,
    /// Format of the report
    #[arg(long, value_enum, default_value_t, value_name = "FORMAT")]
    pub(crate) format: Format,
    /// Exit status 1 if a goal failed; with `--check=marginal`, also if one was only marginally met
    #[arg(long, value_enum, value_name = "VERDICT", num_args = 0..=1, require_equals = true, default_missing_value = "fail")]
    pub(crate) check: Option<Check>,
    /// Don't ask before more than 10 GB are sent over a network
    #[arg(long, short)]
    pub(crate) yes: bool,
    /// Time to wait for missing agents; then the run starts without them
    #[arg(long, value_name = "TIME", default_value = "60s", help_heading = "On the fleet")]
    pub(crate) wait: Duration,
    /// Member that is the server; it must have joined with `--serve` [default: this machine]
    #[arg(long, value_name = "NAME", help_heading = "On the fleet")]
    pub(crate) server: Option<String>,
    #[command(flatten)]
    pub(crate) observed: Observed,
}

/// Show the resolved plan, its volume and its assumptions
///
/// Nothing runs.
#[derive(Debug, Args)]
pub(crate) struct PlanArgs {
    #[command(flatten)]
    pub(crate) changes: Changes,
    /// Environment of the plan [default: lab; local if the scenario has no access point]
    #[arg(long, value_enum, value_name = "ENVIRONMENT")]
    pub(crate) on: Option<EnvironmentArg>,
    /// Format of the plan; JSON is a scenario with all defaults filled in
    #[arg(long, value_enum, default_value_t, value_name = "FORMAT")]
    pub(crate) format: Format,
    /// Also draw the floor plan to this file: walls, access points, stations, their paths, and coverage
    #[arg(long, value_name = "FILE")]
    pub(crate) svg: Option<PathBuf>,
    /// Band of the coverage in the floor plan [default: the highest band that has radios]
    #[arg(long, value_enum, value_name = "BAND", requires = "svg")]
    pub(crate) band: Option<BandArg>,
}

/// Band of a radio, by its name in a scenario.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum BandArg {
    /// 2.4 GHz
    #[value(name = "2g")]
    Ghz2_4,
    /// 5 GHz
    #[value(name = "5g")]
    Ghz5,
    /// 6 GHz
    #[value(name = "6g")]
    Ghz6,
}

/// Scenario and its changes.
#[derive(Debug, Clone, Args)]
pub(crate) struct Changes {
    /// Scenario file, name of a built-in scenario, or folder of a run, whose scenario is repeated
    pub(crate) scenario: String,
    /// Random seed [default: from the scenario]
    #[arg(long, value_name = "N", value_parser = seed, allow_hyphen_values = true)]
    pub(crate) seed: Option<u64>,
    /// Number of runs [default: from the scenario]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=10_000))]
    pub(crate) repeat: Option<u32>,
    /// Duration of the load, such as `60s` or `5min` [default: from the scenario]
    #[arg(long, value_name = "TIME", allow_hyphen_values = true)]
    pub(crate) duration: Option<Duration>,
    /// Value of a key of the scenario, such as `server.link.rate="15 Mbit/s"`; repeatable
    #[arg(long = "set", value_name = "KEY=VALUE")]
    pub(crate) set: Vec<String>,
}

/// Environment in which a plan can run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum EnvironmentArg {
    /// Modelled Wi-Fi and TCP, in simulated time
    Simulate,
    /// Programs and kernel TCP around a modelled access point, in real time (Linux)
    Lab,
    /// Programs and kernel TCP on the loopback device, without Wi-Fi
    Local,
    /// Real devices that have joined `netburn fleet serve`, on a real network
    Fleet,
}

/// Parses a random seed.
pub(crate) fn seed(text: &str) -> Result<u64, String> {
    let invalid = |_| {
        format!(
            "invalid seed: found `{text}`, expected a whole number from 0 to {}",
            u64::MAX
        )
    };
    text.parse().map_err(invalid)
}

/// Verdict from which `--check` reports a failure.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Check {
    /// A goal failed
    Fail,
    /// A goal failed or was only marginally met
    Marginal,
}
