//! Why there is no lab, or something can't be done in it.

use netburn_network::NetworkError;
use std::io;

/// Why there is no lab, or something can't be done in it.
#[derive(Debug, thiserror::Error)]
pub enum LabError {
    /// This system isn't Linux.
    #[error("it stands on network namespaces and TUN devices as Linux has them, and this system is another")]
    Elsewhere,
    /// The plan's network can't be.
    #[error(transparent)]
    Network(#[from] NetworkError),
    /// More stations than there are addresses.
    #[error("the lab has addresses for {most} stations, not for {0}", most = crate::address::MOST_STATIONS)]
    TooMany(usize),
    /// More open files than this process may have.
    #[error(
        "a lab of {stations} stations takes {needed} open files, and this process may have {limit} (`ulimit -Hn`): raise that limit, or \
         take fewer stations"
    )]
    Files {
        /// The stations.
        stations: usize,
        /// The open files that they take.
        needed: u64,
        /// The hard limit.
        limit: u64,
    },
    /// The helper can't be started.
    #[error("the lab's helper can't be started: {0}")]
    Start(#[source] io::Error),
    /// The helper can't isolate itself.
    #[error("namespaces can't be made: {0}")]
    Namespaces(#[source] io::Error),
    /// The helper can't do something.
    #[error("can't {what}: {error}")]
    Refused {
        /// What.
        what: String,
        /// Why.
        error: io::Error,
    },
    /// A program can't be started.
    #[error("can't start {name}: {error}")]
    Program {
        /// Its name.
        name: String,
        /// Why.
        error: io::Error,
    },
    /// The helper has ended.
    #[error("the lab's helper has ended: {0}")]
    Gone(String),
    /// There is no such node.
    #[error("there is no station `{0}`; there are: {1}")]
    NoNode(String, String),
    /// Captures can't be written.
    #[error("captures can't be written: {0}")]
    Capture(#[source] io::Error),
    /// The thread that carries packets can't run.
    #[error("packets can't be carried: {0}")]
    Carry(#[source] io::Error),
}
