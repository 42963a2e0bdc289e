//! Opening of a lab: messages for users, and remedies for errors.

use crate::exit::CliError;
use crate::program::program;
use crate::terminal::eprint_message;
use netburn_lab::{DeviceKind, Lab, LabError, Requirement};
use netburn_report::sanitise::sanitise;
use netburn_runner::open_lab;
use netburn_scenario::Plan;
use std::io;

/// Number of stations from which netburn prints how long a lab takes to open.
const MANY: usize = 100;
/// Time to open a station on a busy machine with two cores, in ms. For each network namespace, the kernel waits for all
/// processors several times.
const OPENING_MS: usize = 40;

pub(crate) fn open(plan: &Plan) -> Result<Lab, CliError> {
    announce_opening(plan);
    open_lab(plan, &program()?).map_err(|error| no_lab(&error))
}

/// The error for a lab that can't be opened.
pub(crate) fn no_lab(error: &LabError) -> CliError {
    match error {
        // The machine permits a lab. The helper process of this one has exited.
        LabError::HelperExited(_) => CliError::Failed(format!("no lab: {error}")),
        error => CliError::Usage(format!(
            "no lab: {}. `--on simulate` models the same without it",
            explained(error)
        )),
    }
}

/// Prints how long it takes to open a lab of many stations.
pub(crate) fn announce_opening(plan: &Plan) {
    if plan.stations.len() > MANY {
        let seconds = plan.stations.len() * OPENING_MS / 1000;
        eprint_message(&format!(
            "opening a lab of {} stations, which may take {seconds} s; closing it takes as long",
            plan.stations.len()
        ));
    }
}

/// Prints the devices of the lab and the features that the machine does not permit.
pub(crate) fn announce(lab: &Lab) {
    // One of the notes explains the replacement.
    if lab.device() == DeviceKind::Tun {
        eprint_message(&format!("stations use {}", lab.device()));
    }
    for note in lab.notes() {
        eprint_message(&format!("note: {}", sanitise(note)));
    }
}

/// The devices of a lab's stations.
pub(crate) fn devices(lab: &Lab) -> String {
    lab.device().to_string()
}

/// The reason why the lab can't be opened, and a remedy.
pub(crate) fn explained(error: &LabError) -> String {
    let hint = match error {
        // The kernel's error for a limit on namespaces.
        LabError::Namespaces(why) | LabError::Operation { error: why, .. }
            if why.kind() == io::ErrorKind::StorageFull =>
        {
            return match namespace_limit() {
                Some((name, limit)) => {
                    format!("{error} ({name} is {limit}; `netburn doctor` prints what raises it)")
                }
                None => error.to_string(),
            };
        }
        LabError::ProcessLimit(_) => {
            "`ulimit -u 4096` raises it, if the hard limit permits; or end other programs of this user"
        }
        LabError::Namespaces(_) => {
            "this machine permits no user namespaces to this user; `netburn doctor` prints what permits them"
        }
        LabError::Operation {
            needs: Requirement::TunDevice,
            error,
            ..
        } if error.kind() == io::ErrorKind::PermissionDenied => {
            "this user may not open /dev/net/tun; `sudo chmod 0666 /dev/net/tun` permits it until the next boot"
        }
        LabError::Operation {
            needs: Requirement::TunDevice,
            ..
        } => "there is no /dev/net/tun: `sudo modprobe tun`, or for a container `--device /dev/net/tun`",
        LabError::Operation {
            needs: Requirement::CongestionControl,
            ..
        } => "the kernel lacks that congestion control; `sudo modprobe tcp_NAME` may load it",
        _ => return error.to_string(),
    };
    format!("{error} ({hint})")
}

/// The lowest limit on namespaces, which is reached first.
pub(crate) fn namespace_limit() -> Option<(String, u64)> {
    netburn_lab::namespace_limits()
        .into_iter()
        .min_by_key(|(_, limit)| *limit)
}
