//! `netburn run`: resolves a scenario to a plan, runs the plan once or several times, and prints a report.

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
    } = announce(plan::resolved(&args.changes, args.on)?);
    let folder = args.out.clone().unwrap_or_else(|| default_folder(&plan));
    let done = match environment {
        Environment::Simulate => simulated::all(&plan, &folder)?,
        Environment::Local | Environment::Lab => round::all(&plan, environment, lab, None, &folder)?,
        Environment::Imported => {
            return Err(CliError::Usage(
                "unsupported environment: an imported run can't be repeated".to_owned(),
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
        // The exit status of the run matters more than a closed pipe.
        Ok(()) | Err(CliError::BrokenPipe) => {}
        Err(stop) => return Err(stop),
    }
    Ok(exit::of_run(&done.summary, done.interrupted, args.check))
}

/// Prints a summary of the run before it starts.
fn announce(resolved: plan::Resolved) -> plan::Resolved {
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

/// Runs a plan in an environment, records it to a folder, and returns its summary.
pub(crate) fn run_plan(plan: &Plan, environment: Environment, folder: &Path) -> Result<Summary, CliError> {
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

/// Description of the run before it starts: environment and volume of traffic.
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

/// Upper bound of the volume of traffic, as text.
fn most(plan: &Plan) -> String {
    let most = plan.bytes_expected(Environment::Local).max;
    most.map_or_else(|| "whatever goes through".to_owned(), decimal)
}

/// Result of all runs of a plan.
#[derive(Debug)]
struct Done {
    /// Folder of the record.
    folder: PathBuf,
    /// Pooled summary of all runs.
    summary: Summary,
    /// A signal stopped the run.
    interrupted: bool,
}

impl Done {
    fn new(run: &Run, ending: &RunStatus) -> Done {
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
