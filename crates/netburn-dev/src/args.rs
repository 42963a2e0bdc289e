//! Typed command line arguments.

use clap::{Args, Parser, Subcommand, ValueEnum, value_parser};
use std::net::SocketAddr;
use std::ops::RangeInclusive;
use std::path::PathBuf;

/// Compare netburn's models with publications and with other programs
#[derive(Debug, Parser)]
#[command(name = "netburn-dev", version, max_term_width = 100)]
pub(crate) struct Cli {
    #[command(subcommand)]
    pub(crate) command: Command,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    Validate(ValidateArgs),
    Crosscheck(Box<CrosscheckArgs>),
    Speed(SpeedArgs),
    Twin(TwinArgs),
    Sqm(SqmArgs),
    #[command(hide = true)]
    Flow(FlowArgs),
    /// Create the namespaces of a lab and the processes in them
    #[command(hide = true)]
    LabInit,
    /// Run the agent of a station in a lab
    #[command(hide = true)]
    Agent,
    /// Run the server of a lab
    #[command(hide = true)]
    Serve {
        /// Take part in the run of the environment variable
        #[arg(long, required = true)]
        join: bool,
    },
}

/// Check the models against published values
///
/// Each case has a published or hand-computed value, its source and a tolerance. netburn-dev prints which cases the
/// models meet. Without files it runs the built-in cases. The page "Validation cases" of the documentation describes the format of your own files.
#[derive(Debug, Args)]
#[command(after_help = "Exit status:
  0  all values are within their tolerances, or differ as the case explains
  1  a value is out of tolerance
  2  a file of cases is invalid")]
pub(crate) struct ValidateArgs {
    /// Files of cases, or names of built-in ones (durations, saturation, …)
    #[arg(value_name = "CASES")]
    pub(crate) cases: Vec<PathBuf>,
    /// Show all cases, not only those out of tolerance
    #[arg(long)]
    pub(crate) all: bool,
    /// Number of processors [default: all]
    #[arg(long, value_name = "N", value_parser = value_parser!(u16).range(1..=1024))]
    pub(crate) jobs: Option<u16>,
    /// Format of the result
    #[arg(long, value_enum, default_value_t, value_name = "FORMAT")]
    pub(crate) format: Format,
}

/// Compare the models with an independent program
///
/// ns-3: random plans run in ns-3 and in the simulator. The results are stored in a file, so an interrupted comparison
/// can continue.
///
/// lab: fixed scenarios run in the simulator and in the lab, with this machine's TCP.
///
/// kernel: one TCP connection runs in the simulator and in the lab, over a grid of rate, round-trip time, loss, buffer
/// size and congestion control.
///
/// The page "Comparison with independent programs" of the documentation describes the settings, the tolerances and the
/// limits.
#[derive(Debug, Args)]
#[command(after_help = "Exit status:
  0  all values agree within their tolerances, or differ for a known reason
  1  a value differs
  2  the input is invalid, or the other program is not installed
  3  a value could not be measured")]
pub(crate) struct CrosscheckArgs {
    /// Program to compare with
    #[arg(long, value_enum, value_name = "PROGRAM")]
    pub(crate) against: Against,
    /// lab, kernel: prefixes of the names of cases [default: all cases]
    #[arg(value_name = "CASES")]
    pub(crate) cases: Vec<String>,
    /// lab, kernel: run short cases only, a few seconds each
    #[arg(long)]
    pub(crate) quick: bool,
    /// Number of runs in the lab [default: set by each case; 3 for a plan of ns-3]
    #[arg(long, value_name = "N", value_parser = value_parser!(u32).range(1..=100))]
    pub(crate) repeat: Option<u32>,
    /// Accept values from a busy machine; for use with real-time priority (`chrt -r 5 netburn-dev crosscheck …`)
    #[arg(long)]
    pub(crate) busy: bool,
    /// ns-3: numbers of the plans, as FIRST..LAST (both included)
    #[arg(long, value_name = "RANGE", default_value = "1..500", value_parser = range)]
    pub(crate) plans: RangeInclusive<u64>,
    /// ns-3, kernel: file of the results, one line of JSON for each plan or grid point [default:
    /// validation/crosscheck/PROGRAM.jsonl]
    #[arg(long, value_name = "FILE")]
    pub(crate) results: Option<PathBuf>,
    /// ns-3: compare the stored results only; start no program
    #[arg(long)]
    pub(crate) stored: bool,
    /// ns-3: simulate the stored plans again
    #[arg(long)]
    pub(crate) resimulate: bool,
    /// ns-3: also run the stored TCP plans that differ in the lab, with this machine's TCP
    #[arg(long)]
    pub(crate) in_lab: bool,
    /// ns-3: Python with the package ns3 [default: ~/.cache/netburn-ns3/bin/python, else python3]
    #[arg(long, value_name = "PROGRAM")]
    pub(crate) python: Option<PathBuf>,
    /// ns-3: number of plans that run in parallel [default: number of processors]
    #[arg(long, value_name = "N", value_parser = value_parser!(u16).range(1..=1024))]
    pub(crate) jobs: Option<u16>,
    /// Format of the result
    #[arg(long, value_enum, default_value_t, value_name = "FORMAT")]
    pub(crate) format: Format,
}

/// Compare the processor time of the simulator with that of ns-3
///
/// Runs the same networks in both, in turn on one processor, and prints the fastest run of each.
#[derive(Debug, Args)]
pub(crate) struct SpeedArgs {
    /// Networks, as in the output [default: all]
    #[arg(value_name = "NAMES")]
    pub(crate) names: Vec<String>,
    /// Number of runs of ns-3 for each network. netburn runs five times beside each.
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = value_parser!(u32).range(1..=20))]
    pub(crate) rounds: u32,
    /// Python with the package ns3 [default: ~/.cache/netburn-ns3/bin/python, else python3]
    #[arg(long, value_name = "PROGRAM")]
    pub(crate) python: Option<PathBuf>,
}

/// Check fitted models and their predictions with networks whose truth is known
///
/// Random houses are measured as a fleet would do it. Models are fitted to the measurement. Ten changes of the house are
/// predicted, and compared with the house that has them. The results are stored in a file, so an interrupted check can
/// continue. The page "How good is a fitted model?" has the results.
#[derive(Debug, Args)]
pub(crate) struct TwinArgs {
    /// Numbers of the houses, as FIRST..LAST (both included)
    #[arg(long, value_name = "RANGE", default_value = "1..20", value_parser = range)]
    pub(crate) houses: RangeInclusive<u64>,
    /// Most stations of a house
    #[arg(long, value_name = "N", default_value_t = 4, value_parser = value_parser!(u8).range(2..=6))]
    pub(crate) stations: u8,
    /// Measure the houses, and the changed ones, in the lab: with this machine's TCP, and in real time
    #[arg(long)]
    pub(crate) lab: bool,
    /// Houses with further properties: two bands, a slow adapter, power save, SQM, a mesh hop
    #[arg(long)]
    pub(crate) varied: bool,
    /// Check the fitted parameters only, without predictions
    #[arg(long)]
    pub(crate) fits: bool,
    /// Run the houses in the lab only, without fits; --runs keeps the runs
    #[arg(long, requires = "lab", requires = "runs")]
    pub(crate) record: bool,
    /// Folder in which the runs of the lab are kept, and read again
    #[arg(long, value_name = "FOLDER", requires = "lab")]
    pub(crate) runs: Option<PathBuf>,
    /// File of the results, one line of JSON for each house [default: validation/twin/simulate.jsonl or lab.jsonl]
    #[arg(long, value_name = "FILE")]
    pub(crate) results: Option<PathBuf>,
    /// Count the stored results only
    #[arg(long)]
    pub(crate) stored: bool,
    /// Number of processors [default: all]
    #[arg(long, value_name = "N", value_parser = value_parser!(u16).range(1..=1024))]
    pub(crate) jobs: Option<u16>,
}

/// Check `netburn sqm` with lines whose truth is known
///
/// Prints the rate that is recommended for each line and direction, as a share of the best one. The best one is the rate of the
/// slowest hop. On a line that varies, it is the highest rate of CAKE in a sweep of the simulator with which the 95th percentile of
/// the added delay is at most 30 ms.
#[derive(Debug, Args)]
pub(crate) struct SqmArgs {
    /// Names of the lines, as in the output [default: all]
    #[arg(value_name = "LINE")]
    pub(crate) lines: Vec<String>,
    /// Measure in the lab: with this machine's TCP, and in real time, one to two minutes for each line
    #[arg(long)]
    pub(crate) lab: bool,
    /// Also print the report of each line to standard error
    #[arg(long)]
    pub(crate) text: bool,
}

/// Program with which the models are compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Against {
    /// ns-3, from its Python package
    #[value(name = "ns-3")]
    Ns3,
    /// The lab, with fixed scenarios
    Lab,
    /// This machine's kernel, with one TCP connection over a grid
    Kernel,
}

/// Format of the result.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, ValueEnum)]
pub(crate) enum Format {
    /// Human-readable text
    #[default]
    Text,
    /// Tables of all values, in Markdown
    Markdown,
}

fn range(text: &str) -> Result<RangeInclusive<u64>, String> {
    let wrong = || format!("found `{text}`, expected FIRST..LAST, such as 1..500");
    let (first, last) = text.split_once("..").ok_or_else(wrong)?;
    let (first, last) = (first.parse().map_err(|_| wrong())?, last.parse().map_err(|_| wrong())?);
    if (1..=last).contains(&first) && last <= 1_000_000 {
        Ok(first..=last)
    } else {
        Err(format!("found `{text}`, expected one or more plans from 1 to 1000000"))
    }
}

/// One endpoint of a UDP flow in a lab
#[derive(Debug, Args)]
pub(crate) struct FlowArgs {
    #[command(subcommand)]
    pub(crate) end: FlowEnd,
}

/// Endpoint of a UDP flow.
#[derive(Debug, Subcommand)]
pub(crate) enum FlowEnd {
    /// Send datagrams at a constant rate
    Send {
        /// Destination
        to: SocketAddr,
        /// Datagrams per second
        rate: u64,
        /// Duration in ms
        milliseconds: u64,
    },
    /// Count the bytes that arrive after the warmup, and print them
    Receive {
        /// UDP port
        port: u16,
        /// Warmup after the first datagram, in ms
        warmup: u64,
        /// Duration of the measurement after the warmup, in ms
        milliseconds: u64,
    },
}
