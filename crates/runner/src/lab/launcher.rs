//! Starts agents and the server inside a lab.

use netburn_lab::{Lab, LabProcess, ProcessExit, Program, address};
use netburn_network::Endpoint;
use netburn_record::Role;
use netburn_run_control::join::{INHERITED, VARIABLE};
use netburn_run_control::{Child, Join, Launcher};
use std::fs::OpenOptions;
use std::io;
use std::net::IpAddr;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};

/// Starts processes inside a lab: the server in the server's namespace, each agent at the station of its name.
pub(crate) struct LabLauncher<'a> {
    lab: &'a Lab,
    program: PathBuf,
}

impl<'a> LabLauncher<'a> {
    pub(crate) fn new(lab: &'a Lab, program: &Path) -> Self {
        LabLauncher {
            lab,
            program: program.to_owned(),
        }
    }
}

impl Launcher for LabLauncher<'_> {
    fn spawn(&mut self, join: &Join) -> io::Result<Box<dyn Child>> {
        let (end, arguments) = match join.role {
            Role::Agent => (self.lab.endpoint(&join.name).map_err(io::Error::other)?, &["agent"][..]),
            Role::Server => (Endpoint::Server, &["serve", "--join"][..]),
        };
        let (ours, theirs) = UnixStream::pair()?;
        let join = Join {
            url: INHERITED.to_owned(),
            ..join.clone()
        };
        let words = arguments.iter().map(Into::into);
        let program = Program {
            arguments: std::iter::once(self.program.clone().into_os_string())
                .chain(words)
                .collect(),
            environment: vec![(VARIABLE.into(), join.to_text().into())],
            files: [
                OwnedFd::from(theirs),
                OwnedFd::from(OpenOptions::new().write(true).open("/dev/null")?),
                io::stderr().as_fd().try_clone_to_owned()?,
            ],
            own_group: true,
        };
        let process = self.lab.spawn(end, program).map_err(io::Error::other)?;
        Ok(Box::new(LabChild {
            process,
            control: Some(ours),
        }))
    }

    fn server(&self) -> Option<IpAddr> {
        Some(IpAddr::V4(address::v4(Endpoint::Server)))
    }
}

/// Process of an agent or of the server inside a lab.
struct LabChild {
    process: LabProcess,
    control: Option<UnixStream>,
}

impl Child for LabChild {
    fn id(&self) -> Option<u32> {
        None
    }

    fn ended(&mut self) -> Option<String> {
        self.process.ended().map(|ended| match ended {
            ProcessExit::Status(status) => format!("exit status {status}"),
            ProcessExit::Signal(signal) => format!("killed by signal {signal}"),
            ProcessExit::LabClosed => "the lab has ended".to_owned(),
        })
    }

    fn kill(&mut self) {
        self.process.signal(9);
        self.process.wait();
    }

    fn control(&mut self) -> Option<UnixStream> {
        self.control.take()
    }
}
