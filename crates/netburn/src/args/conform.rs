//! `conform`, for whoever changes the models or the lab.

use clap::{Args, Subcommand, ValueEnum, value_parser};
use std::net::SocketAddr;

/// Hold the lab and the simulator against each other.
///
/// Each case runs on both grounds: the same scenario, modelled TCP here, this machine's kernel there. What the lab's gate doubts is
/// run again, and then said to be inconclusive. The lab runs in real time: all cases take some 40 minutes. docs/CONFORMANCE.md
/// explains what is compared, how closely, and what differs.
#[derive(Debug, Args)]
#[command(after_help = "Exit status:
  0  every figure agrees within its tolerance, or differs for a reason that is known
  1  one or more don't
  3  something could not be measured")]
pub(crate) struct ConformArgs {
    /// Cases whose names begin so [default: all]
    #[arg(value_name = "CASES")]
    pub(crate) cases: Vec<String>,
    /// Only those that take a few seconds
    #[arg(long)]
    pub(crate) quick: bool,
    /// Runs of every case on each ground, instead of its own number
    #[arg(long, value_name = "N", value_parser = value_parser!(u32).range(1..=100))]
    pub(crate) repeat: Option<u32>,
    /// Believe figures of a busy machine: for when all of this runs in a real-time class (`chrt -r 5 netburn conform`)
    #[arg(long)]
    pub(crate) busy: bool,
    /// How the result is written
    #[arg(long, value_enum, default_value_t, value_name = "FORMAT")]
    pub(crate) format: ConformFormat,
}

/// How the result is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, ValueEnum)]
pub(crate) enum ConformFormat {
    /// For people
    #[default]
    Text,
    /// For scripts
    Json,
    /// The tables of docs/CONFORMANCE.md
    Markdown,
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
