//! `serve`.

use clap::Args;

/// Serve the traffic that stations ask for.
#[derive(Debug, Args)]
pub(crate) struct ServeArgs {
    /// Serve one run, for the controller that started this
    #[arg(long, hide = true)]
    pub(crate) join: bool,
}
