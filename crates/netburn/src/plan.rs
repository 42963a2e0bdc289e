//! Resolves a scenario to a plan: `plan`, `schema`, and the first step of `run`.

use crate::args::{BandArg, Changes, EnvironmentArg, Format, PlanArgs, SchemaArgs, SchemaName};
use crate::exit::{CliError, ExitStatus};
use crate::lab_opening;
use crate::page;
use crate::program::program;
use crate::terminal::{TerminalStyle, document, eprint_message, print_stdout, stderr_colour};
use netburn_analysis::floor_plan::{FloorPlan, NoFloorPlan};
use netburn_medium::config::Band;
use netburn_network::{Network, NetworkError, PlannedNetwork};
use netburn_report::chart::Theme;
use netburn_report::floor_plan::{Drawing, svg};
use netburn_report::sanitise::{sanitise, wrap};
use netburn_runner::{Cancel, Choice, Event, OpenLab, Reason, RunControl, choose, preferred};
use netburn_scenario::{Document, Environment, Plan, ScenarioError};
use std::path::Path;

/// `netburn plan SCENARIO`.
pub(crate) fn plan(args: &PlanArgs) -> Result<ExitStatus, CliError> {
    let scenario = changed(&args.changes)?;
    let environment = args.on.map_or_else(|| preferred(&scenario), environment);
    let (plan, notes) = resolved(&scenario, environment)?;
    if let Some(path) = &args.svg {
        draw(&plan, args.band.map(band), path)?;
    }
    let text = match args.format {
        Format::Json => document(&plan.to_json()),
        Format::Text => described(&plan, &notes, environment, TerminalStyle::for_stdout().width),
    };
    print_stdout(&text)?;
    Ok(ExitStatus::Success)
}

/// Draws the floor plan to a file.
fn draw(plan: &Plan, band: Option<Band>, path: &Path) -> Result<(), CliError> {
    let floor_plan = FloorPlan::new(plan, band).map_err(|error| {
        let help = match &error {
            NoFloorPlan::NoPositions => "set `ap.NAME.position`, such as `position = \"2 m, 0 m\"`",
            NoFloorPlan::NoRadio { .. } => "set --band to a band of these radios",
        };
        CliError::Usage(format!("--svg: {error}\nhelp: {help}"))
    })?;
    let drawing = Drawing {
        id: "floor-plan",
        title: plan.title.as_deref().unwrap_or(&plan.name),
        plan: &floor_plan,
        colours: &netburn_report::run_charts::colours_of(plan.stations.iter().map(|station| station.workloads.len())),
        marks: &[],
        misses: &[],
    };
    let failed = |error: std::io::Error| CliError::Failed(format!("{}: {error}", path.display()));
    page::whole(path, svg(&drawing, Theme::File).as_bytes()).map_err(failed)?;
    eprint_message(&format!("written to {}", path.display()));
    Ok(())
}

const fn band(band: BandArg) -> Band {
    match band {
        BandArg::Ghz2_4 => Band::Ghz2_4,
        BandArg::Ghz5 => Band::Ghz5,
        BandArg::Ghz6 => Band::Ghz6,
    }
}

/// The plan as text. `notes` are those of [`resolved`].
fn described(plan: &Plan, notes: &[String], environment: Environment, width: usize) -> String {
    let mut text = format!("Nothing was run. On {environment}, this would be:\n\n");
    // A network that can't be built is reported by a run.
    let network = PlannedNetwork::new(plan).ok().filter(|_| environment.models_air());
    let found = network.map(|network| network.associations).unwrap_or_default();
    // The description has the notes of the plan itself.
    let own = plan.notes_on(environment);
    let of_network = notes.iter().filter(|note| !own.contains(note));
    let of_network = of_network.map(|note| format!("note: {note}"));
    for line in plan.describe_with(environment, &found).into_iter().chain(of_network) {
        let line = sanitise(&line);
        let rest = line.trim_start_matches([' ', '│', '├', '└', '─']);
        let front = &line[..line.len() - rest.len()];
        let indent = front.replace('├', "│").replace(['└', '─'], " ");
        for wrapped in wrap(&line, width, &format!("{indent}  ")) {
            text.push_str(&format!("{wrapped}\n"));
        }
    }
    text
}

/// `netburn schema`.
pub(crate) fn schema(args: &SchemaArgs) -> Result<ExitStatus, CliError> {
    let schema = match args.name {
        SchemaName::Scenario => document(&netburn_scenario::json_schema()),
        SchemaName::Protocol => document(&netburn_protocol::messages::schema()),
    };
    print_stdout(&schema)?;
    Ok(ExitStatus::Success)
}

/// The environment of a run.
pub(crate) struct Chosen {
    pub(crate) environment: Environment,
    /// Reason for the environment if none was requested.
    pub(crate) why: Option<String>,
    /// The lab, if it was opened to check that the machine permits it.
    pub(crate) lab: Option<OpenLab>,
}

impl Chosen {
    /// A requested environment.
    pub(crate) const fn requested(environment: Environment) -> Self {
        Chosen {
            environment,
            why: None,
            lab: None,
        }
    }
}

/// The requested environment. The default is the lab if the machine permits it, else the simulator; local for a scenario without
/// an access point.
pub(crate) fn chosen(document: &Document, on: Option<EnvironmentArg>) -> Result<Chosen, CliError> {
    if let Some(on) = on {
        return Ok(Chosen::requested(environment(on)));
    }
    let observer = |event: Event<'_>| {
        if let Event::OpeningLab(plan) = event {
            lab_opening::announce_opening(plan);
        }
    };
    let control = RunControl::new(Cancel::default(), &observer);
    let Choice {
        environment,
        reason,
        lab,
    } = choose(document, &program()?, &control);
    let why = match reason {
        Reason::NoAccessPoint => {
            Some("no --on, and the scenario describes no access point that could be modelled: running on local".to_owned())
        }
        Reason::LabPermitted => Some(
            "no --on: running in the lab, in real time; --on simulate models this machine's part, too, and takes seconds"
                .to_owned(),
        ),
        Reason::NoLab(error) => Some(format!(
            "no --on: simulating it, since there can be no lab here: {}",
            lab_opening::explained(&error)
        )),
        _ => None,
    };
    Ok(Chosen { environment, why, lab })
}

/// The plan of a scenario for an environment, and notes on keys that the environment ignores.
pub(crate) fn resolved(document: &Document, environment: Environment) -> Result<(Plan, Vec<String>), CliError> {
    let (plan, mut notes) = document.resolve_for(environment).map_err(wrong)?;
    if environment.models_air() {
        let network = Network::<()>::new(&plan).map_err(|error| wrong(located(document, &error)))?;
        notes.extend(network.out_of_range().iter().map(ToString::to_string));
    }
    Ok((plan, notes))
}

/// An error of the network with its place in the file.
fn located(document: &Document, error: &NetworkError) -> ScenarioError {
    let (path, text) = (error.path(), error.to_string());
    let message = text.strip_prefix(&format!("{path}: ")).unwrap_or(&text).to_owned();
    document.error_at(&path, message, None)
}

/// The keys and values of `--set`.
pub(crate) fn key_values(set: &[String]) -> Result<Vec<(&str, &str)>, CliError> {
    let mut pairs = Vec::new();
    for set in set {
        let (key, value) = set.split_once('=').ok_or_else(|| {
            CliError::Usage(format!(
                "--set {set}: write it as KEY=VALUE, such as server.link.rate=\"15 Mbit/s\""
            ))
        })?;
        pairs.push((key.trim(), value));
    }
    Ok(pairs)
}

/// A scenario with these changes, before it is resolved.
pub(crate) fn changed(changes: &Changes) -> Result<Document, CliError> {
    let mut document = netburn_scenario::load(&changes.scenario).map_err(wrong)?;
    for (key, value) in key_values(&changes.set)? {
        document.set(key, value).map_err(wrong)?;
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
    Ok(document)
}

const fn environment(on: EnvironmentArg) -> Environment {
    match on {
        EnvironmentArg::Simulate => Environment::Simulate,
        EnvironmentArg::Local => Environment::Local,
        EnvironmentArg::Lab => Environment::Lab,
        EnvironmentArg::Fleet => Environment::Fleet,
    }
}

/// An invalid scenario or change.
pub(crate) fn wrong(error: ScenarioError) -> CliError {
    CliError::Usage(error.render(stderr_colour()))
}
