//! Options of the commands that measure a server without a scenario.

use super::Format;
use clap::Args;

/// Options of `netburn fetch` and `netburn rpm`.
#[derive(Debug, Args)]
pub(crate) struct MeasurementArgs {
    /// Accept invalid TLS certificates
    #[arg(short = 'k', long)]
    pub(crate) insecure: bool,
    /// Random seed
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub(crate) seed: u64,
    /// Format of the result
    #[arg(long, value_enum, default_value_t, value_name = "FORMAT")]
    pub(crate) format: Format,
    /// Don't ask for confirmation
    #[arg(long, short)]
    pub(crate) yes: bool,
}
