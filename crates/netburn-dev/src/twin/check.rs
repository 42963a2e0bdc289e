//! One house: fit, prediction and truth.

use super::{HouseChange, HouseResult, Interval, ParameterResult, Predicted, Remedy, Verdicts, changes};
use netburn_analysis::compare::metrics;
use netburn_fit::home::Parameter;
use netburn_fit::houses::{House, HouseError, shows_discipline};
use netburn_fit::{CannotFit, Fit, Measurement, Settings, SimulationError, fit};
use netburn_record::{Run, Summary};
use netburn_runner::Cancel;
use netburn_runner::pool::map;
use netburn_scenario::{Document, Plan, ScenarioError};
use netburn_simulate::SimulateError;
use netburn_study::causes::{self, Outcome, Simulator};
use netburn_study::twin::{self, Diagnosis, NoDiagnosis, NoModel, PREDICTING_MODELS};
use netburn_study::whatif::{AnswerError, answer, changed, effects, repeated};
use netburn_units::Seed;
use netburn_workload::{Direction, Verdict};
use std::collections::BTreeMap;
use std::ops::ControlFlow;

/// Runs of the house with each change.
const RUNS: usize = 5;
/// Values of a household that are predicted: kind, workload (`None` for any) and quantity.
const VALUES: [(&str, Option<&str>, &str); 3] = [
    ("page load", Some("browsing"), "latency_ms.p50"),
    ("call delay", Some("call"), "latency_ms.p50"),
    ("throughput", None, "throughput_mbps"),
];

/// A house that can't be checked.
#[derive(Debug, thiserror::Error)]
pub enum CheckError {
    /// The measurement shows too little.
    #[error(transparent)]
    Fit(#[from] CannotFit),
    /// The house is invalid.
    #[error(transparent)]
    House(#[from] HouseError),
    /// A model is invalid.
    #[error(transparent)]
    Model(#[from] NoModel),
    /// A model can't be simulated.
    #[error(transparent)]
    Models(#[from] SimulationError),
    /// A scenario is invalid.
    #[error(transparent)]
    Scenario(#[from] ScenarioError),
    /// The simulator rejects a plan.
    #[error(transparent)]
    Simulate(#[from] SimulateError),
    /// The remedies can't be simulated.
    #[error(transparent)]
    Remedies(#[from] AnswerError),
    /// The lab has no result.
    #[error("{0}")]
    Lab(String),
    /// The causes of what the household misses are not known.
    #[error(transparent)]
    Diagnosis(#[from] NoDiagnosis),
}

/// The house under the load of a household, with a change.
///
/// # Errors
/// The change has an invalid key or value.
pub fn load_of(house: &House, change: &[(String, String)]) -> Result<Plan, CheckError> {
    let load = twin::household(&house.names())?;
    let plan = twin::loaded(&load, &Document::from_toml("house", &house.scenario())?)?;
    Ok(changed(&plan, change)?)
}

/// The environment that plays the house.
pub struct Truth<'a> {
    /// Runs a plan once or several times.
    pub run: &'a dyn Fn(&Plan) -> Result<Vec<Summary>, CheckError>,
    /// It runs in real time: then only the changes of [`IN_REAL_TIME`] and the recommended remedy are tried.
    pub is_real_time: bool,
}

/// Extent of the check of a house.
pub enum Extent<'a> {
    /// The fitted parameters only.
    Fit,
    /// Also predictions; the simulator plays the changed house.
    Simulated,
    /// Also predictions; this environment plays the changed house.
    Played(&'a Truth<'a>),
}

/// Changes that are tried in real time.
pub const IN_REAL_TIME: [&str; 3] = ["nothing", "airtime queues", "CAKE on the line"];

/// Fits models to a measurement of the house, and compares them and their predictions with the truth. `threads` threads
/// simulate.
///
/// # Errors
/// The measurement shows too little, or a plan is invalid.
pub fn check(
    house: &House,
    seed: u64,
    run: &Run,
    threads: usize,
    extent: &Extent<'_>,
) -> Result<HouseResult, CheckError> {
    let settings = Settings {
        seed: Seed(seed),
        ..Settings::default()
    };
    let measurement = Measurement::of_run(run, settings.length)?;
    let fitted = fit(&measurement, &settings, &|count, work| map(count, threads, work))?;
    let mut result = HouseResult {
        house: seed,
        stations: house.stations,
        line: house.line,
        discipline: house.discipline.name().to_owned(),
        traits: house.traits.iter().map(|own| format!("{own:?}")).collect(),
        unexplained: fitted.unexplained.iter().take(5).cloned().collect(),
        shows_discipline: shows_discipline(house, &measurement),
        disciplines: fitted
            .models
            .disciplines
            .iter()
            .map(|(kind, own)| (kind.name().to_owned(), *own))
            .collect(),
        found: fitted.models.discipline().map(|kind| kind.name().to_owned()),
        misfit: fitted.models.misfit,
        explains: fitted.models.explains(),
        parameters: parameters(house, &fitted),
        predicted: Vec::new(),
        verdicts: Vec::new(),
        remedy: None,
    };
    let simulated = |plan: &Plan| summaries(&repeated(&with_seed(plan, seed), RUNS), threads);
    let simulator = Truth {
        run: &simulated,
        is_real_time: false,
    };
    let truth = match extent {
        Extent::Fit => return Ok(result),
        Extent::Simulated => &simulator,
        Extent::Played(truth) => truth,
    };
    let load = twin::household(&house.names())?;
    let models = twin::models(&load, &fitted.models.scenarios(PREDICTING_MODELS))?;
    let tried = |change: &HouseChange| !truth.is_real_time || IN_REAL_TIME.contains(&change.name);
    for change in changes(house).into_iter().filter(tried) {
        let plans = models.iter().map(|model| changed(model, &change.set));
        let plans: Vec<Plan> = plans.collect::<Result<_, _>>()?;
        let predictions = summaries(&plans, threads)?;
        let happened = (truth.run)(&load_of(house, &change.set)?)?;
        result.predicted.extend(values(&change, &predictions, &happened));
        result.verdicts.extend(of_stations(&change, &predictions, &happened));
    }
    result.remedy = Some(remedy(house, &fitted, &models, threads, truth)?);
    Ok(result)
}

fn with_seed(plan: &Plan, seed: u64) -> Plan {
    // Not a seed of the models, which count from 1.
    Plan {
        seed: Seed(seed + 500_000),
        ..plan.clone()
    }
}

fn summaries(plans: &[Plan], threads: usize) -> Result<Vec<Summary>, CheckError> {
    let each = map(plans.len(), threads, &|number| {
        netburn_simulate::summary(&plans[number], "house", &mut |_| ControlFlow::Continue(()))
    });
    let all: Result<Vec<Option<Summary>>, SimulateError> = each.into_iter().collect();
    Ok(all?
        .into_iter()
        .map(|summary| summary.expect("nothing stops it"))
        .collect())
}

fn parameters(house: &House, fitted: &Fit) -> Vec<ParameterResult> {
    let names = house.names();
    let stations = &fitted.models.home().stations;
    // The measurement can have the stations in another order.
    let own = |station: usize| {
        let number = names.iter().position(|name| *name == stations[station].name);
        number.expect("the measurement has the stations of the house")
    };
    let own_number = |parameter: Parameter| match parameter {
        Parameter::Signal(station) => Parameter::Signal(own(station)),
        Parameter::AdapterRate(station, direction) => Parameter::AdapterRate(own(station), direction),
        Parameter::DozeTimeout(station) => Parameter::DozeTimeout(own(station)),
        _ => parameter,
    };
    let own = fitted.estimates.iter().filter_map(|estimate| {
        let exists = estimate.parameter.exists_with(house.discipline);
        let truth = house.value(own_number(estimate.parameter)).filter(|_| exists)?;
        Some(ParameterResult {
            kind: kind(estimate.parameter).to_owned(),
            truth,
            estimate: Interval {
                low: estimate.interval.0,
                median: estimate.median,
                high: estimate.interval.1,
            },
            is_identified: estimate.is_identified(),
        })
    });
    own.collect()
}

const fn kind(parameter: Parameter) -> &'static str {
    match parameter {
        Parameter::ServerDelay => "delay of the server",
        Parameter::LineDelay => "delay of the line",
        Parameter::Line(Direction::Down) => "rate of the line down",
        Parameter::Line(Direction::Up) => "rate of the line up",
        Parameter::LineQueue(Direction::Down) => "queue of the line down",
        Parameter::LineQueue(Direction::Up) => "queue of the line up",
        Parameter::Busy(_) => "share of other networks",
        Parameter::QueueLimit => "queue limit",
        Parameter::Signal(_) => "signal",
        Parameter::Backhaul(_) => "signal of a backhaul",
        Parameter::AdapterRate(..) => "rate of an adapter",
        Parameter::AdapterDelay(_) => "delay of an adapter",
        Parameter::DozeTimeout(_) => "time until power save",
    }
}

/// Values of all runs, by station and kind.
fn collected(runs: &[Summary]) -> BTreeMap<(String, &'static str), Vec<f64>> {
    let mut all: BTreeMap<(String, &'static str), Vec<f64>> = BTreeMap::new();
    for (key, value) in runs.iter().flat_map(metrics) {
        let Some(station) = &key.station else { continue };
        let own = VALUES.iter().find(|(_, workload, path)| {
            key.goal.is_none()
                && key.quantity.path == *path
                && workload.is_none_or(|name| key.workload.as_deref() == Some(name))
        });
        if let Some((kind, _, _)) = own {
            all.entry((station.clone(), kind)).or_default().push(value);
        }
    }
    all
}

fn values(change: &HouseChange, predictions: &[Summary], happened: &[Summary]) -> Vec<Predicted> {
    let truth = collected(happened);
    let each = collected(predictions).into_iter().filter_map(|((station, kind), own)| {
        let all = truth.get(&(station.clone(), kind))?;
        Some(Predicted {
            change: change.name.to_owned(),
            station,
            kind: kind.to_owned(),
            truth: interval(all.clone()).median,
            one: all[0],
            prediction: interval(own),
        })
    });
    each.filter(|own| own.truth.is_finite() && own.one.is_finite() && own.prediction.high.is_finite())
        .collect()
}

fn interval(mut values: Vec<f64>) -> Interval {
    values.sort_by(f64::total_cmp);
    let last = values.len() - 1;
    Interval {
        low: values[0],
        median: values[last / 2],
        high: values[last],
    }
}

fn of_stations(change: &HouseChange, predictions: &[Summary], happened: &[Summary]) -> Vec<Verdicts> {
    // A run of the lab on a busy machine is inconclusive, which is neither of both.
    let passes = |runs: &[Summary], station: usize| {
        let verdicts = runs.iter().map(|run| run.stations[station].verdict);
        let known: Vec<Verdict> = verdicts.filter(|verdict| *verdict != Verdict::Inconclusive).collect();
        let met = known.iter().filter(|verdict| **verdict <= Verdict::Marginal).count();
        (!known.is_empty()).then(|| met as f64 / known.len() as f64)
    };
    let stations = predictions[0].stations.iter().enumerate();
    let each = stations.filter_map(|(number, station)| {
        let share = passes(predictions, number)?;
        Some(Verdicts {
            change: change.name.to_owned(),
            station: station.name.clone(),
            truth: passes(happened, number)? > 0.5,
            prediction: share > 0.5,
            is_sure: !(0.1..=0.9).contains(&share),
        })
    });
    each.collect()
}

/// The recommendation of `netburn explain`, and what the proposed remedies do to the house.
fn remedy(
    house: &House,
    fitted: &Fit,
    models: &[Plan],
    threads: usize,
    truth: &Truth<'_>,
) -> Result<Remedy, CheckError> {
    let cancel = Cancel::default();
    let load = twin::household(&house.names())?;
    let likely = twin::loaded(&load, &Document::from_toml("fit", &fitted.models.likeliest())?)?;
    let happened = |set: &[(String, String)]| -> Result<f64, CheckError> {
        let plan = load_of(house, set)?;
        let runs = (truth.run)(&plan)?;
        let loss = |run: &Summary| {
            let outcome = Outcome::new(&plan, run);
            outcome.workloads.iter().map(|(_, state)| state.loss).sum::<f64>()
        };
        Ok(runs.iter().map(loss).sum::<f64>() / runs.len() as f64)
    };
    let before = happened(&[])?;
    let mut remedy = Remedy {
        before,
        recommended: None,
        best: None,
    };
    let diagnosis = Diagnosis::of_load(&likely, models, threads, |run, plan, rules| {
        let simulator = Simulator::new(threads, &cancel, &|_| {});
        Ok::<_, CheckError>(causes::simulated(run, plan, rules, &simulator).0)
    })?;
    let attempts = diagnosis.attempts(models, None)?;
    let answers = answer(&attempts.models, attempts.changes, threads, &cancel, &|_, _| {})?;
    let effects = effects(&answers, &diagnosis.plan);
    for effect in &effects.effects {
        let what_if = &effect.answer.what_if;
        let is_recommended = effects
            .recommended()
            .is_some_and(|own| own.answer.what_if.label == what_if.label);
        if truth.is_real_time && !is_recommended {
            continue;
        }
        let loss = happened(&what_if.set)?;
        if remedy.best.as_ref().is_none_or(|(_, best)| loss < *best) {
            remedy.best = Some((what_if.label.clone(), loss));
        }
        if is_recommended {
            remedy.recommended = Some((what_if.label.clone(), loss));
        }
    }
    Ok(remedy)
}
