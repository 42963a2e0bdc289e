//! `netburn run`: a scenario becomes a plan, the plan one or several rounds, the rounds a report.

mod round;
mod screen;

use crate::args::{GroundArg, RunArgs};
use crate::exit::{self, Ended, Stop};
use crate::plan;
use crate::record::written;
use crate::terminal::{data, say};
use netburn_record::UnixTime;
use netburn_report::plain::sanitise;
use netburn_scenario::{Ground, Plan, decimal};
use std::path::PathBuf;

/// `netburn run SCENARIO`.
pub(crate) fn run(args: &RunArgs) -> Result<Ended, Stop> {
    ground(args.on)?;
    let (plan, notes) = plan::resolved(&args.changes)?;
    if args.on.is_none() {
        say("no --on: running on local, the only ground of this build");
    }
    for note in notes {
        say(&format!("note: {}", sanitise(&note)));
    }
    say(&format!(
        "{}: may move up to {}, all of it within this machine",
        plan.name,
        most(&plan)
    ));
    let folder = args.out.clone().unwrap_or_else(|| default_folder(&plan));
    let done = round::all(&plan, &folder)?;
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

/// Whether this build has the ground that was asked for.
fn ground(on: Option<GroundArg>) -> Result<(), Stop> {
    match on {
        None | Some(GroundArg::Local) => Ok(()),
        Some(other) => Err(Stop::Wrong(format!(
            "--on {}: this build has only `local`, which runs everything on this machine",
            other.name()
        ))),
    }
}

fn default_folder(plan: &Plan) -> PathBuf {
    PathBuf::from("runs").join(format!("{}-{}", UnixTime::now().for_file_name(), plan.name))
}
