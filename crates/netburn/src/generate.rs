//! `netburn generate`: man pages and completions, from the same definitions as the help texts.

use crate::args::{Cli, GenerateArgs, Generated};
use crate::exit::{CliError, ExitStatus};
use crate::terminal::print_stdout;
use clap::{Command, CommandFactory as _};
use clap_complete::Shell;
use clap_mangen::Man;
use std::io;
use std::path::Path;

/// `netburn generate WHAT`.
pub(crate) fn generate(args: &GenerateArgs) -> Result<ExitStatus, CliError> {
    let mut command = visible(&Cli::command());
    match (shell(args.what), &args.out) {
        (None, None) => {
            // The command `help` has no page.
            let page = Man::new(command.disable_help_subcommand(true));
            print_stdout(&text(|buffer| page.render(buffer))?)?;
        }
        (None, Some(folder)) => write_pages(command, folder).map_err(|error| unwritten(folder, &error))?,
        (Some(shell), None) => print_stdout(&text(|buffer| {
            clap_complete::generate(shell, &mut command, NAME, buffer);
            Ok(())
        })?)?,
        (Some(shell), Some(folder)) => {
            let file = std::fs::create_dir_all(folder)
                .and_then(|()| clap_complete::generate_to(shell, &mut command, NAME, folder));
            file.map(drop).map_err(|error| unwritten(folder, &error))?;
        }
    }
    Ok(ExitStatus::Success)
}

const NAME: &str = "netburn";

/// The shell whose completions are generated; none for man pages.
const fn shell(what: Generated) -> Option<Shell> {
    match what {
        Generated::Man => None,
        Generated::Bash => Some(Shell::Bash),
        Generated::Zsh => Some(Shell::Zsh),
        Generated::Fish => Some(Shell::Fish),
        Generated::Powershell => Some(Shell::PowerShell),
    }
}

/// The command without its hidden subcommands: they are for netburn itself.
fn visible(command: &Command) -> Command {
    let mut kept = Command::new(NAME)
        .version(env!("CARGO_PKG_VERSION"))
        .args(command.get_arguments().filter(|arg| !arg.is_hide_set()));
    if let Some(text) = command.get_about() {
        kept = kept.about(text.clone());
    }
    if let Some(text) = command.get_long_about() {
        kept = kept.long_about(text.clone());
    }
    if let Some(text) = command.get_after_help() {
        kept = kept.after_help(text.clone());
    }
    kept.subcommand_required(true).subcommands(
        command
            .get_subcommands()
            .filter(|subcommand| !subcommand.is_hide_set())
            .cloned(),
    )
}

/// Writes a page for each command: `netburn.1`, `netburn-run.1`, …
fn write_pages(command: Command, folder: &Path) -> io::Result<()> {
    std::fs::create_dir_all(folder)?;
    clap_mangen::generate_to(command, folder)
}

fn text(write: impl FnOnce(&mut Vec<u8>) -> io::Result<()>) -> Result<String, CliError> {
    let mut buffer = Vec::new();
    write(&mut buffer).map_err(|error| CliError::Failed(error.to_string()))?;
    String::from_utf8(buffer).map_err(|error| CliError::Failed(error.to_string()))
}

fn unwritten(folder: &Path, error: &io::Error) -> CliError {
    CliError::Failed(format!("{}: {error}", folder.display()))
}
