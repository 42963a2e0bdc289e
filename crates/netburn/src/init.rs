//! `netburn init`: questions about a home, and its scenario.

use crate::args::InitArgs;
use crate::exit::{CliError, ExitStatus};
use crate::terminal::{eprint_message, print_stdout};
use netburn_scenario::ScenarioText;
use std::fs::OpenOptions;
use std::io::{IsTerminal, Write as _};

/// `netburn init`.
pub(crate) fn init(args: &InitArgs) -> Result<ExitStatus, CliError> {
    let unwritten = |error: std::io::Error| CliError::Usage(format!("{}: {error}", args.file.display()));
    if args.file.try_exists().map_err(unwritten)? {
        let message = format!(
            "{} exists, and netburn does not replace it\nhelp: give the name of another file",
            args.file.display()
        );
        return Err(CliError::Usage(message));
    }
    let stdin = std::io::stdin();
    let asks_again = stdin.is_terminal();
    let house =
        netburn_guide::ask(&mut stdin.lock(), asks_again, &mut |text| eprint_message(text)).map_err(CliError::Usage)?;
    let scenario = ScenarioText {
        name: args.file.display().to_string(),
        text: house.scenario(),
        directory: None,
    };
    let mut file = OpenOptions::new()
        .write(true)
        .create_new(true)
        .open(&args.file)
        .map_err(unwritten)?;
    file.write_all(scenario.text.as_bytes()).map_err(unwritten)?;
    // Units of a mesh kit can be too far from each other. The file is there, so that the answers are not lost.
    scenario
        .document()
        .and_then(|document| document.resolve())
        .map_err(crate::plan::wrong)?;
    let name = args.file.display();
    print_stdout(&format!("{name}\n"))?;
    eprint_message(&format!(
        "simulate it:           netburn run {name} --on simulate\ndraw and change it:    netburn playground {name}\n\
         find what would help:  netburn explain {name}"
    ));
    Ok(ExitStatus::Success)
}
