//! `netburn fit`: a model of a measured network.

use crate::args::{FitArgs, Format};
use crate::exit::{CliError, ExitStatus};
use crate::page;
use crate::record::unopened;
use crate::terminal::{document, eprint_message, overwrite_line, print_stdout, stderr_is_terminal};
use netburn_analysis::View;
use netburn_analysis::fitted::{self, FILE};
use netburn_fit::measurement::Measured;
use netburn_fit::{CannotFit, Fit, Measurement, Models, Settings};
use netburn_record::Run;
use netburn_record::run_list::inspect;
use netburn_report::sanitise::sanitise;
use netburn_runner::Cancel;
use netburn_runner::pool::processors;
use netburn_study::twin::{MEASURE_HELP, fit_json, fit_models, models_of_fit};
use netburn_units::Seed;
use std::path::Path;
use std::sync::{Mutex, PoisonError};

/// Seed of a fit without another one.
pub(crate) const SEED: u64 = 1;

/// `netburn fit RUN`.
pub(crate) fn fit(args: &FitArgs) -> Result<ExitStatus, CliError> {
    let unchanged: Vec<(&Path, &[_])> = args.runs.iter().map(|folder| (folder.as_path(), &[] as &[_])).collect();
    let result = model(&observed_together(&unchanged)?, args.seed, args.jobs)?;
    if let Some(path) = &args.out {
        write_scenario(&result, path)?;
    }
    // The models of several runs belong to none of their folders.
    if let [folder] = args.runs.as_slice() {
        keep(&result, folder);
    }
    let names: Vec<String> = args.runs.iter().map(|folder| folder.display().to_string()).collect();
    match args.format {
        Format::Json => print_stdout(&document(&fit_json(&names.join(", "), &result)))?,
        Format::Text if args.out.is_none() => print_stdout(&result.scenario)?,
        Format::Text => {}
    }
    Ok(judged(&result))
}

/// Observations of the run in this folder.
pub(crate) fn observed(folder: &Path) -> Result<Measurement, CliError> {
    observed_together(&[(folder, &[])])
}

/// Observations of the runs in these folders, each with the keys and values of a change before it.
pub(crate) fn observed_together(folders: &[(&Path, &[(String, String)])]) -> Result<Measurement, CliError> {
    let mut known = Vec::new();
    for (folder, _) in folders {
        let path = folder.canonicalize().unwrap_or_else(|_| folder.to_path_buf());
        if known.contains(&path) {
            let name = sanitise(&folder.display().to_string());
            return Err(CliError::Usage(format!(
                "{name} is named twice, and its values would count twice"
            )));
        }
        known.push(path);
    }
    let mut runs = Vec::new();
    for (folder, _) in folders {
        runs.push(Run::open(folder).map_err(|error| unopened(folder, error))?);
    }
    let length = Settings::default().length;
    let both = runs.iter().zip(folders);
    let measured: Vec<Measured<'_>> = both
        .clone()
        .map(|(run, (_, change))| Measured { run, change })
        .collect();
    Measurement::of_runs(&measured, length).map_err(|error| {
        let alone = |run| Measurement::of_run(run, length).is_err();
        match both.clone().find(|(run, _)| alone(run)) {
            Some((_, (folder, _))) => unusable(folder, error),
            // Each of them can be fitted alone.
            None => CliError::Usage(sanitise(&error.to_string())),
        }
    })
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
    let threads = jobs.map_or_else(processors, usize::from);
    let result = simulated(measurement, seed, threads, &Cancel::default(), &show);
    if stderr_is_terminal() {
        overwrite_line("", &mut shown.lock().unwrap_or_else(PoisonError::into_inner));
    }
    Ok(result?.expect("nothing stops the fit"))
}

/// Models of the measurement in a folder: those that its record keeps, if they have this seed, or else fitted ones, which
/// the record keeps if it has none. Without a seed, each stored fit is accepted.
pub(crate) fn models(
    folder: &Path,
    measurement: &Measurement,
    seed: Option<u64>,
    jobs: Option<u16>,
) -> Result<Models, CliError> {
    let found = stored(folder, measurement).unwrap_or_else(|why| {
        eprint_message(&sanitise(&format!("the stored models are not used: {why}")));
        None
    });
    let has_models = found.is_some();
    if let Some(models) = found.filter(|models| seed.is_none_or(|seed| models.seed.0 == seed)) {
        eprint_message(&format!(
            "the models are those of the last fit, with the seed {}; `netburn fit` makes them again",
            models.seed.0
        ));
        return Ok(models);
    }
    eprint_message("fitting models to the measurement, which takes up to a minute");
    let result = model(measurement, seed.unwrap_or(SEED), jobs)?;
    // Models of another seed are for this command only.
    if !has_models {
        keep(&result, folder);
    }
    Ok(result.models)
}

/// Models that the record in a folder keeps.
fn stored(folder: &Path, measurement: &Measurement) -> Result<Option<Models>, String> {
    let text = fitted::document(folder)?;
    let models = text.map(|text| models_of_fit(&text, measurement));
    models.transpose().map_err(|error| format!("{FILE}: {error}"))
}

/// Writes the scenario of a model to a file. In the folder of a record, the record also keeps the model.
pub(crate) fn write(result: &Fit, path: &Path) -> Result<(), CliError> {
    write_scenario(result, path)?;
    if let Some(folder) = path.parent().filter(|folder| inspect(folder).is_some()) {
        keep(result, folder);
    }
    Ok(())
}

/// Stores the fit in the folder of its run, and writes the page of the run again. Without it, the model remains valid.
fn keep(result: &Fit, folder: &Path) {
    let path = folder.join(FILE);
    let text = document(&fit_json(&folder.display().to_string(), result));
    let kept = page::whole(&path, text.as_bytes())
        .map_err(|error| format!("{}: {error}", path.display()))
        .and_then(|()| View::open(folder).map_err(|error| error.to_string()));
    match kept {
        Ok(view) => {
            if let Some(path) = page::keep(folder, &view) {
                eprint_message(&format!("the model beside the measurement: {}", path.display()));
            }
        }
        Err(why) => eprint_message(&format!("the record does not keep the model: {}", sanitise(&why))),
    }
}

pub(crate) fn write_scenario(result: &Fit, path: &Path) -> Result<(), CliError> {
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
        .filter(|estimate| estimate.is_identified())
        .count();
    eprint_message(&format!(
        "the run identifies {identified} of {} parameters; queue of the access point: {}",
        result.estimates.len(),
        result.models.discipline_comment()
    ));
    if result.models.explains() {
        return ExitStatus::Success;
    }
    eprint_message(&format!(
        "the model does not explain the run: misfit {:.1}, where 1 is expected",
        result.models.misfit
    ));
    for difference in result.unexplained.iter().take(5) {
        eprint_message(&sanitise(difference));
    }
    ExitStatus::NotMeasured
}

/// Fits on several threads. Calls `progress` with the number of models so far. `None` if `cancel` was stopped.
pub(crate) fn simulated(
    measurement: &Measurement,
    seed: u64,
    threads: usize,
    cancel: &Cancel,
    progress: &(dyn Fn(usize) + Sync),
) -> Result<Option<Fit>, CliError> {
    let settings = Settings {
        seed: Seed(seed),
        ..Settings::default()
    };
    let report = |finished: usize, _: f64| progress(finished);
    fit_models(measurement, &settings, threads, cancel, &report).map_err(|error| CliError::Failed(error.to_string()))
}

/// A run that is no measurement is invalid input, and one that is not reliable is no measurement.
pub(crate) fn unusable(folder: &Path, error: CannotFit) -> CliError {
    let text = sanitise(&format!("{}: {error}", folder.display()));
    match error {
        CannotFit::Record(error) => unopened(folder, error),
        CannotFit::Schedule(_) => CliError::Usage(format!("{text}\n{MEASURE_HELP}")),
        CannotFit::Several | CannotFit::Rows | CannotFit::Phases(_) | CannotFit::Changed => CliError::Usage(text),
        _ => CliError::Failed(text),
    }
}
