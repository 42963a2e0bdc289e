//! `netburn run`: resolves a scenario to a plan, runs the plan once or several times, and prints a report.

mod fleet;
mod interleave;
pub(crate) mod phases;
mod progress;
mod screen;

use crate::args::{Changes, EnvironmentArg, Format, RunArgs};
use crate::exit::{self, CliError, ExitStatus};
use crate::page;
use crate::plan::{self, Chosen};
use crate::program::program;
use crate::record::{causes, grades, written};
use crate::remedies;
use crate::signals;
use crate::terminal::{eprint_message, print_stdout};
use netburn_analysis::View;
use netburn_record::{Run, RunStatus, UnixTime};
use netburn_report::sanitise::sanitise;
use netburn_runner::pool::processors;
use netburn_runner::{Cancel, Event, Lab, Local, Recorded, RunControl, RunEnvironment, Simulation, repeat};
use netburn_scenario::{Environment, Plan, decimal};
use progress::Progress;
use screen::Effect;
pub(crate) use screen::Screen;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// `netburn run SCENARIO`.
pub(crate) fn run(args: &RunArgs) -> Result<ExitStatus, CliError> {
    if args.interleave {
        return interleave::run(args);
    }
    let (plan, chosen) = announced(&args.changes, args.on)?;
    if chosen.environment == Environment::Fleet {
        fleet::confirm_volume(&plan, args.yes)?;
    }
    let folder = args.out.clone().unwrap_or_else(|| default_folder(&plan));
    let environment = environment(chosen, Some(args))?;
    let done = recorded(&plan, &*environment, &folder)?;
    eprint_message(&format!("saved to {}", done.run.path().display()));
    print_result(&written(done.run.summary(), args.format))?;
    match View::open(done.run.path()) {
        Ok(mut view) => {
            // Programs read the other formats, which have no causes. After an interruption nothing else is simulated. What a
            // measurement delays is no problem of the network.
            if args.format == Format::Text
                && !is_interrupted(&done)
                && view.measurement.is_none()
                && let Err(CliError::Usage(why) | CliError::Failed(why) | CliError::Command(_, why)) =
                    explained(&done.run, &mut view)
            {
                // The exit status is that of the run.
                eprint_message(&format!("warning: the causes could not be simulated: {why}"));
            }
            if let Some(path) = page::keep(done.run.path(), &view) {
                eprint_message(&format!("the page is {}", path.display()));
            }
            if args.format == Format::Text {
                print_result(&(causes(&view) + &grades(&view, false)))?;
            }
        }
        Err(error) => eprint_message(&format!("there is no page: {}", sanitise(&error.to_string()))),
    }
    Ok(exit::of_run(done.run.summary(), is_interrupted(&done), args.check))
}

/// Adds the causes and the changes that simulations find.
fn explained(run: &Run, view: &mut View) -> Result<(), CliError> {
    if let Some(explanation) = crate::causes::simulated(run, &view.explanation, processors())? {
        view.explanation = explanation;
        view.remedies = remedies::simulated(run, &view.explanation.causes)?;
    }
    Ok(())
}

/// Prints on standard output. The exit status of the run matters more than a closed pipe.
fn print_result(text: &str) -> Result<(), CliError> {
    match print_stdout(text) {
        Ok(()) | Err(CliError::BrokenPipe) => Ok(()),
        Err(stop) => Err(stop),
    }
}

/// The plan of a scenario and its environment. Prints a summary of the run before it starts.
fn announced(changes: &Changes, on: Option<EnvironmentArg>) -> Result<(Plan, Chosen), CliError> {
    let document = plan::changed(changes)?;
    let chosen = plan::chosen(&document, on)?;
    let (plan, notes) = plan::resolved(&document, chosen.environment)?;
    eprint_message(&format!("{}: {}", plan.name, beginning(&plan, chosen.environment)));
    if let Some(why) = &chosen.why {
        eprint_message(&sanitise(why));
    }
    for note in &notes {
        eprint_message(&format!("note: {}", sanitise(note)));
    }
    Ok((plan, chosen))
}

/// The environment of that name. A fleet needs the options of the command line.
pub(crate) fn environment(chosen: Chosen, args: Option<&RunArgs>) -> Result<Box<dyn RunEnvironment>, CliError> {
    let program = program()?;
    if chosen.environment != Environment::Fleet && args.is_some_and(|args| !args.observed.access_points.is_empty()) {
        let text = "--access-point observes real access points, so it needs --on fleet".to_owned();
        return Err(CliError::Usage(text));
    }
    Ok(match (chosen.environment, args) {
        (Environment::Simulate, _) => Box::new(Simulation::default()),
        (Environment::Local, _) => Box::new(Local::new(&program)),
        (Environment::Lab, _) => {
            let lab = Lab::new(&program);
            Box::new(match chosen.lab {
                Some(open) => lab.with_open_lab(open),
                None => lab,
            })
        }
        (Environment::Fleet, Some(args)) => Box::new(fleet::environment(&program, args)?),
        (environment @ (Environment::Fleet | Environment::Imported), _) => {
            return Err(CliError::Usage(format!("unsupported environment: {environment}")));
        }
    })
}

/// Records all runs of a plan.
pub(crate) fn recorded(plan: &Plan, environment: &dyn RunEnvironment, folder: &Path) -> Result<Recorded, CliError> {
    if environment.kind() == Environment::Simulate {
        let cancel = signals::cancel_or_exit(signals::SAVING)?;
        let progress = Progress::new(plan);
        let observer = |event: Event<'_>| progress.show(event);
        let done = repeat(plan, environment, folder, &RunControl::new(cancel, &observer));
        progress.end();
        return Ok(done?);
    }
    recorded_on(Screen::new(false), plan, environment, folder)
}

/// Records all runs of a plan in real time, and shows them on this screen.
pub(crate) fn recorded_on(
    screen: Screen,
    plan: &Plan,
    environment: &dyn RunEnvironment,
    folder: &Path,
) -> Result<Recorded, CliError> {
    let (cancel, screen) = interruptible(screen)?;
    let observer = |event: Event<'_>| screen.show(event);
    Ok(repeat(plan, environment, folder, &RunControl::new(cancel, &observer))?)
}

/// Cancellation of runs by signals: the first stops them, the second aborts them.
fn interruptible(screen: Screen) -> Result<(Cancel, Arc<Screen>), CliError> {
    let (cancel, screen) = (Cancel::default(), Arc::new(screen));
    let (canceller, shown) = (cancel.clone(), Arc::clone(&screen));
    signals::handle(move || {
        if canceller.is_stopped() || shown.interrupt() == Effect::Abort {
            canceller.abort();
        } else {
            canceller.stop();
        }
    })?;
    Ok((cancel, screen))
}

/// Returns whether a signal stopped the run.
pub(crate) fn is_interrupted(done: &Recorded) -> bool {
    done.status == RunStatus::Interrupted
}

/// Description of the run before it starts: environment and volume of traffic.
fn beginning(plan: &Plan, environment: Environment) -> String {
    let volume = |plan| format!("it may send {}, all of it within this machine", most(plan));
    match environment {
        Environment::Simulate => {
            "simulated: a modelled access point and modelled TCP, nothing of your own Wi-Fi; nothing leaves this \
                             process"
                .to_owned()
        }
        Environment::Lab => format!(
            "in the lab: a modelled access point in real time with this machine's TCP, nothing of your own Wi-Fi; {}",
            volume(plan)
        ),
        Environment::Local => volume(plan),
        Environment::Fleet => fleet::beginning(plan),
        Environment::Imported => String::new(),
    }
}

/// Upper bound of the volume of traffic, as text.
fn most(plan: &Plan) -> String {
    let most = plan.bytes_expected(Environment::Local).max;
    most.map_or_else(
        || "an unlimited volume".to_owned(),
        |most| format!("up to {}", decimal(most)),
    )
}

fn default_folder(plan: &Plan) -> PathBuf {
    PathBuf::from("runs").join(format!("{}-{}", UnixTime::now().for_file_name(), plan.name))
}
