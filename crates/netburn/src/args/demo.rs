//! `netburn demo`.

use super::EnvironmentArg;
use super::run::seed;
use clap::{Args, ValueEnum};
use std::path::PathBuf;

/// Show a slow network, its cause, and the change that helps most
///
/// A distant tablet downloads while a laptop browses at the same access point. netburn shows which station misses its
/// goals and why, simulates changes that could help, and runs the scenario again with the best one. At most a minute of
/// load, all of it within this machine. The result is printed, and saved as the page demo.html.
#[derive(Debug, Args)]
pub(crate) struct DemoArgs {
    /// Environment [default: lab if the machine supports it, else simulate]
    #[arg(long, value_enum, value_name = "ENVIRONMENT")]
    pub(crate) on: Option<DemoEnvironment>,
    /// Folder for the page and the records, or DIR-2 if it exists [default: runs/TIME-demo]
    #[arg(long, value_name = "DIR")]
    pub(crate) out: Option<PathBuf>,
    /// Random seed [default: 1]
    #[arg(long, value_name = "N", value_parser = seed, allow_hyphen_values = true)]
    pub(crate) seed: Option<u64>,
}

/// Environment of the demonstration: one that models the access point.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum DemoEnvironment {
    /// Programs and kernel TCP around a modelled access point, in real time (Linux)
    Lab,
    /// Modelled Wi-Fi and TCP, in simulated time
    Simulate,
}

impl From<DemoEnvironment> for EnvironmentArg {
    fn from(environment: DemoEnvironment) -> Self {
        match environment {
            DemoEnvironment::Lab => EnvironmentArg::Lab,
            DemoEnvironment::Simulate => EnvironmentArg::Simulate,
        }
    }
}
