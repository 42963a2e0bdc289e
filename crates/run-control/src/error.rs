//! Errors of the controller of a run, and of its agents and server.

use crate::join::JoinVariableError;
use netburn_protocol::messages::{Bye, MAX_TO_AGENT, Malformed, Rejected};
use netburn_protocol::transport::ChannelError;
use netburn_record::Loss;
use netburn_units::Duration;
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
    /// The fleet's controller rejected the run.
    #[error("the fleet's controller rejected the run: {}", .0.reason)]
    Rejected(Rejected),
    /// The server is not available. Contains the names of the lost servers.
    #[error("no server to measure against: {}", listed(.0))]
    NoServer(Vec<(String, Loss)>),
    /// No agent is available. Contains the names of the lost agents.
    #[error("no agent is ready: {}", listed(.0))]
    NoAgents(Vec<(String, Loss)>),
    /// A run that needs all agents can't begin without one. Contains its name and the reason.
    #[error("{0}")]
    Missing(String),
    /// A row can't be stored. The run was ended.
    #[error("results can't be stored: {0}")]
    Storage(#[source] io::Error),
}

/// Error of an agent or server: it did not do its part in the run, or not all of it.
#[derive(Debug, thiserror::Error)]
pub enum AgentError {
    /// The process has no connection parameters.
    #[error(transparent)]
    JoinVariable(#[from] JoinVariableError),
    /// The system did not start the event loop of the process.
    #[error("can't start the event loop: {0}")]
    EventLoop(#[source] io::Error),
    /// The first connection to the controller failed.
    #[error("can't connect to the controller: {0}")]
    Connect(#[source] ConnectionError),
    /// The connection to the controller is lost.
    #[error("the connection to the controller is lost: {0}")]
    ControllerLost(#[source] ConnectionError),
    /// The process that started this one has ended.
    #[error("the parent process has ended")]
    ParentEnded,
    /// The rows can't be read from the spool.
    #[error("the spool can't be read: {0}")]
    Spool(#[source] io::Error),
    /// The run ended before the controller had all rows. They remain in the spool.
    #[error("the run ended before all results were delivered")]
    Undelivered,
    /// The run ended or did not begin, with the controller's reason.
    #[error("{}", bye_reason(.0))]
    RunEnded(Bye),
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

/// Reason for which there is no connection to a controller: it can't be opened, or it ended.
#[derive(Debug, thiserror::Error)]
pub enum ConnectionError {
    /// No attempt to connect has ended yet.
    #[error("no connection yet")]
    NotConnected,
    /// The controller can't be reached.
    #[error(transparent)]
    Unreachable(#[from] Box<dyn std::error::Error + Send + Sync>),
    /// The channel failed, or the peer closed it.
    #[error(transparent)]
    Channel(#[from] ChannelError),
    /// The controller sent a message that can't be parsed.
    #[error(transparent)]
    Malformed(#[from] Malformed),
    /// The controller did not answer within this time.
    #[error("no answer for {0}")]
    NoAnswer(Duration),
    /// The controller sent no message for this time.
    #[error("no message for {0}")]
    Silent(Duration),
    /// Sending one message took longer than this time.
    #[error("sending a message took longer than {0}")]
    SendTimeout(Duration),
    /// The first message of the controller is not `welcome`.
    #[error("unexpected message before `welcome`")]
    OutOfOrder,
    /// The controller rejected the connection.
    #[error("it rejected the connection: {}", .0.reason)]
    Rejected(Rejected),
    /// The controller closed the connection with this reason.
    #[error("{}", bye_reason(.0))]
    Bye(Bye),
    /// No process holds the run any more.
    #[error("the run is no longer held: its `netburn run` has ended")]
    UnknownRun,
    /// The session is over, or its only connection was used.
    #[error("the session has ended")]
    SessionEnded,
}

/// Human-readable reason of a `bye`.
fn bye_reason(bye: &Bye) -> &str {
    bye.reason.as_deref().unwrap_or("no reason given")
}

/// Losses with their names: `laptop: it did not join in time; tv: it left`.
fn listed(lost: &[(String, Loss)]) -> String {
    let each: Vec<String> = lost.iter().map(|(name, loss)| format!("{name}: {loss}")).collect();
    each.join("; ")
}
