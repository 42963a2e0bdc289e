//! `netburn scenarios`: the built-in scenarios.

use crate::args::{ScenariosArgs, ScenariosCommand};
use crate::exit::{CliError, ExitStatus};
use crate::plan::wrong;
use crate::terminal::{TerminalStyle, eprint_message, print_stdout};
use netburn_fit::Schedule;
use netburn_report::sanitise::wrap;
use netburn_scenario::{ScenarioText, built_in_scenario, built_in_scenarios, load};
use netburn_units::{BitRate, ByteSize};
use std::path::Path;

/// `netburn scenarios [show NAME | measure STATION…]`.
pub(crate) fn scenarios(args: &ScenariosArgs) -> Result<ExitStatus, CliError> {
    let text = match &args.command {
        None => list(TerminalStyle::for_stdout().width)?,
        Some(ScenariosCommand::Show { name }) => built_in_scenario(name).map_err(wrong)?.1.to_owned(),
        Some(ScenariosCommand::Measure { stations, house }) => measurement(stations, house.as_deref())?,
    };
    print_stdout(&text)?;
    Ok(ExitStatus::Success)
}

/// A scenario that measures stations for a fit, or those of a house.
fn measurement(stations: &[String], house: Option<&Path>) -> Result<String, CliError> {
    let (text, schedule, directory) = match house {
        None => {
            let schedule = Schedule::measure(stations);
            (schedule.scenario(), schedule, None)
        }
        Some(name) => {
            let house = ScenarioText::read(&name.to_string_lossy()).map_err(wrong)?;
            let plan = house
                .document()
                .and_then(|document| document.resolve())
                .map_err(wrong)?;
            let names: Vec<String> = plan.stations.into_iter().map(|station| station.name).collect();
            let schedule = Schedule::measure(&names);
            let text = schedule
                .in_scenario(&house.text)
                .map_err(|error| CliError::Usage(format!("{}: {error}", name.display())))?;
            (text, schedule, house.directory)
        }
    };
    // Finds invalid names, names used twice, and houses in which some keys depend on the replaced workloads.
    let measure = ScenarioText {
        name: "measure.toml".to_owned(),
        text,
        directory,
    };
    let plan = measure
        .document()
        .and_then(|document| document.resolve())
        .map_err(wrong)?;
    Schedule::of_plan(&plan).map_err(|error| CliError::Usage(error.to_string()))?;
    let (rate, none) = (BitRate::from_mbps(100), BitRate::from_bps(0));
    eprint_message(&format!(
        "it takes {}; for each 100 Mbit/s of the line it transfers at most {} down and {} up",
        plan.settled() + plan.baseline,
        megabytes(schedule.max_bytes(rate, none)),
        megabytes(schedule.max_bytes(none, rate))
    ));
    Ok(measure.text)
}

fn megabytes(size: ByteSize) -> String {
    format!("{} MB", size.as_bytes().div_ceil(1_000_000))
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
