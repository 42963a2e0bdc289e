//! `netburn generate`.

use clap::{Args, ValueEnum};
use std::path::PathBuf;

/// Generate man pages, the documentation as a site, or completions
///
/// Packages install these files. The site needs no server: open its index.html. To use completions without a package, add one line to the start file of your shell:
///
///   bash        source <(netburn generate bash)
///   zsh         source <(netburn generate zsh)
///   fish        netburn generate fish | source
///   powershell  netburn generate powershell | Out-String | Invoke-Expression
#[derive(Debug, Args)]
#[command(verbatim_doc_comment)]
pub(crate) struct GenerateArgs {
    /// Kind of the generated files
    #[arg(value_enum, value_name = "WHAT")]
    pub(crate) what: Generated,
    /// Folder for the files, with the names that the shell or man expects: all man pages, or one file. Without it,
    /// standard output gets the page netburn(1) or the completions
    #[arg(long, value_name = "DIR")]
    pub(crate) out: Option<PathBuf>,
}

/// Print the names with which a command line can continue
///
/// The completions of the shells use it.
#[derive(Debug, Args)]
pub(crate) struct CompleteArgs {
    /// Words of the command line up to the cursor
    #[arg(last = true)]
    pub(crate) words: Vec<String>,
}

/// Generated files.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Generated {
    /// Man pages: sections 1 (commands) and 5 (scenario file)
    Man,
    /// The documentation as a site with a search, and the playground; needs --out
    Site,
    /// Completions for bash 4 and newer
    Bash,
    /// Completions for zsh
    Zsh,
    /// Completions for fish
    Fish,
    /// Completions for PowerShell
    Powershell,
}
