//! `netburn verify`.

use super::Format;
use super::run::seed;
use clap::{Args, value_parser};
use std::path::PathBuf;

/// Compare the predicted effect of a change with a second measurement
///
/// Measure your network, change it, and measure it again with the same devices. netburn fits models to the first measurement,
/// or uses those of its last fit. It makes the change in each of them, and simulates the second measurement. Each measured
/// value should be inside its 90 % interval, which contains the uncertainty of the models. If fewer than 80 % of the values
/// are, the change did something else than the models predicted, or the network changed in another way.
///
/// Without `--set` the prediction is that nothing changed.
///
/// With `--out`, netburn then fits models to both measurements together: to the first one, and to the second one with the
/// change. It writes the network without the change to this file, as `netburn fit` does. Add the change with `--set` to
/// simulate the network as it is now.
///
/// If no model explains the first measurement, or with `--out` both, the exit status is 3.
#[derive(Debug, Args)]
pub(crate) struct VerifyArgs {
    /// Folder of the measurement before the change
    pub(crate) before: PathBuf,
    /// Folder of the measurement after the change
    pub(crate) after: PathBuf,
    /// Key and value of the change, as `netburn explain` prints them; repeatable
    #[arg(long = "set", value_name = "KEY=VALUE")]
    pub(crate) set: Vec<String>,
    /// File for the model of both measurements; this takes up to two minutes
    #[arg(long, value_name = "FILE")]
    pub(crate) out: Option<PathBuf>,
    /// Random seed of the fit [default: that of the stored fit, or else 1]
    #[arg(long, value_name = "N", value_parser = seed)]
    pub(crate) seed: Option<u64>,
    /// Number of processors [default: all]
    #[arg(long, value_name = "N", value_parser = value_parser!(u16).range(1..=1024))]
    pub(crate) jobs: Option<u16>,
    /// Format of the result
    #[arg(long, value_enum, default_value_t, value_name = "FORMAT")]
    pub(crate) format: Format,
}
