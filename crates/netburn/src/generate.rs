//! `netburn generate`: man pages and completions, from the same definitions as the help texts.

mod complete;
mod man;

pub(crate) use complete::complete;

use crate::args::{Cli, GenerateArgs, Generated};
use crate::exit::{CliError, ExitStatus};
use crate::terminal::print_stdout;
use clap::{Command, CommandFactory as _};
use clap_complete::{Generator as _, Shell};
use netburn_record::UnixTime;
use std::io;
use std::path::Path;

/// `netburn generate WHAT`.
pub(crate) fn generate(args: &GenerateArgs) -> Result<ExitStatus, CliError> {
    if args.what == Generated::Site {
        let help = "help: name its folder with --out";
        let folder = args
            .out
            .as_deref()
            .ok_or_else(|| CliError::Usage(format!("the site has many files\n{help}")))?;
        return site(folder)
            .map_err(|error| unwritten(folder, &error))
            .map(|()| ExitStatus::Success);
    }
    let mut command = visible(&Cli::command());
    match (shell(args.what), &args.out) {
        (None, None) => {
            let pages = man::pages(command, &date());
            print_stdout(pages.first().map_or("", |page| &page.text))?;
        }
        (None, Some(folder)) => write_pages(command, folder).map_err(|error| unwritten(folder, &error))?,
        (Some(shell), None) => print_stdout(&text(|buffer| {
            completions(shell, &mut command, buffer);
            Ok(())
        })?)?,
        (Some(shell), Some(folder)) => {
            let mut script = Vec::new();
            completions(shell, &mut command, &mut script);
            let path = folder.join(shell.file_name(NAME));
            let written = std::fs::create_dir_all(folder).and_then(|()| std::fs::write(path, script));
            written.map_err(|error| unwritten(folder, &error))?;
        }
    }
    Ok(ExitStatus::Success)
}

/// Writes the completions: those of options and values by clap, and those of names.
fn completions(shell: Shell, command: &mut Command, buffer: &mut Vec<u8>) {
    let mut script = Vec::new();
    clap_complete::generate(shell, command, NAME, &mut script);
    if shell == Shell::Zsh {
        // The function of names must be defined before clap's script calls its own. An argument without a kind has names.
        let text = String::from_utf8_lossy(&script).replace(":_default'", ":_netburn_names'");
        let (head, rest) = text.split_once('\n').unwrap_or((&text, ""));
        script = format!("{head}\n{}{rest}", complete::script(shell)).into_bytes();
        buffer.extend(script);
    } else {
        buffer.extend(script);
        buffer.extend(complete::script(shell).as_bytes());
    }
}

/// Date of the pages: that of SOURCE_DATE_EPOCH (reproducible-builds.org), or today.
fn date() -> String {
    let epoch = std::env::var("SOURCE_DATE_EPOCH")
        .ok()
        .and_then(|text| text.parse::<i64>().ok());
    let time = epoch
        .and_then(|seconds| seconds.checked_mul(1_000_000_000))
        .map_or_else(UnixTime::now, UnixTime);
    let text = time.rfc3339();
    text.split_once('T')
        .map_or_else(String::new, |(date, _)| date.to_owned())
}

const NAME: &str = "netburn";

/// Writes the documentation, and the playground beside it.
fn site(folder: &Path) -> io::Result<()> {
    let write = |path: &str, bytes: &[u8]| {
        let path = folder.join(path);
        path.parent().map_or(Ok(()), std::fs::create_dir_all)?;
        std::fs::write(path, bytes)
    };
    for path in netburn_handbook::paths() {
        let file = netburn_handbook::file(&path).ok_or(io::ErrorKind::NotFound)?;
        write(&path, &file.bytes)?;
    }
    write(
        netburn_handbook::PLAYGROUND,
        netburn_playground_page::page(None).as_bytes(),
    )
}

/// The shell whose completions are generated; none for man pages and the site.
const fn shell(what: Generated) -> Option<Shell> {
    match what {
        Generated::Man | Generated::Site => None,
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

/// Writes a page for each command and for the scenario file: `netburn.1`, `netburn-run.1`, …, `netburn-scenario.5`.
fn write_pages(command: Command, folder: &Path) -> io::Result<()> {
    std::fs::create_dir_all(folder)?;
    let pages = man::pages(command, &date());
    pages
        .iter()
        .try_for_each(|page| std::fs::write(folder.join(&page.file), &page.text))
}

fn text(write: impl FnOnce(&mut Vec<u8>) -> io::Result<()>) -> Result<String, CliError> {
    let mut buffer = Vec::new();
    write(&mut buffer).map_err(|error| CliError::Failed(error.to_string()))?;
    String::from_utf8(buffer).map_err(|error| CliError::Failed(error.to_string()))
}

fn unwritten(folder: &Path, error: &io::Error) -> CliError {
    CliError::Failed(format!("{}: {error}", folder.display()))
}
