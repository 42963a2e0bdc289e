//! `netburn scenarios`: the built-in scenarios.

use crate::args::{ScenariosArgs, ScenariosCommand};
use crate::exit::{CliError, ExitStatus};
use crate::plan::wrong;
use crate::terminal::{TerminalStyle, print_stdout};
use netburn_report::sanitise::wrap;
use netburn_scenario::{built_in_scenario, built_in_scenarios, load};

/// `netburn scenarios [show NAME]`.
pub(crate) fn scenarios(args: &ScenariosArgs) -> Result<ExitStatus, CliError> {
    let text = match &args.command {
        None => list(TerminalStyle::for_stdout().width)?,
        Some(ScenariosCommand::Show { name }) => built_in_scenario(name).map_err(wrong)?.1.to_owned(),
    };
    print_stdout(&text)?;
    Ok(ExitStatus::Success)
}

/// Names with their questions, and how to use them.
fn list(width: usize) -> Result<String, CliError> {
    let names = built_in_scenarios().iter().map(|(name, _)| *name);
    let column = names.clone().map(str::len).max().unwrap_or(0) + 2;
    let mut text = String::new();
    for name in names {
        let plan = load(name).and_then(|document| document.resolve()).map_err(wrong)?;
        let question = plan.question.unwrap_or_default();
        for (place, line) in wrap(&question, width.saturating_sub(column), "").iter().enumerate() {
            let name = if place == 0 { name } else { "" };
            text.push_str(&format!("{name:column$}{line}\n"));
        }
    }
    text.push_str(
        "\nRun one:    netburn run four-uses\nChange one: netburn scenarios show four-uses > home.toml, then netburn run home.toml\n",
    );
    Ok(text)
}
