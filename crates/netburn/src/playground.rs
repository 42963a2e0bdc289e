//! `netburn playground`.

use crate::args::PlaygroundArgs;
use crate::exit::{CliError, ExitStatus};
use crate::page::whole;
use crate::plan::wrong;
use crate::terminal::{eprint_message, print_stdout};
use netburn_playground::check;
use netburn_playground_page::page;
use netburn_scenario::ScenarioText;

/// `netburn playground`.
pub(crate) fn playground(args: &PlaygroundArgs) -> Result<ExitStatus, CliError> {
    let text = match &args.scenario {
        None => None,
        Some(name) => {
            let scenario = ScenarioText::read(&name.to_string_lossy()).map_err(wrong)?;
            scenario
                .document()
                .and_then(|document| document.resolve())
                .map_err(wrong)?;
            check(&scenario.text).map_err(|why| CliError::Usage(format!("{}: {why}", name.display())))?;
            Some(scenario.text)
        }
    };
    whole(&args.out, page(text.as_deref()).as_bytes())
        .map_err(|error| CliError::Failed(format!("{}: {error}", args.out.display())))?;
    print_stdout(&format!("{}\n", args.out.display()))?;
    eprint_message("open the file in a browser; it needs no network and sends nothing");
    Ok(ExitStatus::Success)
}
