//! Hosts of the endpoints: each runs a kernel with a device of the lab, and programs.

use crate::engine::lock;
use crate::error::LabError;
use crate::helper::Helper;
use crate::init::message::{Answer, OsBytes, ProcessSpec, Request};
use crate::processes;
use crate::program::Program;
use netburn_platform::links::Links;
use std::fmt::Debug;
use std::io;
use std::os::fd::{AsFd, AsRawFd, OwnedFd};
use std::sync::{Arc, Mutex};

/// Host of one endpoint.
pub(crate) trait StationHost: Debug + Send + Sync {
    /// Starts a program, which has the number `id` in events. It sees the host name `host_name`.
    fn spawn(&self, id: u32, host_name: &str, program: &Program) -> Result<(), LabError>;

    /// Sends a signal to a program. Fails only if the host has ended, and with it all programs.
    fn signal(&self, id: u32, signal: i32);

    /// Returns whether a process listens at a TCP port.
    fn listens(&self, port: u16) -> Result<bool, LabError>;

    /// Returns the name of the program that is opening a connection from port `from` to `port`, if there is one.
    fn client_program(&self, from: u16, port: u16) -> Option<String>;

    /// Returns the names of the running programs.
    fn programs(&self) -> Vec<String>;

    /// Returns a shell command that starts other programs at this host.
    fn enter_command(&self) -> String;

    /// Returns whether the device was taken down or removed since the last call.
    fn is_interface_down(&self) -> io::Result<bool>;
}

/// A network namespace of this machine. The helper process starts its programs.
#[derive(Debug)]
pub(crate) struct NamespaceHost {
    pub(crate) helper: Arc<Mutex<Helper>>,
    /// Number of the node in messages to the helper.
    pub(crate) node: u32,
    pub(crate) namespace: OwnedFd,
    /// Link events of the namespace.
    pub(crate) links: Links,
    /// Interface index of the device.
    pub(crate) index: u32,
    /// True if the helper is in a user namespace.
    pub(crate) in_user_namespace: bool,
    /// Soft limit of open files for programs.
    pub(crate) open_files: u32,
}

impl StationHost for NamespaceHost {
    fn spawn(&self, id: u32, host_name: &str, program: &Program) -> Result<(), LabError> {
        let environment = program.environment.iter();
        let request = Request::Run(ProcessSpec {
            id,
            node: self.node,
            own_group: program.own_group,
            host_name: host_name.to_owned(),
            open_files: self.open_files,
            arguments: program.arguments.iter().map(OsBytes::from).collect(),
            environment: environment.map(|(name, value)| (name.into(), value.into())).collect(),
        });
        let files = program.files.each_ref().map(AsFd::as_fd);
        lock(&self.helper).request(&request, &files).map(drop)
    }

    fn signal(&self, id: u32, signal: i32) {
        let _ = lock(&self.helper).send(&Request::Signal(id, signal), &[]);
    }

    fn listens(&self, port: u16) -> Result<bool, LabError> {
        match lock(&self.helper).request(&Request::Listens(self.node, port), &[])? {
            (Answer::Listens(listens), _) => Ok(listens),
            _ => Err(LabError::HelperExited("unexpected reply".to_owned())),
        }
    }

    fn client_program(&self, from: u16, port: u16) -> Option<String> {
        processes::client_program(self.namespace.as_fd(), from, port)
    }

    fn programs(&self) -> Vec<String> {
        processes::names(self.namespace.as_fd())
    }

    fn enter_command(&self) -> String {
        let (helper, here) = (lock(&self.helper).id(), std::process::id());
        let network = self.namespace.as_raw_fd();
        let user = if self.in_user_namespace {
            format!("--preserve-credentials --user=/proc/{helper}/ns/user ")
        } else {
            String::new()
        };
        format!(
            "nsenter {user}--mount=/proc/{helper}/ns/mnt \
             --pid=/proc/{helper}/ns/pid_for_children --net=/proc/{here}/fd/{network}"
        )
    }

    fn is_interface_down(&self) -> io::Result<bool> {
        self.links.went_down(self.index)
    }
}
