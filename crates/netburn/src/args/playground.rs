//! `netburn playground`.

use clap::Args;
use std::path::PathBuf;

/// Write a page that simulates a home in a browser
///
/// The page is one file with everything in it, so that it works without a network, and nothing is sent. A person draws
/// rooms, access points and devices, and sees who uses the air, which device fails, why, and what would help. The results
/// are those of `netburn run --on simulate` for the same scenario and seed. `netburn ui` shows the page too.
#[derive(Debug, Args)]
pub(crate) struct PlaygroundArgs {
    /// Scenario file, or name of a built-in scenario, with which the page begins [default: a home with three rooms]
    pub(crate) scenario: Option<PathBuf>,
    /// File of the page, which is replaced if it exists
    #[arg(long, value_name = "FILE", default_value = "playground.html")]
    pub(crate) out: PathBuf,
}
