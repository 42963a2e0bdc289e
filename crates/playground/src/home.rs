//! A scenario as the page shows it.

use crate::limits::{MAX_TEXT, exceeded};
use netburn_analysis::floor_plan::{Floor, FloorPlan};
use netburn_medium::coverage::Reception;
use netburn_network::PlannedNetwork;
use netburn_scenario::plan::RadioRef;
use netburn_scenario::{Document, Environment, Plan, Problem, ScenarioError};
use netburn_units::Instant;
use serde::Serialize;
use serde_json::{Value, json};

/// Name of a scenario without one.
pub(crate) const HOME: &str = "home";

/// A scenario that can be simulated.
#[derive(Debug)]
pub(crate) struct Home {
    /// The scenario, as written.
    pub(crate) scenario: Value,
    /// The scenario as a file.
    pub(crate) text: String,
    /// Its plan.
    pub(crate) plan: Plan,
    /// Notes on keys without effect.
    pub(crate) notes: Vec<String>,
}

/// A mistake in a scenario.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub(crate) struct Mistake {
    /// Path of the key; empty if the mistake concerns none.
    pub(crate) key: String,
    /// Description.
    pub(crate) message: String,
    /// Correction.
    pub(crate) help: Option<String>,
    /// Line from 1, of a text.
    pub(crate) line: Option<usize>,
}

impl Mistake {
    fn new(key: &str, message: String) -> Self {
        Mistake {
            key: key.to_owned(),
            message,
            help: None,
            line: None,
        }
    }
}

impl From<&Problem> for Mistake {
    fn from(problem: &Problem) -> Self {
        Mistake {
            key: problem.path.clone(),
            message: problem.message.clone(),
            help: problem.help.clone(),
            line: problem.line,
        }
    }
}

fn mistakes(error: &ScenarioError) -> Vec<Mistake> {
    error.problems().iter().map(Mistake::from).collect()
}

/// Tests whether the playground can simulate the scenario in `text`.
///
/// # Errors
/// All mistakes, in one text.
pub fn check(text: &str) -> Result<(), String> {
    let Err(mistakes) = Home::from_text(HOME, text) else {
        return Ok(());
    };
    let line = |mistake: &Mistake| match mistake.key.as_str() {
        "" => mistake.message.clone(),
        key => format!("{key}: {}", mistake.message),
    };
    Err(mistakes.iter().map(line).collect::<Vec<_>>().join("; "))
}

impl Home {
    /// Reads a scenario from TOML.
    pub(crate) fn from_text(name: &str, text: &str) -> Result<Self, Vec<Mistake>> {
        if text.len() > MAX_TEXT {
            let message = format!("{} bytes; the playground opens at most {MAX_TEXT}", text.len());
            return Err(vec![Mistake::new("", message)]);
        }
        let document = Document::from_toml(name, text).map_err(|error| mistakes(&error))?;
        let (plan, notes) = resolved(&document)?;
        Ok(Home {
            scenario: document.to_json(),
            text: text.to_owned(),
            plan,
            notes,
        })
    }

    /// Reads a scenario from JSON, as the page edits it.
    pub(crate) fn from_json(scenario: Value) -> Result<Self, Vec<Mistake>> {
        // The text is what a person would save, so its mistakes are those of the file.
        let text = text(&scenario).map_err(|message| vec![Mistake::new("", message)])?;
        let home = Home::from_text(HOME, &text)?;
        Ok(Home { scenario, ..home })
    }

    /// The home for display.
    pub(crate) fn shown(&self) -> Value {
        let network = PlannedNetwork::new(&self.plan).ok();
        let radio = |station: usize| network.as_ref()?.associations.radios.get(station)?.as_ref();
        let signal = |station: usize| network.as_ref()?.associations.signals.get(station)?.as_ref();
        let stations: Vec<Value> = (self.plan.stations.iter().enumerate())
            .map(|(number, station)| {
                json!({
                    "name": station.name,
                    "radio": radio(number).map(RadioRef::to_string),
                    "signal_dbm": signal(number).map(|signal| signal.as_dbm_f64()),
                    "wired": station.link.is_some(),
                    "workloads": station.workloads.iter().map(|workload| workload.name.clone()).collect::<Vec<_>>(),
                })
            })
            .collect();
        json!({
            "scenario": self.scenario,
            "text": self.text,
            "title": self.plan.title,
            "question": self.plan.question,
            "duration_s": self.plan.duration.as_secs_f64(),
            "stations": stations,
            "radios": network.iter().flat_map(|network| &network.radios).map(|(radio, _)| radio.to_string()).collect::<Vec<_>>(),
            "building": FloorPlan::new(&self.plan, None).ok().map(|floor| building(&floor)),
            "notes": self.notes,
        })
    }
}

/// Resolves a document for the simulator, within the limits of the page.
fn resolved(document: &Document) -> Result<(Plan, Vec<String>), Vec<Mistake>> {
    let (plan, notes) = document
        .resolve_for(Environment::Simulate)
        .map_err(|error| mistakes(&error))?;
    if let Some((key, message)) = exceeded(&plan) {
        return Err(vec![Mistake::new(key, message)]);
    }
    netburn_simulate::check(&plan).map_err(|error| vec![Mistake::new("", error.to_string())])?;
    Ok((plan, notes))
}

/// A scenario in JSON as TOML.
fn text(scenario: &Value) -> Result<String, String> {
    toml::to_string_pretty(scenario).map_err(|error| error.to_string())
}

/// The building with its coverage. Lengths are in metres, from the south-western corner of the plan's coordinates.
fn building(floor: &FloorPlan) -> Value {
    let metres = |mm: i64| mm as f64 / 1_000.0;
    let level = |one: &Floor| {
        let signal = |at: &Reception| at.dbm.round();
        json!({
            "number": one.number,
            "coverage_dbm": one.coverage.iter().map(signal).collect::<Vec<_>>(),
        })
    };
    json!({
        "south_west_m": [metres(floor.south_west.0), metres(floor.south_west.1)],
        "north_east_m": [metres(floor.north_east.0), metres(floor.north_east.1)],
        "cell_m": metres(floor.cell),
        "columns": floor.columns,
        "rows": floor.rows,
        "band": floor.band.name(),
        "floors": floor.floors.iter().map(level).collect::<Vec<_>>(),
        "stations": floor.stations.iter().map(|one| one.at(Instant::ZERO).map(|at| json!({ "name": one.name, "at": at.to_string() }))).collect::<Vec<_>>(),
    })
}
