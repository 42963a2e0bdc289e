//! `netburn fit`: a model of a measured network.

use crate::args::{FitArgs, Format};
use crate::exit::{CliError, ExitStatus};
use crate::page;
use crate::record::unopened;
use crate::terminal::{document, eprint_message, overwrite_line, print_stdout, stderr_is_terminal};
use netburn_fit::result::discipline_comment;
use netburn_fit::{CannotFit, Estimate, Fit, Measurement, Settings, fit as fitted};
use netburn_record::Run;
use netburn_report::sanitise::sanitise;
use netburn_runner::pool::{map, processors};
use netburn_units::Seed;
use serde_json::{Value, json};
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

/// `netburn fit RUN`.
pub(crate) fn fit(args: &FitArgs) -> Result<ExitStatus, CliError> {
    let result = model(&observed(&args.run)?, args.seed, args.jobs)?;
    if let Some(path) = &args.out {
        write(&result, path)?;
    }
    match args.format {
        Format::Json => print_stdout(&document(&described(args, &result)))?,
        Format::Text if args.out.is_none() => print_stdout(&result.scenario)?,
        Format::Text => {}
    }
    Ok(judged(&result))
}

/// Observations of the run in this folder.
pub(crate) fn observed(folder: &Path) -> Result<Measurement, CliError> {
    let run = Run::open(folder).map_err(|error| unopened(folder, error))?;
    Measurement::of_run(&run, Settings::default().length).map_err(|error| unusable(folder, error))
}

/// The model of a measurement, fitted on `jobs` processors (all by default).
pub(crate) fn model(measurement: &Measurement, seed: u64, jobs: Option<u16>) -> Result<Fit, CliError> {
    let shown = Mutex::new(0);
    let show = |finished: usize| {
        if stderr_is_terminal() {
            let mut last = shown.lock().unwrap_or_else(PoisonError::into_inner);
            overwrite_line(&format!("{finished} models simulated"), &mut last);
        }
    };
    let result = simulated(measurement, seed, jobs.map_or_else(processors, usize::from), &show);
    if stderr_is_terminal() {
        overwrite_line("", &mut shown.lock().unwrap_or_else(PoisonError::into_inner));
    }
    result
}

/// Writes the scenario of a model to a file.
pub(crate) fn write(result: &Fit, path: &Path) -> Result<(), CliError> {
    let failed = |error: std::io::Error| CliError::Failed(format!("{}: {error}", path.display()));
    page::whole(path, result.scenario.as_bytes()).map_err(failed)?;
    eprint_message(&format!("the scenario is {}", path.display()));
    Ok(())
}

/// Prints how much the run shows, and what the model does not explain. Returns the status of the command.
pub(crate) fn judged(result: &Fit) -> ExitStatus {
    let identified = result
        .estimates
        .iter()
        .filter(|estimate| estimate.is_identified)
        .count();
    eprint_message(&format!(
        "the run identifies {identified} of {} parameters; queue of the access point: {}",
        result.estimates.len(),
        discipline_comment(&result.disciplines)
    ));
    if result.explains() {
        return ExitStatus::Success;
    }
    eprint_message(&format!(
        "the model does not explain the run: misfit {:.1}, where 1 is expected",
        result.misfit
    ));
    for difference in result.unexplained.iter().take(5) {
        eprint_message(&sanitise(difference));
    }
    ExitStatus::NotMeasured
}

/// Fits on several threads. Calls `progress` with the number of models so far.
pub(crate) fn simulated(
    measurement: &Measurement,
    seed: u64,
    threads: usize,
    progress: &(dyn Fn(usize) + Sync),
) -> Result<Fit, CliError> {
    let settings = Settings {
        seed: Seed(seed),
        ..Settings::default()
    };
    let done = AtomicUsize::new(0);
    let result = fitted(measurement, &settings, &|count, work| {
        map(count, threads, &|number| {
            let result = work(number);
            progress(done.fetch_add(1, Ordering::Relaxed) + 1);
            result
        })
    });
    result.map_err(|error| CliError::Failed(error.to_string()))
}

/// A run that is no measurement is invalid input, and one that is not reliable is no measurement.
pub(crate) fn unusable(folder: &Path, error: CannotFit) -> CliError {
    let text = sanitise(&format!("{}: {error}", folder.display()));
    match error {
        CannotFit::Record(error) => unopened(folder, error),
        CannotFit::Schedule(_) => CliError::Usage(format!(
            "{text}\nhelp: `netburn measure` makes a run for a fit, and `netburn scenarios measure STATION…` prints its scenario"
        )),
        CannotFit::Several | CannotFit::Rows => CliError::Usage(text),
        _ => CliError::Failed(text),
    }
}

/// The queue disciplines with their probabilities.
pub(crate) fn disciplines(result: &Fit) -> Vec<Value> {
    let each = result.disciplines.iter();
    each.map(|(kind, probability)| json!({ "queue": kind.name(), "probability": probability }))
        .collect()
}

/// The result as a document.
fn described(args: &FitArgs, result: &Fit) -> Value {
    json!({
        "schema": "netburn.fit/1",
        "run": args.run.display().to_string(),
        "seed": args.seed,
        "explains": result.explains(),
        "misfit": result.misfit,
        "disciplines": disciplines(result),
        "estimates": result.estimates.iter().map(estimate).collect::<Vec<_>>(),
        "assumptions": result.assumptions,
        "gaps": result.gaps,
        "unexplained": result.unexplained,
        "scenario": result.scenario,
    })
}

fn estimate(estimate: &Estimate) -> Value {
    json!({
        "key": estimate.key,
        "unit": estimate.parameter.unit(),
        "median": estimate.median,
        "interval": [estimate.interval.0, estimate.interval.1],
        "prior": [estimate.prior.0, estimate.prior.1],
        "identified": estimate.is_identified,
        "needs": (!estimate.is_identified).then(|| estimate.parameter.needs()),
    })
}
