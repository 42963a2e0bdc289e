//! Errors of the lab.

use netburn_network::NetworkError;
use serde::{Deserialize, Serialize};
use std::io;

/// Feature of the kernel that an operation of the helper process needs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Requirement {
    /// TUN devices.
    TunDevice,
    /// A congestion control algorithm.
    CongestionControl,
    /// None that users can enable.
    Other,
}

/// Error of opening or using a lab.
#[derive(Debug, thiserror::Error)]
pub enum LabError {
    /// The plan's network is invalid.
    #[error(transparent)]
    Network(#[from] NetworkError),
    /// The plan has more stations than there are addresses.
    #[error("too many stations: found {0}, expected at most {max}", max = crate::address::MAX_STATIONS)]
    TooManyStations(usize),
    /// The limit of open files is too low.
    #[error(
        "the limit of open files is too low: found {limit} (`ulimit -Hn`), expected {needed} for {stations} stations; raise the \
         limit or use fewer stations"
    )]
    OpenFileLimit {
        /// Number of stations.
        stations: usize,
        /// Number of open files that the lab needs.
        needed: u64,
        /// Hard limit of this process.
        limit: u64,
    },
    /// The limit of processes and threads is reached.
    #[error("can't start a process or a thread: this user's limit of processes is {0} (`ulimit -u`)")]
    ProcessLimit(u64),
    /// The helper process could not be started.
    #[error("can't start the lab's helper process: {0}")]
    Start(#[source] io::Error),
    /// The helper process could not create its namespaces.
    #[error("can't create namespaces: {0}")]
    Namespaces(#[source] io::Error),
    /// The helper process failed to execute a request.
    #[error("can't {what}: {error}")]
    Operation {
        /// The feature of the kernel that the operation needs.
        needs: Requirement,
        /// The failed operation, as a verb phrase.
        what: String,
        /// Cause.
        error: io::Error,
    },
    /// A program could not be started.
    #[error("can't start {name}: {error}")]
    Program {
        /// Name of the program.
        name: String,
        /// Cause.
        error: io::Error,
    },
    /// The helper process has exited.
    #[error("the lab's helper process has exited: {0}")]
    HelperExited(String),
    /// No node has this name.
    #[error("unknown station `{0}`; expected one of: {1}")]
    UnknownNode(String, String),
    /// Captures could not be written.
    #[error("can't write captures: {0}")]
    Capture(#[source] io::Error),
    /// The forwarding thread could not be started.
    #[error("can't forward packets: {0}")]
    Forward(#[source] io::Error),
}

impl LabError {
    /// Converts the error of a start of a process or a thread. `other` converts an error that no limit has caused.
    pub(crate) fn starting(error: io::Error, other: impl FnOnce(io::Error) -> LabError) -> LabError {
        // Above the limit, fork(2) and clone(2) return EAGAIN.
        match netburn_platform::process::process_limit() {
            Ok(limit) if error.kind() == io::ErrorKind::WouldBlock => LabError::ProcessLimit(limit),
            _ => other(error),
        }
    }
}
