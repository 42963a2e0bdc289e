//! Programs that run in a lab.

use std::ffi::OsString;
use std::os::fd::OwnedFd;

/// A program to be run at a node.
#[derive(Debug)]
pub struct Program {
    /// It and its arguments.
    pub arguments: Vec<OsString>,
    /// Variables beyond this process's own.
    pub environment: Vec<(OsString, OsString)>,
    /// Standard input, output and error.
    pub files: [OwnedFd; 3],
    /// Whether it gets a process group of its own, so that an interrupt from the terminal doesn't reach it.
    pub own_group: bool,
}

/// How a program ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ended {
    /// With this exit status.
    Status(u32),
    /// Killed by this signal.
    Signal(u32),
    /// With the lab.
    WithLab,
}
