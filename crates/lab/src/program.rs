//! Programs that run in a lab.

use serde::{Deserialize, Serialize};
use std::ffi::OsString;
use std::os::fd::OwnedFd;

/// A program to run at a node.
#[derive(Debug)]
pub struct Program {
    /// Path of the program, followed by its arguments.
    pub arguments: Vec<OsString>,
    /// Environment variables in addition to those of this process.
    pub environment: Vec<(OsString, OsString)>,
    /// Standard input, output and error.
    pub files: [OwnedFd; 3],
    /// True if the program gets its own process group, so that an interrupt from the terminal does not reach it.
    pub own_group: bool,
}

/// Reason why a program no longer runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum ProcessExit {
    /// Exited with this status.
    Status(u32),
    /// Killed by this signal.
    Signal(u32),
    /// Killed because the lab was closed.
    LabClosed,
}
