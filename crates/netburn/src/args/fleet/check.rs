//! `fleet check`.

use crate::args::Format;
use clap::Args;
use std::path::PathBuf;

/// Time each phase of a login over SSH, and say what makes it slow.
///
/// It logs in by the system's `ssh`, with a key and without a question, runs `echo`, and runs it again over a connection that is
/// there. Where something takes long it names the likely cause and what helps. On the other machine it only reads.
#[derive(Debug, Args)]
pub(crate) struct CheckArgs {
    /// The machines, as `ssh` is told of them
    #[arg(required = true, value_name = "USER@HOST")]
    pub(crate) hosts: Vec<String>,
    /// Have `ssh` read this configuration instead of its own
    #[arg(long, value_name = "FILE")]
    pub(crate) ssh_config: Option<PathBuf>,
    /// How the result is written
    #[arg(long, value_enum, default_value_t, value_name = "FORMAT")]
    pub(crate) format: Format,
}
