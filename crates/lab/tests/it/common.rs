//! Helpers that open a lab and run programs in it.

use netburn_lab::{Lab, LabProcess, ProcessExit, Program};
use netburn_platform::Monotonic;
use netburn_scenario::Plan;
use std::fs::File;
use std::io::Read;
use std::os::fd::OwnedFd;
use std::process::Command;

/// Returns the plan of a built-in scenario with these changes.
pub(crate) fn plan(name: &str, set: &[(&str, &str)]) -> Plan {
    let mut document = netburn_scenario::load(name).unwrap();
    for (key, value) in set {
        document.set(key, value).unwrap();
    }
    document.resolve_for(netburn_scenario::Environment::Lab).unwrap().0
}

/// Opens a lab and starts its network.
pub(crate) fn open(plan: &Plan) -> Lab {
    let lab = Lab::open(plan, helper()).unwrap();
    lab.start(Monotonic::now() + plan.baseline).unwrap();
    lab
}

pub(crate) fn helper() -> Command {
    Command::new(env!("CARGO_BIN_EXE_netburn-lab-init"))
}

/// A program at an endpoint, with its output.
pub(crate) struct Running {
    pub(crate) guest: LabProcess,
    output: File,
}

/// Starts a program. Its standard error is that of the test.
pub(crate) fn start(lab: &Lab, at: &str, arguments: &[&str]) -> Running {
    let (output, theirs) = std::io::pipe().unwrap();
    let program = Program {
        arguments: arguments.iter().map(Into::into).collect(),
        environment: Vec::new(),
        files: [
            OwnedFd::from(File::open("/dev/null").unwrap()),
            OwnedFd::from(theirs),
            std::os::fd::AsFd::as_fd(&std::io::stderr())
                .try_clone_to_owned()
                .unwrap(),
        ],
        own_group: true,
    };
    let guest = lab.spawn(lab.endpoint(at).unwrap(), program).unwrap();
    Running {
        guest,
        output: File::from(OwnedFd::from(output)),
    }
}

impl Running {
    /// Waits for the exit. Returns its status and its output.
    pub(crate) fn text(mut self) -> (ProcessExit, String) {
        let mut text = String::new();
        self.output.read_to_string(&mut text).unwrap();
        (self.guest.wait(), text)
    }

    /// Waits for one line of output.
    pub(crate) fn line(&mut self) -> String {
        let mut line = Vec::new();
        let mut byte = [0];
        while self.output.read(&mut byte).unwrap() == 1 && byte[0] != b'\n' {
            line.push(byte[0]);
        }
        String::from_utf8(line).unwrap()
    }
}
