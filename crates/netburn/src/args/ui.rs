//! `netburn ui`.

use super::serve::Listen;
use clap::Args;
use std::path::PathBuf;

/// Show runs, live views and comparisons in a browser
///
/// Standard output shows the address. By default only this machine can open it. With --listen on another address, every
/// browser with the key can open it. The key is the end of the address; each start creates a new one. The server runs
/// until it is interrupted.
#[derive(Debug, Args)]
pub(crate) struct UiArgs {
    /// Folder that contains the runs
    #[arg(default_value = "runs")]
    pub(crate) dir: PathBuf,
    /// Address to listen on; port 0 selects a free port [default: 127.0.0.1:4486]
    #[arg(long, value_name = "ADDRESS[:PORT]")]
    pub(crate) listen: Option<Listen>,
    /// Another name of this machine for which netburn accepts requests; repeatable
    #[arg(long, value_name = "NAME")]
    pub(crate) host: Vec<String>,
}
