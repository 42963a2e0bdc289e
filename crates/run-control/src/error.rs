//! Errors of the controller of a run, and of its agents and server.

use netburn_protocol::messages::{MAX_TO_AGENT, RejectReason};
use std::io;

/// Error of the controller: the run has no result, or its rows can't be stored.
#[derive(Debug, thiserror::Error)]
pub enum ControllerError {
    /// The controller can't listen.
    #[error("can't listen for agents: {0}")]
    Listen(#[source] io::Error),
    /// A process can't be started.
    #[error("can't start {name}: {source}")]
    Launch {
        /// Name of the agent or server.
        name: String,
        /// Cause.
        source: io::Error,
    },
    /// The plan does not fit into a message.
    #[error("invalid assignment: the plan is {length} bytes long; a message holds {MAX_TO_AGENT}")]
    PlanTooLong {
        /// Length of the serialized plan in bytes.
        length: usize,
    },
    /// A member is in another run.
    #[error("{0}; simultaneous runs disturb each other")]
    Busy(String),
    /// The server is not available.
    #[error("no server to measure against: {0}")]
    NoServer(String),
    /// No agent is available.
    #[error("no agent is ready: {0}")]
    NoAgents(String),
    /// A row can't be stored. The run was ended.
    #[error("results can't be stored: {0}")]
    Storage(#[source] io::Error),
}

/// Error of an agent or server: it did not do its part in the run, or not all of it.
#[derive(Debug, thiserror::Error)]
pub enum AgentError {
    /// The controller can't be reached, or the peer is not a controller.
    #[error("can't connect to the controller: {0}")]
    Join(String),
    /// The controller rejected the connection.
    #[error("the controller rejected the connection: {reason}")]
    Rejected {
        /// Reason for programs.
        code: RejectReason,
        /// Human-readable reason.
        reason: String,
    },
    /// The connection to the controller is lost.
    #[error("the connection to the controller is lost: {0}")]
    ControllerLost(String),
    /// The run ended or did not begin, with the reason.
    #[error("{0}")]
    RunEnded(String),
    /// No process holds the run any more.
    #[error("the run is no longer held: its `netburn run` has ended")]
    UnknownRun,
    /// It rejected its part.
    #[error("rejected its part: {0}")]
    Declined(String),
    /// The part ended early. The measured rows are delivered.
    #[error("its part ended early: {0}; its results so far are delivered")]
    EndedEarly(String),
    /// The task in this process failed.
    #[error("the part failed: {0}")]
    Failed(#[source] tokio::task::JoinError),
}
