//! Standard output for data, standard error for the rest.

use crate::exit::CliError;
use std::io::{self, IsTerminal, Write};

/// The width of text where there is no terminal to ask.
const WIDTH: usize = 100;

/// The widest text: longer lines are hard to read.
const WIDEST: usize = 140;

/// How text for standard output should look.
#[derive(Debug, Clone, Copy)]
pub(crate) struct TerminalStyle {
    /// Columns.
    pub(crate) width: usize,
    /// Whether it is coloured.
    pub(crate) colour: bool,
}

impl TerminalStyle {
    /// For standard output as it is: as wide as the terminal, coloured where that is wanted.
    pub(crate) fn for_stdout() -> Self {
        if io::stdout().is_terminal() {
            TerminalStyle {
                width: columns().unwrap_or(WIDTH).min(WIDEST),
                colour: colour_wanted(),
            }
        } else {
            TerminalStyle {
                width: WIDTH,
                colour: false,
            }
        }
    }
}

/// Whether standard error takes colours.
pub(crate) fn stderr_colour() -> bool {
    io::stderr().is_terminal() && colour_wanted()
}

/// Writes data to standard output.
///
/// # Errors
/// [`CliError::BrokenPipe`] when nobody reads it any more, [`CliError::Failed`] when it can't be written (a full disk).
pub(crate) fn print_stdout(text: &str) -> Result<(), CliError> {
    let mut out = io::stdout().lock();
    out.write_all(text.as_bytes())
        .and_then(|()| out.flush())
        .map_err(unwritten)
}

/// What a write to standard output that failed means.
pub(crate) fn unwritten(error: io::Error) -> CliError {
    match error.kind() {
        io::ErrorKind::BrokenPipe => CliError::BrokenPipe,
        _ => CliError::Failed(format!("standard output can't be written: {error}")),
    }
}

/// Says something on standard error, as a line of its own. That nobody reads it stops nothing.
pub(crate) fn eprint_message(text: &str) {
    let _ = writeln!(io::stderr().lock(), "{text}");
}

/// Whether somebody may be looking at standard error.
pub(crate) fn stderr_is_terminal() -> bool {
    io::stderr().is_terminal()
}

/// Writes a line over the one before, whose length `shown` is; with nothing, takes it away.
pub(crate) fn overwrite_line(line: &str, shown: &mut usize) {
    if line.is_empty() && *shown == 0 {
        return;
    }
    let blank = " ".repeat(shown.saturating_sub(line.len()));
    let end = if line.is_empty() { "\r" } else { "" };
    let _ = write!(io::stderr().lock(), "\r{line}{blank}{end}");
    *shown = line.len();
}

/// `NO_COLOR` (no-color.org), when set to anything, and a terminal that calls itself dumb want none.
fn colour_wanted() -> bool {
    std::env::var_os("NO_COLOR").is_none_or(|v| v.is_empty()) && std::env::var_os("TERM").is_some_and(|t| t != "dumb")
}

fn columns() -> Option<usize> {
    netburn_report::columns_of_stdout()
}
