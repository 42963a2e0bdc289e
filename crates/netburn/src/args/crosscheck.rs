//! `netburn crosscheck`, and the hidden command that its flows of datagrams use.

use clap::{Args, Subcommand, ValueEnum, value_parser};
use std::net::SocketAddr;
use std::ops::RangeInclusive;
use std::path::PathBuf;

/// Compare the models with an independent program.
///
/// With ns-3: random plans run in ns-3 and in the simulator. Results are kept in a file, so a run that was stopped continues. With lab:
/// fixed scenarios run in the simulator and in the lab, over this machine's TCP. With kernel: one TCP connection over a grid of rate, round
/// trip, loss, buffer and congestion control, in the simulator and in the lab. docs/CROSSCHECK.md describes what is compared, how
/// closely, and what is not; docs/results/crosscheck.md has the outcome.
#[derive(Debug, Args)]
#[command(after_help = "Exit status:
  0  every value agrees within its tolerance, or differs for a known reason
  1  one or more do not
  2  the input is wrong, or the other program is not installed
  3  something could not be measured")]
pub(crate) struct CrosscheckArgs {
    /// Program to compare with
    #[arg(long, value_enum, value_name = "PROGRAM")]
    pub(crate) against: Against,
    /// lab, kernel: cases whose names begin with this [default: all]
    #[arg(value_name = "CASES")]
    pub(crate) cases: Vec<String>,
    /// lab, kernel: only cases of a few seconds
    #[arg(long)]
    pub(crate) quick: bool,
    /// Runs in the lab [default: each case has its own number; of a plan for ns-3: 3]
    #[arg(long, value_name = "N", value_parser = value_parser!(u32).range(1..=100))]
    pub(crate) repeat: Option<u32>,
    /// Accept values of the lab from a busy machine, for a run in a real-time class (`chrt -r 5 netburn crosscheck …`)
    #[arg(long)]
    pub(crate) busy: bool,
    /// ns-3: numbers of the plans, as FIRST..LAST
    #[arg(long, value_name = "RANGE", default_value = "1..500", value_parser = range)]
    pub(crate) plans: RangeInclusive<u64>,
    /// ns-3, kernel: file with the results, one line of JSON for each plan or point [default: validation/crosscheck/PROGRAM.jsonl]
    #[arg(long, value_name = "FILE")]
    pub(crate) results: Option<PathBuf>,
    /// ns-3: only compare the stored results; start no program
    #[arg(long)]
    pub(crate) stored: bool,
    /// ns-3: run the stored plans in the simulator again
    #[arg(long)]
    pub(crate) resimulate: bool,
    /// ns-3: run stored plans over TCP that differ in the lab as well, with this machine's TCP
    #[arg(long)]
    pub(crate) in_lab: bool,
    /// ns-3: Python with the package ns3 [default: ~/.cache/netburn-ns3/bin/python, else python3]
    #[arg(long, value_name = "PROGRAM")]
    pub(crate) python: Option<PathBuf>,
    /// ns-3: plans that run at once [default: processors]
    #[arg(long, value_name = "N", value_parser = value_parser!(u16).range(1..=1024))]
    pub(crate) jobs: Option<u16>,
    /// Format of the result
    #[arg(long, value_enum, default_value_t, value_name = "FORMAT")]
    pub(crate) format: CrosscheckFormat,
}

/// What the models are compared with.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Against {
    /// ns-3, from its Python package
    #[value(name = "ns-3")]
    Ns3,
    /// The lab: fixed scenarios
    Lab,
    /// This machine's kernel: one TCP connection over a grid
    Kernel,
}

/// Format of the result.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, ValueEnum)]
pub(crate) enum CrosscheckFormat {
    /// For people
    #[default]
    Text,
    /// For scripts
    Json,
    /// The tables of docs/results/crosscheck.md or docs/CONFORMANCE.md
    Markdown,
}

fn range(text: &str) -> Result<RangeInclusive<u64>, String> {
    let wrong = || format!("found `{text}`, expected FIRST..LAST, such as 1..500");
    let (first, last) = text.split_once("..").ok_or_else(wrong)?;
    let (first, last) = (first.parse().map_err(|_| wrong())?, last.parse().map_err(|_| wrong())?);
    match (1..=last).contains(&first) && last <= 1_000_000 {
        true => Ok(first..=last),
        false => Err("expected 1 or more plans of 1 to 1000000".to_owned()),
    }
}

/// One end of a flow of datagrams inside a lab.
#[derive(Debug, Args)]
pub(crate) struct FlowArgs {
    #[command(subcommand)]
    pub(crate) end: FlowEnd,
}

/// Which one.
#[derive(Debug, Subcommand)]
pub(crate) enum FlowEnd {
    /// Send so many datagrams a second, for so many milliseconds
    Send {
        /// To whom
        to: SocketAddr,
        /// How many a second
        rate: u64,
        /// For how long
        milliseconds: u64,
    },
    /// Count what comes at a port from the warm-up's end on, and print it
    Receive {
        /// The port
        port: u16,
        /// From the first datagram on
        warmup: u64,
        /// How long is counted
        milliseconds: u64,
    },
}
