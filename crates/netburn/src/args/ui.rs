//! `ui`.

use super::serve::Listen;
use clap::Args;
use std::path::PathBuf;

/// Show the runs of a directory in a browser: verdicts, one that is under way, reports, comparisons.
///
/// The address goes to standard output. It is served to this machine alone; with --listen of another address, to whoever has the
/// key, which is the end of the address and new at each start. It serves until it is interrupted.
#[derive(Debug, Args)]
pub(crate) struct UiArgs {
    /// Where the run folders are
    #[arg(default_value = "runs")]
    pub(crate) dir: PathBuf,
    /// Where to listen; port 0 takes a free one [default: 127.0.0.1:4486]
    #[arg(long, value_name = "ADDRESS[:PORT]")]
    pub(crate) listen: Option<Listen>,
    /// Another name of this machine that browsers ask by
    #[arg(long, value_name = "NAME")]
    pub(crate) host: Vec<String>,
}
