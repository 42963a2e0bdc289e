//! `netburn ui`.

use super::serve::Listen;
use clap::Args;
use std::path::PathBuf;

/// Open a page that tests your network, simulates homes and shows runs
///
/// Standard output shows the address, and at a terminal of a desktop the browser opens it. Only a browser with the key can
/// use the page. The key is the end of the address; each start creates a new one. By default only this machine can open it.
/// Other devices can join a measurement only after you let them on the page. The server runs until it is interrupted.
/// `netburn` without arguments at a terminal is the same.
#[derive(Debug, Args)]
pub(crate) struct UiArgs {
    /// Folder that contains the runs
    #[arg(default_value = "runs")]
    pub(crate) dir: PathBuf,
    /// Address to listen on; port 0 selects a free port [default: 127.0.0.1:4486]
    #[arg(long, value_name = "ADDRESS[:PORT]")]
    pub(crate) listen: Option<Listen>,
    /// Address at which devices join a measurement, after you let them; repeatable [default: all addresses, port 4484]
    #[arg(long, value_name = "ADDRESS[:PORT]")]
    pub(crate) join_listen: Vec<Listen>,
    /// Another name of this machine for which netburn accepts requests; repeatable
    #[arg(long, value_name = "NAME")]
    pub(crate) host: Vec<String>,
    /// Open no browser
    #[arg(long)]
    pub(crate) no_browser: bool,
}

impl Default for UiArgs {
    /// The arguments of `netburn` without any.
    fn default() -> Self {
        UiArgs {
            dir: "runs".into(),
            listen: None,
            join_listen: Vec::new(),
            host: Vec::new(),
            no_browser: false,
        }
    }
}
