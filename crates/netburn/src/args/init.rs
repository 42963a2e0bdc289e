//! `netburn init`.

use clap::Args;
use std::path::PathBuf;

/// Ask about your home, and write its scenario
///
/// The questions need no measurement: the rating on the box, the internet line, the rooms, and what each device does. The
/// file has comments, so that you can correct it later. Answers can also come from a pipe, one in each line. `netburn
/// playground FILE` draws the home, and `netburn run FILE --on simulate` simulates it.
#[derive(Debug, Args)]
pub(crate) struct InitArgs {
    /// New file
    #[arg(default_value = "home.toml")]
    pub(crate) file: PathBuf,
}
