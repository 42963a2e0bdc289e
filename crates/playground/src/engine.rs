//! Requests of the page.

use crate::air::transmissions;
use crate::home::{HOME, Home, Mistake};
use netburn_analysis::View;
use netburn_parallel::Cancel;
use netburn_record::Run;
use netburn_scenario::{Plan, built_in_scenario, built_in_scenarios};
use netburn_simulate::in_memory;
use netburn_study::causes::{Simulator, plan_of, simulated};
use netburn_study::whatif::{Answers, Change, answer, best, json as explained, propose, repeated};
use netburn_units::{Duration, Instant, Seed};
use serde::Deserialize;
use serde_json::{Value, json};

/// Number of simulations of each change, which [`explain`](Request::Explain) compares: the default of `netburn explain`.
const RUNS: usize = 8;

/// Receives the number of simulations done, and of all of them; 0 if that is unknown.
pub type Progress<'a> = &'a (dyn Fn(u64, u64) + Sync);

/// A request.
#[derive(Debug, Deserialize)]
#[serde(tag = "do", rename_all = "kebab-case", deny_unknown_fields)]
enum Request {
    /// The built-in scenarios.
    BuiltIn,
    /// A built-in scenario.
    Open { name: String },
    /// A scenario in TOML.
    Read { text: String },
    /// The answers to the questions about a home, each in a line.
    Describe { answers: String },
    /// A scenario that the page edited.
    Edit { scenario: Value },
    /// A run, with its verdict and the causes by rules.
    Run { scenario: Value, seed: Option<u64> },
    /// Causes and remedies by simulation.
    Explain {
        scenario: Value,
        seed: Option<u64>,
        runs: Option<usize>,
    },
    /// Transmissions in a part of a run.
    Air {
        scenario: Value,
        seed: Option<u64>,
        from_ms: f64,
        length_ms: f64,
    },
}

/// Handles a request in JSON. Returns `{ "ok": … }`, `{ "mistakes": [{ key, message, help, line }] }` for an invalid scenario,
/// or `{ "error": "…" }`. Calls `progress` during simulations.
#[must_use]
pub fn call(request: &str, progress: Progress<'_>) -> String {
    let reply = match serde_json::from_str(request) {
        Ok(request) => handle(request, progress),
        Err(error) => Err(Failure::Error(format!("unreadable request: {error}"))),
    };
    let reply = match reply {
        Ok(value) => json!({ "ok": value }),
        Err(Failure::Mistakes(mistakes)) => json!({ "mistakes": mistakes }),
        Err(Failure::Error(error)) => json!({ "error": error }),
    };
    reply.to_string()
}

/// Reason for a reply without a result.
enum Failure {
    Mistakes(Vec<Mistake>),
    Error(String),
}

impl From<Vec<Mistake>> for Failure {
    fn from(mistakes: Vec<Mistake>) -> Self {
        Failure::Mistakes(mistakes)
    }
}

fn failed(error: impl std::fmt::Display) -> Failure {
    Failure::Error(error.to_string())
}

fn handle(request: Request, progress: Progress<'_>) -> Result<Value, Failure> {
    match request {
        Request::BuiltIn => Ok(built_in()),
        Request::Open { name } => {
            let (name, text) = built_in_scenario(&name).map_err(|error| failed(error.render(false)))?;
            Ok(Home::from_text(name, text)?.shown())
        }
        Request::Read { text } => Ok(Home::from_text(HOME, &text)?.shown()),
        Request::Describe { answers } => {
            let mut lines = answers.as_bytes();
            let house = netburn_guide::ask(&mut lines, false, &mut |_| ()).map_err(Failure::Error)?;
            Ok(Home::from_text(HOME, &house.scenario())?.shown())
        }
        Request::Edit { scenario } => Ok(Home::from_json(scenario)?.shown()),
        Request::Run { scenario, seed } => run(&planned(scenario, seed)?),
        Request::Explain { scenario, seed, runs } => explain(&planned(scenario, seed)?, runs, progress),
        Request::Air {
            scenario,
            seed,
            from_ms,
            length_ms,
        } => {
            let nanos = |ms: f64| (ms * 1e6) as i64;
            let from = Instant::from_nanos(nanos(from_ms));
            let length = Duration::from_nanos(nanos(length_ms.clamp(0.0, 1_000.0)).unsigned_abs());
            let sent = transmissions(&planned(scenario, seed)?, from, length).map_err(failed)?;
            Ok(json!({ "transmissions": sent }))
        }
    }
}

fn planned(scenario: Value, seed: Option<u64>) -> Result<Plan, Failure> {
    let mut plan = Home::from_json(scenario)?.plan;
    if let Some(seed) = seed {
        plan.seed = Seed(seed);
    }
    Ok(plan)
}

fn built_in() -> Value {
    let entry = |(name, text): &(&str, &str)| {
        let home = Home::from_text(name, text).ok()?;
        Some(json!({ "name": name, "title": home.plan.title, "question": home.plan.question }))
    };
    built_in_scenarios().iter().filter_map(entry).collect()
}

fn run(plan: &Plan) -> Result<Value, Failure> {
    let run = in_memory(plan).map_err(failed)?;
    let view = View::from_run(&run);
    Ok(json!({ "summary": run.summary(), "view": view }))
}

/// Causes by simulation, merged with those of the rules, and the effect of each remedy.
fn explain(plan: &Plan, runs: Option<usize>, progress: Progress<'_>) -> Result<Value, Failure> {
    let run: Run = in_memory(plan).map_err(failed)?;
    let rules = View::from_run(&run).explanation;
    let cancel = Cancel::default();
    let counted = |done: u64| progress(done, 0);
    let explanation = match plan_of(&run) {
        Some(plan) => simulated(&run, &plan, &rules, &Simulator::new(1, &cancel, &counted)).0,
        None => rules,
    };
    let proposal = propose(plan, run.summary(), &explanation.causes, None).map_err(failed)?;
    let answers: Option<Answers> = match &proposal.plan {
        Some(plan) => {
            let changes = proposal.changes.what_ifs.iter().cloned().map(Change::from).collect();
            let plans = repeated(plan, runs.unwrap_or(RUNS).clamp(1, 20));
            Some(answer(&plans, changes, 1, &cancel, progress).map_err(failed)?)
        }
        None => None,
    };
    let mut reply = explained(HOME, &explanation, &proposal.changes, answers.as_ref());
    reply["best"] = answers
        .as_ref()
        .and_then(best)
        .map(|answer| answer.what_if.label.clone())
        .into();
    reply["baseline"] = answers.map_or(Value::Null, |answers| json!(answers.baseline));
    Ok(reply)
}
