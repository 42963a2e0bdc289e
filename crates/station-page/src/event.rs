//! Events of a measurement, its commands and replies.

use crate::assignment::AssignmentError;
use netburn_protocol::messages::{Assign, Batch};
use netburn_record::Health;
use serde::Serialize;

/// Event of the page. Its time is in ns since the start of the run.
#[derive(Debug, Clone, PartialEq)]
pub enum Event {
    /// An assignment. The reply has the `assignment`, or an `error`.
    Assign(Box<Assign>),
    /// The server was found, and the data channel was opened or not. The reply has the `notes`.
    Ready {
        /// Reason why there is no data channel.
        channel_error: Option<String>,
        /// Number of ports of the server.
        ports: usize,
        /// Resolution of the page's clock, in ns.
        resolution: u64,
    },
    /// The run starts, or continues after a reload of the page.
    Start {
        /// True if there is a data channel.
        channel: bool,
        /// Unpredictable numbers: two for each workload.
        random: Vec<u64>,
        /// State of the reply to [`Event::Save`] before the reload.
        saved: Option<serde_json::Value>,
        /// True if the measurement was over before the reload. The page then only displays its results.
        over: bool,
        /// Results of the reply to [`Event::Results`] before the reload.
        results: Option<serde_json::Value>,
    },
    /// Idle latency is measured until this time.
    Idle {
        /// End of the measurement.
        until: i64,
    },
    /// The time of the last reply is reached.
    Timeout,
    /// A new connection was established for a request.
    Connected {
        /// Number of the request.
        request: u64,
        /// Time of the connection.
        at: i64,
    },
    /// Content was received or sent.
    Bytes {
        /// Number of the request.
        request: u64,
        /// Bytes since the last event of the request.
        bytes: u64,
    },
    /// A request is complete.
    Finished {
        /// Number of the request.
        request: u64,
    },
    /// A request failed.
    Failed {
        /// Number of the request.
        request: u64,
        /// Place of the failure.
        failure: Failure,
    },
    /// Datagrams could not be sent.
    Unsent {
        /// Number of datagrams.
        count: u64,
    },
    /// Something happened on the page that makes results unreliable.
    Warn {
        /// Start of the time in which results are unreliable.
        from: i64,
        /// Length of this time, in ns.
        length: u64,
        /// Description for people.
        text: String,
    },
    /// Rows are due: the reply has the `batches`.
    Flush,
    /// All operations end now.
    Stop,
    /// The page ends without results of the operations in flight.
    Abandon,
    /// The reply has the state to `save`.
    Save,
    /// The reply has the `results` to save, which only the page displays.
    Results,
    /// The reply has the `cards`.
    View {
        /// True during the run.
        live: bool,
    },
    /// The reply has the `health` report.
    Health {
        /// Name of the agent.
        name: String,
    },
}

/// Failure of a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Failure {
    /// Before the first byte. A browser does not report the cause.
    Dial,
    /// After the first byte.
    Connection,
    /// The response differs from the request.
    Answer,
}

/// Command to the page.
#[derive(Debug, Clone, PartialEq)]
pub enum Command {
    /// Transfer an object.
    Begin {
        /// Number of the request.
        request: u64,
        /// Number of the server's port.
        lane: usize,
        /// True for an upload.
        up: bool,
        /// Path and query.
        path: String,
        /// Size of the object in bytes.
        size: u64,
        /// Fetch priority. It orders a browser's requests and does not set a DSCP.
        priority: &'static str,
    },
    /// Abort a request.
    Cancel {
        /// Number of the request.
        request: u64,
    },
}

/// Reply to an event. Absent fields do not belong to the event.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Reply {
    /// Commands, in order.
    pub commands: Vec<Command>,
    /// Time of the next [`Event::Timeout`]; absent while no workload is active.
    pub timeout: Option<i64>,
    /// True if all workloads of the load have ended.
    pub settled: bool,
    /// The assignment.
    pub assignment: Option<Assigned>,
    /// Reason why an assignment is not accepted.
    pub error: Option<AssignmentError>,
    /// Restrictions of the browser for the record.
    pub notes: Vec<String>,
    /// Rows, in batches of limited size, each with their number.
    pub batches: Vec<CountedBatch>,
    /// State or results.
    pub saved: Option<serde_json::Value>,
    /// Values of the workloads for display.
    pub cards: Vec<Card>,
    /// The self-report.
    pub health: Option<Health>,
}

/// A batch and its number of rows.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct CountedBatch {
    /// Number of rows.
    pub rows: usize,
    /// The rows.
    pub batch: Batch,
}

/// An assignment, as far as the page needs it. Times are in ns.
#[derive(Debug, Clone, PartialEq)]
pub struct Assigned {
    /// Title of the run.
    pub title: String,
    /// Duration of the load.
    pub duration: u64,
    /// Time before the load in which idle latency is measured.
    pub baseline: u64,
    /// True if the server uses TLS.
    pub tls: bool,
    /// True if a workload needs a data channel.
    pub needs_channel: bool,
    /// Number of workloads.
    pub workloads: usize,
}

/// Values of a workload as displayed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Card {
    /// Kind of the workload.
    pub label: &'static str,
    /// Name of the workload.
    pub name: String,
    /// Verdict; `report` if only the report judges the goals.
    pub verdict: &'static str,
    /// Main value.
    pub value: String,
    /// Unit of the value.
    pub unit: String,
    /// Further values.
    pub line: String,
}
