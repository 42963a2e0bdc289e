//! `netburn run`: a scenario becomes a plan, the plan one or several rounds, the rounds a report.

mod inside;
mod round;
mod screen;
mod simulated;

use crate::args::RunArgs;
use crate::exit::{self, Ended, Stop};
use crate::plan;
use crate::record::written;
use crate::terminal::{data, say};
use netburn_record::{Ending, Run, Summary, UnixTime};
use netburn_report::plain::sanitise;
use netburn_scenario::{Ground, Plan, decimal};
use std::path::PathBuf;

/// `netburn run SCENARIO`.
pub(crate) fn run(args: &RunArgs) -> Result<Ended, Stop> {
    let (plan, ground, notes) = plan::resolved(&args.changes, args.on)?;
    match (args.on, ground) {
        (None, Ground::Simulate) => {
            say("no --on: simulating it; with --on lab, this machine's own TCP takes the place of the modelled one");
        }
        (None, _) => {
            say("no --on, and the scenario describes no access point that could be modelled: running on local")
        }
        _ => {}
    }
    for note in notes {
        say(&format!("note: {}", sanitise(&note)));
    }
    let folder = args.out.clone().unwrap_or_else(|| default_folder(&plan));
    let done = match ground {
        Ground::Simulate => {
            say(&format!("{}: simulated, nothing leaves this process", plan.name));
            simulated::all(&plan, &folder)?
        }
        Ground::Local | Ground::Lab | Ground::Fleet => {
            say(&format!(
                "{}: may move up to {}, all of it within this machine",
                plan.name,
                most(&plan)
            ));
            round::all(&plan, ground, &folder)?
        }
    };
    say(&format!("kept in {}", done.folder.display()));
    match data(&written(&done.summary, args.format)) {
        // How the run ended says more than that nobody reads on.
        Ok(()) | Err(Stop::Unread) => {}
        Err(stop) => return Err(stop),
    }
    Ok(exit::of_run(&done.summary, done.interrupted, args.check))
}

/// The most bytes that it moves, as people say it.
fn most(plan: &Plan) -> String {
    let most = plan.bytes_expected(Ground::Local).most;
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
    fn of(run: &Run, ending: &Ending) -> Done {
        Done {
            folder: run.path().to_owned(),
            summary: run.summary().clone(),
            interrupted: *ending == Ending::Interrupted,
        }
    }
}

fn default_folder(plan: &Plan) -> PathBuf {
    PathBuf::from("runs").join(format!("{}-{}", UnixTime::now().for_file_name(), plan.name))
}
