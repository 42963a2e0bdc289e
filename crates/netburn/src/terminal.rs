//! Output: data on standard output, everything else on standard error.

use crate::exit::CliError;
use netburn_report::sanitise::{painted_width, wrap};
use std::io::{self, IsTerminal, Write};

/// Text width in columns if neither a terminal nor `COLUMNS` limits it.
const WIDTH: usize = 100;

/// Maximum text width in columns. Longer lines are hard to read.
const WIDEST: usize = 140;

/// Minimum width of a message in columns. A narrower terminal wraps the lines.
const NARROWEST: usize = 40;

/// Format of text for standard output.
#[derive(Debug, Clone, Copy)]
pub(crate) struct TerminalStyle {
    /// Width in columns.
    pub(crate) width: usize,
    /// Use of colours.
    pub(crate) colour: bool,
}

impl TerminalStyle {
    /// Returns the style for standard output. A pipe usually ends at a pager or a filter in the terminal of standard error,
    /// so that the text has the width of that terminal.
    pub(crate) fn for_stdout() -> Self {
        let terminal = if io::stdout().is_terminal() {
            netburn_report::columns_of_stdout()
        } else if stdout_is_pipe() {
            netburn_report::columns_of_stderr()
        } else {
            None
        };
        TerminalStyle {
            width: width(std::env::var("COLUMNS").ok().as_deref(), terminal),
            colour: io::stdout().is_terminal() && colour_wanted(),
        }
    }
}

/// Text width in columns. The variable `COLUMNS` has priority over the size of the terminal, as in POSIX ("Environment
/// Variables", 8.3). Without a terminal, standard output may be a file: its text does not depend on a window.
fn width(variable: Option<&str>, terminal: Option<usize>) -> usize {
    let variable = variable
        .and_then(|text| text.parse().ok())
        .filter(|columns| *columns > 0);
    variable
        .or(terminal)
        .map_or(WIDTH, |columns| columns.clamp(NARROWEST, WIDEST))
}

/// Returns whether standard output is a pipe.
#[cfg(unix)]
fn stdout_is_pipe() -> bool {
    use std::os::fd::AsFd;
    use std::os::unix::fs::FileTypeExt;
    let file = io::stdout().as_fd().try_clone_to_owned().map(std::fs::File::from);
    let metadata = file.and_then(|file| file.metadata());
    metadata.is_ok_and(|metadata| metadata.file_type().is_fifo())
}

/// Returns `false`: the kind of a file is known on Unix only.
#[cfg(not(unix))]
fn stdout_is_pipe() -> bool {
    false
}

/// Returns whether standard error supports colours.
pub(crate) fn stderr_colour() -> bool {
    io::stderr().is_terminal() && colour_wanted()
}

/// Writes data to standard output.
///
/// # Errors
/// [`CliError::BrokenPipe`] when the reader has closed the pipe, [`CliError::Failed`] when it can't be written (a full disk).
pub(crate) fn print_stdout(text: &str) -> Result<(), CliError> {
    let mut out = io::stdout().lock();
    out.write_all(text.as_bytes())
        .and_then(|()| out.flush())
        .map_err(unwritten)
}

/// Converts an error of a write to standard output.
pub(crate) fn unwritten(error: io::Error) -> CliError {
    match error.kind() {
        io::ErrorKind::BrokenPipe => CliError::BrokenPipe,
        _ => CliError::Failed(format!("standard output can't be written: {error}")),
    }
}

/// Prints a message to standard error, with lines that fit a terminal. Write errors are ignored.
pub(crate) fn eprint_message(text: &str) {
    let _ = writeln!(io::stderr().lock(), "{}", for_stderr(text));
}

/// Prints a message to standard error. On a terminal it begins a new line, because the current one has progress and `^C`.
pub(crate) fn eprint_below(text: &str) {
    if stderr_is_terminal() {
        eprint_message("");
    }
    eprint_message(text);
}

/// Prints a question to standard error. The answer follows in the same line. Write errors are ignored.
pub(crate) fn eprint_question(text: &str) {
    let mut out = io::stderr().lock();
    let _ = write!(out, "{} ", for_stderr(text)).and_then(|()| out.flush());
}

/// A message for standard error: lines that fit the terminal, if it is one.
pub(crate) fn for_stderr(text: &str) -> String {
    fitted(text, stderr_columns())
}

/// Width of messages on standard error in columns; `None` if it is no terminal.
pub(crate) fn stderr_columns() -> Option<usize> {
    netburn_report::columns_of_stderr().map(|columns| columns.clamp(NARROWEST, WIDEST))
}

/// A message of one line as lines of `columns`. A message of several lines has a format of its own and stays as it is.
fn fitted(text: &str, columns: Option<usize>) -> String {
    match columns {
        Some(columns) if !text.contains('\n') && painted_width(text) > columns => wrap(text, columns, "  ").join("\n"),
        _ => text.to_owned(),
    }
}

/// Returns whether standard error is a terminal.
pub(crate) fn stderr_is_terminal() -> bool {
    io::stderr().is_terminal()
}

/// Overwrites the current line, whose length is `shown`. An empty text clears it.
pub(crate) fn overwrite_line(line: &str, shown: &mut usize) {
    if line.is_empty() && *shown == 0 {
        return;
    }
    let blank = " ".repeat(shown.saturating_sub(line.len()));
    let end = if line.is_empty() { "\r" } else { "" };
    let _ = write!(io::stderr().lock(), "\r{line}{blank}{end}");
    *shown = line.len();
}

/// `NO_COLOR` (no-color.org) with any value, or a terminal of type `dumb`, disables colours.
fn colour_wanted() -> bool {
    std::env::var_os("NO_COLOR").is_none_or(|v| v.is_empty()) && std::env::var_os("TERM").is_some_and(|t| t != "dumb")
}

/// An indented JSON document.
pub(crate) fn document(of: &(impl serde::Serialize + ?Sized)) -> String {
    let mut text = serde_json::to_string_pretty(of).expect("our documents have string keys only");
    text.push('\n');
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_message_fits_the_terminal() {
        let message = "the run may send up to 18.8 GB at 10 Gbit/s, because the scenario sets no limit";
        assert_eq!(fitted(message, None), message);
        assert_eq!(fitted(message, Some(79)), message);
        assert_eq!(
            fitted(message, Some(40)),
            "the run may send up to 18.8 GB at\n  10 Gbit/s, because the scenario sets\n  no limit"
        );
    }

    #[test]
    fn the_width_is_that_of_the_variable_then_of_the_terminal() {
        assert_eq!(width(None, None), 100);
        assert_eq!(width(None, Some(80)), 80);
        assert_eq!(width(Some("60"), Some(80)), 60);
        assert_eq!(width(Some("60"), None), 60);
        // Invalid values, and widths at which nothing is readable.
        assert_eq!(width(Some(""), Some(80)), 80);
        assert_eq!(width(Some("0"), None), 100);
        assert_eq!(width(Some("7"), None), NARROWEST);
        assert_eq!(width(Some("1000"), None), WIDEST);
    }

    #[test]
    fn a_message_of_several_lines_keeps_its_format() {
        let message = "error: unknown key\n  |\n3 | workloads = 1    # a long line of the file\n  | ^^^^^^^^^";
        assert_eq!(fitted(message, Some(20)), message);
    }
}
