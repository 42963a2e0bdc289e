//! From a scenario's name to a resolved plan: `plan` and `schema`, and the beginning of `run`.

use crate::args::{Changes, Format, PlanArgs, SchemaArgs, SchemaOf};
use crate::exit::{Ended, Stop};
use crate::record::document;
use crate::terminal::{Look, data, stderr_colour};
use netburn_report::plain::{sanitise, wrap};
use netburn_scenario::{Ground, Plan, ScenarioError};

/// `netburn plan SCENARIO`.
pub(crate) fn plan(args: &PlanArgs) -> Result<Ended, Stop> {
    let (plan, _) = resolved(&args.changes)?;
    let text = match args.format {
        Format::Json => document(&plan.to_json()),
        Format::Text => described(&plan, Look::of_stdout().width),
    };
    data(&text)?;
    Ok(Ended::Ran)
}

/// The plan in words.
fn described(plan: &Plan, width: usize) -> String {
    let mut text = "Nothing was run. On local, this would be:\n\n".to_owned();
    for line in plan.describe(Ground::Local) {
        let line = sanitise(&line);
        let indent = &line[..line.len() - line.trim_start().len()];
        for wrapped in wrap(&line, width, &format!("{indent}  ")) {
            text.push_str(&format!("{wrapped}\n"));
        }
    }
    text
}

/// `netburn schema`.
pub(crate) fn schema(args: &SchemaArgs) -> Result<Ended, Stop> {
    let schema = match args.of {
        SchemaOf::Scenario => document(&netburn_scenario::json_schema()),
        SchemaOf::Protocol => document(&netburn_fleet::protocol::schema()),
    };
    data(&schema)?;
    Ok(Ended::Ran)
}

/// The plan of a scenario with these changes, for `local`, and what `local` takes no notice of.
pub(crate) fn resolved(changes: &Changes) -> Result<(Plan, Vec<String>), Stop> {
    let mut document = netburn_scenario::load(&changes.scenario).map_err(wrong)?;
    for set in &changes.set {
        let (key, value) = set.split_once('=').ok_or_else(|| {
            Stop::Wrong(format!(
                "--set {set}: write it as KEY=VALUE, such as server.link.rate=\"15 Mbit/s\""
            ))
        })?;
        document.set(key.trim(), value).map_err(wrong)?;
    }
    let options = [
        ("duration", changes.duration.map(|d| format!("\"{d}\""))),
        ("seed", changes.seed.map(|n| n.to_string())),
        ("repeat", changes.repeat.map(|n| n.to_string())),
    ];
    for (key, value) in options {
        if let Some(value) = value {
            document.set(key, &value).map_err(wrong)?;
        }
    }
    document.resolve_for(Ground::Local).map_err(wrong)
}

fn wrong(error: ScenarioError) -> Stop {
    Stop::Wrong(error.render(stderr_colour()))
}
