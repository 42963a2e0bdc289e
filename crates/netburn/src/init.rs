//! `netburn init`: questions about a home, and its scenario.

use crate::args::InitArgs;
use crate::exit::{CliError, ExitStatus};
use crate::terminal::{eprint_message, print_stdout};
use netburn_scenario::ScenarioText;
use std::fs::OpenOptions;
use std::io::{ErrorKind, IsTerminal, Write as _};

/// `netburn init`.
pub(crate) fn init(args: &InitArgs) -> Result<ExitStatus, CliError> {
    let unwritten = |error: std::io::Error| CliError::Usage(format!("{}: {error}", args.file.display()));
    // The file is created before the questions, so that no answer is lost to a folder that is missing or may not be written.
    let file = OpenOptions::new().write(true).create_new(true).open(&args.file);
    let mut file = file.map_err(|error| match error.kind() {
        ErrorKind::AlreadyExists => CliError::Usage(format!(
            "{} exists, and netburn does not replace it\nhelp: give the name of another file",
            args.file.display()
        )),
        _ => unwritten(error),
    })?;
    let stdin = std::io::stdin();
    let asks_again = stdin.is_terminal();
    let house = netburn_guide::ask(&mut stdin.lock(), asks_again, &mut |text| eprint_message(text)).map_err(|why| {
        // An empty file is no home. The error of the answers matters more than that of its removal.
        let _ = std::fs::remove_file(&args.file);
        CliError::Usage(why)
    })?;
    let scenario = ScenarioText {
        name: args.file.display().to_string(),
        text: house.scenario(),
        directory: None,
    };
    file.write_all(scenario.text.as_bytes()).map_err(unwritten)?;
    // Units of a mesh kit can be too far from each other. The file is there, so that the answers are not lost.
    scenario
        .document()
        .and_then(|document| document.resolve())
        .map_err(crate::plan::wrong)?;
    let name = args.file.display();
    print_stdout(&format!("{name}\n"))?;
    let word = quoted(&name.to_string());
    eprint_message(&format!(
        "simulate it, and what would help:  netburn run {word} --on simulate\ndraw and change it:                netburn playground {word}"
    ));
    Ok(ExitStatus::Success)
}

/// A word of a POSIX shell: in quotes if it has other characters than usual names of files.
fn quoted(text: &str) -> String {
    let is_plain = |char: char| char.is_ascii_alphanumeric() || "-_./".contains(char);
    if text.chars().all(is_plain) {
        text.to_owned()
    } else {
        format!("'{}'", text.replace('\'', "'\\''"))
    }
}
