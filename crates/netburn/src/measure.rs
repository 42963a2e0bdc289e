//! `netburn measure`: a measurement of the devices that joined, and a model of the network.

pub(crate) mod consent;
mod devices;
mod findings;
mod served;

pub(crate) use served::{served, served_at};

use crate::args::MeasureArgs;
use crate::exit::{CliError, ExitStatus};
use crate::fit;
use crate::fleet::state;
use crate::page;
use crate::plan::{resolved, wrong};
use crate::program::program;
use crate::run::{Screen, is_interrupted, recorded_on};
use crate::signals;
use crate::terminal::{TerminalStyle, eprint_below, eprint_message, print_stdout};
use devices::Gathering;
use findings::Findings;
use netburn_analysis::View;
use netburn_fit::schedule::{Device, MAX_STATIONS, Schedule};
use netburn_fit::{Fit, Measurement};
use netburn_fleet_controller::hub::State;
use netburn_record::{RunStatus, UnixTime};
use netburn_report::sanitise::sanitise;
use netburn_runner::{Fleet, Recorded};
use netburn_scenario::{Document, Environment, Plan};
use netburn_units::Duration;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// Time to wait for devices that left between their selection and the run.
const RECONNECT: Duration = Duration::from_secs(15);
/// Help after a measurement without a result.
const AGAIN: &str =
    "help: measure again; keep the page of a phone in the foreground and its screen on, and do not move devices";
/// File with the model, in the folder of the record.
const MODEL: &str = "network.toml";

/// `netburn measure [STATION…]`.
pub(crate) fn measure(args: &MeasureArgs) -> Result<ExitStatus, CliError> {
    check_names(&args.stations)?;
    let count = args.devices.map_or(args.stations.len(), usize::from);
    consent::check_unattended(count, args.yes)?;
    let gathering = Gathering::open(args)?;
    let devices = gathering.devices(args)?;
    let (schedule, plan) = planned(&devices)?;
    if let Some(note) = note(&devices) {
        eprint_message(&format!("note: {note}"));
    }
    let environment = environment(state()?, args.server.clone())?
        .observing(args.observed.access_points.clone(), args.observed.ssh_config.clone());
    let folder = args.out.clone().unwrap_or_else(|| default_folder(Path::new("runs")));
    let done = recorded_on(Screen::of_measurement(&schedule), &plan, &environment, &folder)?;
    // The devices are free, and their pages can be closed.
    drop(gathering);
    let folder = done.run.path().to_owned();
    eprint_message(&format!("saved to {}", folder.display()));
    if is_interrupted(&done) {
        return Err(CliError::Failed(
            "interrupted: the measurement is not complete, so there is no model of the network".to_owned(),
        ));
    }
    keep_page(&done);
    if let Some(why) = ended_early(&done) {
        return Err(CliError::Failed(why));
    }
    modelled(args, &folder)
}

/// The fleet, which needs all devices.
fn environment(state: State, server: Option<String>) -> Result<Fleet, CliError> {
    Ok(Fleet::new(&program()?, state, server, RECONNECT).requiring_all())
}

/// A limit of a measurement of these devices, if it has one.
fn note(devices: &[Device]) -> Option<&'static str> {
    (devices.len() == 1).then_some(
        "one device shows its own link, but not how devices share the Wi-Fi; measure with two or more to find that out",
    )
}

/// Error of a measurement that a device left; `None` if it did not end early.
fn ended_early(done: &Recorded) -> Option<String> {
    let RunStatus::Failed(why) = &done.status else {
        return None;
    };
    Some(format!(
        "the measurement ended early, so there is no model of the network: {}\n{AGAIN}",
        sanitise(why)
    ))
}

/// Observations of a measurement, or the reason with the help.
fn observed(folder: &Path) -> Result<Measurement, CliError> {
    fit::observed(folder).map_err(|error| match error {
        CliError::Failed(why) => CliError::Failed(format!("{why}\n{AGAIN}")),
        other => other,
    })
}

/// Fits the model, writes it, and prints what was found.
fn modelled(args: &MeasureArgs, folder: &Path) -> Result<ExitStatus, CliError> {
    let measurement = observed(folder)?;
    let model = folder.join(MODEL);
    let again = format!("stopped: the measurement is saved, and {}", continuing(folder));
    signals::handle(move || {
        eprint_below(&again);
        std::process::exit(3);
    })?;
    eprint_message(
        "simulating models of the network, which can take some minutes; the devices are not needed any more",
    );
    let result = fit::model(&measurement, args.seed, args.jobs)?;
    fit::write(&result, &model)?;
    print_stdout(&Findings::new(&result).text(TerminalStyle::for_stdout().width))?;
    let status = fit::judged(&result);
    match next(&result, folder) {
        Some(command) => eprint_message(&format!("next: {command}")),
        None => eprint_message(AGAIN),
    }
    Ok(status)
}

/// Command that fits a model to a measurement without one, as the end of a sentence.
fn continuing(folder: &Path) -> String {
    format!(
        "`netburn fit {0} --out {0}/{MODEL}` continues with it",
        folder.display()
    )
}

/// Command that recommends a remedy. `None` if the models do not explain the measurement.
fn next(fit: &Fit, folder: &Path) -> Option<String> {
    fit.models
        .explains()
        .then(|| format!("netburn explain {}", folder.display()))
}

/// The names of stations on the command line.
fn check_names(names: &[String]) -> Result<(), CliError> {
    let mut seen = BTreeSet::new();
    if let Some(twice) = names.iter().find(|name| !seen.insert(name.as_str())) {
        return Err(CliError::Usage(format!(
            "found `{twice}` twice, expected each device once"
        )));
    }
    check_count(names.len())
}

fn check_count(count: usize) -> Result<(), CliError> {
    if count > MAX_STATIONS {
        return Err(CliError::Usage(format!(
            "found {count} devices, expected at most {MAX_STATIONS}\nhelp: give the names of those to measure"
        )));
    }
    Ok(())
}

/// The measurement of these devices, and its plan. Each station has the member of its name, and no other one.
fn planned(devices: &[Device]) -> Result<(Schedule, Plan), CliError> {
    let schedule = Schedule::for_devices(devices);
    let document = Document::from_toml("measure.toml", &schedule.scenario()).map_err(wrong)?;
    let (mut plan, _) = resolved(&document, Environment::Fleet)?;
    for station in &mut plan.stations {
        station.agent = Some(station.name.clone());
    }
    Ok((schedule, plan))
}

/// Time and data of a measurement.
fn extent(schedule: &Schedule, plan: &Plan) -> String {
    format!(
        "takes {}, and transfers {}",
        plan.settled() + plan.baseline,
        consent::volume(schedule)
    )
}

/// Writes the page of the record. Without a page, the measurement remains valid.
fn keep_page(done: &Recorded) {
    match View::open(done.run.path()) {
        Ok(view) => {
            page::keep(done.run.path(), &view);
        }
        Err(error) => eprint_message(&format!("there is no page: {}", sanitise(&error.to_string()))),
    }
}

fn default_folder(runs: &Path) -> PathBuf {
    runs.join(format!("{}-measure", UnixTime::now().for_file_name()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use netburn_workload::ProbeTarget;

    fn device(name: &str, probes: &[ProbeTarget]) -> Device {
        Device {
            name: name.to_owned(),
            probes: probes.to_vec(),
        }
    }

    #[test]
    fn the_extent_of_a_measurement_is_known_before_it() {
        let devices = [
            device("laptop", ProbeTarget::ALL),
            device("phone", &[ProbeTarget::Server]),
        ];
        let (schedule, plan) = planned(&devices).unwrap();
        // Idle, two alone down, two alone up, all down, all up: 7 phases of 4 s, of which 6 transfer in one direction.
        // 6 · 4 s · 1 Gbit/s = 3 GB.
        let text = extent(&schedule, &plan);
        assert!(
            text.contains("at most 3.0 GB at 1 Gbit/s, or 300 MB for each 100 Mbit/s"),
            "{text}"
        );
        // 7 · 4 s and 6 pauses of 2 s: 40 s, beside the idle latency and the end.
        assert_eq!(schedule.duration(), Duration::from_secs(40));
        assert_eq!(plan.duration, Duration::from_secs(40));
    }

    #[test]
    fn a_station_has_the_probes_of_its_device_and_no_other_member() {
        let devices = [
            device("laptop", ProbeTarget::ALL),
            device("phone", &[ProbeTarget::Server]),
        ];
        let (_, plan) = planned(&devices).unwrap();
        let probes = |station: usize| -> Vec<ProbeTarget> {
            let workloads = plan.stations[station].workloads.iter();
            workloads.filter_map(|workload| workload.config.target()).collect()
        };
        assert_eq!(probes(0), ProbeTarget::ALL);
        assert_eq!(probes(1), [ProbeTarget::Server]);
        let agents: Vec<_> = plan.stations.iter().map(|station| station.agent.as_deref()).collect();
        assert_eq!(agents, [Some("laptop"), Some("phone")]);
        // A fit accepts the run.
        let read = Schedule::of_plan(&plan).unwrap();
        assert_eq!(read.probes.iter().map(Vec::len).collect::<Vec<_>>(), [3, 1]);
        assert_eq!(read.phases.len(), 7);
    }

    #[test]
    fn names_are_given_once_and_at_most_twelve_times() {
        let names = |count: usize| -> Vec<String> { (0..count).map(|number| format!("s{number}")).collect() };
        assert!(check_names(&names(12)).is_ok());
        let CliError::Usage(many) = check_names(&names(13)).unwrap_err() else {
            panic!("not a usage error")
        };
        assert!(many.contains("found 13 devices, expected at most 12"), "{many}");
        let twice = [names(2), names(1)].concat();
        assert!(matches!(check_names(&twice), Err(CliError::Usage(why)) if why.contains("`s0` twice")));
    }
}
