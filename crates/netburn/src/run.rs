//! `netburn run`: a scenario becomes a plan, the plan one or several rounds, the rounds a report.

mod fleet;
mod interleave;
mod lab_launcher;
mod round;
mod screen;
mod simulated;

use crate::args::{Format, RunArgs};
use crate::exit::{self, CliError, ExitStatus};
use crate::page;
use crate::plan;
use crate::record::{causes, written};
use crate::terminal::{eprint_message, print_stdout};
use netburn_record::{Run, RunStatus, Summary, UnixTime};
use netburn_report::View;
use netburn_report::sanitise::sanitise;
use netburn_scenario::{Environment, Plan, decimal};
use std::path::{Path, PathBuf};

/// `netburn run SCENARIO`.
pub(crate) fn run(args: &RunArgs) -> Result<ExitStatus, CliError> {
    if args.interleave {
        return interleave::run(args);
    }
    let plan::Resolved {
        plan, environment, lab, ..
    } = said(plan::resolved(&args.changes, args.on)?);
    let folder = args.out.clone().unwrap_or_else(|| default_folder(&plan));
    let done = match environment {
        Environment::Simulate => simulated::all(&plan, &folder)?,
        Environment::Local | Environment::Lab => round::all(&plan, environment, lab, None, &folder)?,
        Environment::Imported => {
            return Err(CliError::Usage(
                "a run can't be made where it was imported from".to_owned(),
            ));
        }
        Environment::Fleet => {
            fleet::confirm_volume(&plan, args.yes)?;
            let on = fleet::FleetTarget::new(args)?;
            round::all(&plan, environment, None, Some(&on), &folder)?
        }
    };
    eprint_message(&format!("saved to {}", done.folder.display()));
    let mut text = written(&done.summary, args.format);
    match View::open(&done.folder) {
        Ok(view) => {
            if let Some(path) = page::keep(&done.folder, &view) {
                eprint_message(&format!("the page is {}", path.display()));
            }
            if args.format == Format::Text {
                text.push_str(&causes(&view));
            }
        }
        Err(error) => eprint_message(&format!("there is no page: {}", sanitise(&error.to_string()))),
    }
    match print_stdout(&text) {
        // How the run ended says more than that nobody reads on.
        Ok(()) | Err(CliError::BrokenPipe) => {}
        Err(stop) => return Err(stop),
    }
    Ok(exit::of_run(&done.summary, done.interrupted, args.check))
}

/// Says what is about to happen.
fn said(resolved: plan::Resolved) -> plan::Resolved {
    eprint_message(&format!(
        "{}: {}",
        resolved.plan.name,
        beginning(&resolved.plan, resolved.environment)
    ));
    if let Some(why) = &resolved.why {
        eprint_message(&sanitise(why));
    }
    for note in &resolved.notes {
        eprint_message(&format!("note: {}", sanitise(note)));
    }
    resolved
}

/// Runs a plan on an environment into a folder, for its summary.
pub(crate) fn of(plan: &Plan, environment: Environment, folder: &Path) -> Result<Summary, CliError> {
    let done = match environment {
        Environment::Simulate => simulated::all(plan, folder)?,
        _ => round::all(plan, environment, None, None, folder)?,
    };
    if done.interrupted {
        Err(CliError::Failed("interrupted".to_owned()))
    } else {
        Ok(done.summary)
    }
}

/// What is about to happen; what was measured is the report's first line.
fn beginning(plan: &Plan, environment: Environment) -> String {
    let moves = |plan| format!("it may move up to {}, all of it within this machine", most(plan));
    match environment {
        Environment::Simulate => {
            "simulated: a modelled access point and modelled TCP, nothing of your own Wi-Fi; nothing leaves this \
                             process"
                .to_owned()
        }
        Environment::Lab => format!(
            "in the lab: a modelled access point in real time with this machine's TCP, nothing of your own Wi-Fi; {}",
            moves(plan)
        ),
        Environment::Local => moves(plan),
        Environment::Fleet => fleet::beginning(plan),
        Environment::Imported => String::new(),
    }
}

/// The most bytes that it moves, as people say it.
fn most(plan: &Plan) -> String {
    let most = plan.bytes_expected(Environment::Local).max;
    most.map_or_else(|| "whatever goes through".to_owned(), decimal)
}

/// What came of all rounds.
#[derive(Debug)]
struct Done {
    /// Where it is kept.
    folder: PathBuf,
    /// Of all rounds together.
    summary: Summary,
    /// Whether somebody stopped it.
    interrupted: bool,
}

impl Done {
    fn of(run: &Run, ending: &RunStatus) -> Done {
        Done {
            folder: run.path().to_owned(),
            summary: run.summary().clone(),
            interrupted: *ending == RunStatus::Interrupted,
        }
    }
}

fn default_folder(plan: &Plan) -> PathBuf {
    PathBuf::from("runs").join(format!("{}-{}", UnixTime::now().for_file_name(), plan.name))
}
