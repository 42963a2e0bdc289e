//! Messages between a controller and the agents and server of one run: JSON, one object per message,
//! distinguished by `type`.
//!
//! An agent drives stations; the server answers their requests. Both use the same messages. The order of a
//! run:
//!
//! ```text
//! agent or server                               controller
//!   hello {protocol, role, name, token}    ─→
//!                                          ←─   welcome, or rejected {code, reason} and close
//!   pong {id, received, sent}              ←→   ping {id}                many times, before and after the run
//!                                          ←─   assign (agents), serve (the server)
//!   ready {server's addresses}             ─→
//!                                          ←─   start {at, on the receiver's own clock}
//!   rows {sequence, batch}                 ─→
//!                                          ←─   ack {sequence}
//!   progress {at, pending}                 ─→                            every 250 ms, as a heartbeat
//!                                          ←─   stop {reason}            to end early; always sent to the server
//!   health, done                           ─→                            when all rows are acknowledged
//!                                          ←─   bye
//! ```
//!
//! Times are integer nanoseconds. `pong` and `start` use the sender's or receiver's own monotonic clock.
//! Rows and `progress` use the time since the start of the run on that clock. The JSON Schema of all
//! messages is `docs/reference/protocol.schema.json`.

mod health;
mod reject_reason;
mod rejection;
mod rows;
pub mod standing;
#[cfg(test)]
mod tests;

pub use reject_reason::RejectReason;
pub use rejection::Rejection;
pub use rows::{Batch, MAX_BATCH_EVENTS, MAX_BATCH_LINKS, MAX_BATCH_ROWS, WrongRow};

use netburn_record::{Health, Role};
use netburn_units::Duration;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize, de::DeserializeOwned};
use std::net::{IpAddr, SocketAddr};

/// Version of this protocol. Both sides must use the same version.
pub const VERSION: u32 = 1;

/// Maximum length of a message to the controller, in bytes of JSON: 1 MiB.
pub const MAX_TO_CONTROLLER: usize = 1 << 20;

/// Maximum length of a message to an agent or server, in bytes of JSON: 16 MiB, because it contains the
/// plan.
pub const MAX_TO_AGENT: usize = 16 << 20;

/// Maximum length of an event text, a reason or a version, in bytes. Longer texts are truncated before
/// sending.
pub const MAX_TEXT: usize = 4096;

/// Maximum length of the name of an agent or server, in bytes.
pub const MAX_NAME: usize = 64;

/// Maximum length of the name of a run, in bytes.
pub const MAX_RUN_NAME: usize = 128;

/// Maximum number of further addresses of a server.
pub const MAX_ALTERNATIVES: usize = 4;

/// Maximum number of further ports of a server.
pub const MAX_MORE_PORTS: usize = 7;

/// Message to the controller.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "type", rename_all = "kebab-case")]
pub enum ToController {
    /// Identity of the sender. Only valid as the first message.
    Hello(Hello),
    /// Immediate answer to a ping.
    Pong(Pong),
    /// The sender is ready to start.
    Ready(Ready),
    /// Measured rows.
    Rows(Rows),
    /// Heartbeat during the run.
    Progress(Progress),
    /// Self-report on the measurement, once, at the end.
    Health(HealthMessage),
    /// The part of the sender is over, and all its rows are acknowledged.
    Done(Done),
    /// The sender leaves.
    Bye(Bye),
}

/// Message from the controller to an agent or the server.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "type", rename_all = "kebab-case")]
pub enum ToAgent {
    /// The connection is accepted.
    Welcome(Welcome),
    /// A message was rejected. Before `welcome` the connection closes after this; later only the rejected
    /// message is ignored.
    Rejected(Rejected),
    /// Request for an immediate pong.
    Ping(Ping),
    /// Part of an agent in the run.
    Assign(Assign),
    /// Part of the server in the run.
    Serve(Serve),
    /// Start time.
    Start(Start),
    /// All rows up to this sequence number are stored.
    Ack(Ack),
    /// The receiver must end now and deliver the rows that it has.
    Stop(Stop),
    /// The session is complete; the connection closes.
    Bye(Bye),
}

/// See [`ToController::Hello`].
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Hello {
    /// Protocol version of the sender.
    pub protocol: u32,
    /// Role of the sender.
    #[schemars(with = "health::RoleSchema")]
    pub role: Role,
    /// Name: letters, digits and `-`, at most 64 bytes, unique in the fleet.
    pub name: String,
    /// Token of the fleet or of the run.
    pub token: String,
    /// Program and version, for people.
    pub version: String,
    /// The sender was connected to this run before and lost its connection. Default: `false`.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub reconnect: bool,
}

/// See [`ToAgent::Welcome`].
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Welcome {
    /// Protocol version of the controller.
    pub protocol: u32,
    /// Program and version, for people.
    pub version: String,
    /// After a reconnect: the last sequence number of rows that the controller received. The sender
    /// continues after it. Default: 0.
    #[serde(default)]
    pub last_sequence: u64,
}

/// See [`ToAgent::Rejected`].
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Rejected {
    /// Reason for programs.
    #[serde(default)]
    pub code: RejectReason,
    /// Reason for people.
    pub reason: String,
}

/// See [`ToAgent::Ping`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Ping {
    /// Number of the ping, repeated in the pong.
    pub id: u64,
}

/// See [`ToController::Pong`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Pong {
    /// Number of the ping.
    pub id: u64,
    /// Time of arrival of the ping, in ns of the sender's own clock.
    pub received: i64,
    /// Time of sending of this pong, in ns of the sender's own clock.
    pub sent: i64,
}

/// See [`ToAgent::Assign`].
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Assign {
    /// The whole resolved plan, as a scenario document (`Plan::to_json`).
    pub plan: serde_json::Value,
    /// Stations that the agent drives, by their numbers in the plan.
    pub stations: Vec<u16>,
    /// Server to measure against.
    pub target: ServerAddress,
}

/// Address of a server.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ServerAddress {
    /// Address and port of the HTTP server.
    #[schemars(with = "String")]
    pub address: SocketAddr,
    /// UDP port of the datagram echo, at the same address.
    pub datagram_port: u16,
    /// SHA-256 of the certificate (DER), in hexadecimal; absent without TLS.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fingerprint: Option<String>,
    /// Further IP addresses of the server, with the same ports, for devices that can't reach `address`: at most
    /// 4.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(with = "Vec<String>")]
    pub alternatives: Vec<IpAddr>,
    /// Further TCP ports of the HTTP server, for browsers: at most 7. A browser opens 6 connections
    /// to each port. With a port for each workload, no workload waits for the connections of another one.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub more_ports: Vec<u16>,
}

impl ServerAddress {
    /// A server without TLS, with one address and one TCP port.
    #[must_use]
    pub fn new(address: SocketAddr, datagram_port: u16) -> Self {
        ServerAddress {
            address,
            datagram_port,
            fingerprint: None,
            alternatives: Vec::new(),
            more_ports: Vec::new(),
        }
    }

    /// The address with at most [`MAX_ALTERNATIVES`] and [`MAX_MORE_PORTS`]. The server may be another user's device.
    #[must_use]
    pub fn limited(mut self) -> Self {
        self.alternatives.truncate(MAX_ALTERNATIVES);
        self.more_ports.truncate(MAX_MORE_PORTS);
        self
    }
}

/// See [`ToAgent::Serve`].
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Serve {
    /// The whole resolved plan, as a scenario document (`Plan::to_json`).
    pub plan: serde_json::Value,
    /// Maximum rate in each direction, over all connections, in bit/s.
    pub rate_bps: u64,
}

/// See [`ToController::Ready`].
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
pub struct Ready {
    /// Address of the sender, if it is the server.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub server: Option<ServerAddress>,
    /// Reachability of the server, if an agent probed it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reach: Option<Reach>,
    /// The agent measures against its own server, not against the server of the run. Default: `false`.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub own_server: bool,
    /// Notes on the measurement for the reader of the results, such as missing abilities of a browser.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
}

/// Result of probing the server before the run.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
pub struct Reach {
    /// Error over TCP; `None` if the server answered and consented.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tcp: Option<String>,
    /// Error over UDP; `None` if datagrams returned, or if no datagrams are needed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub datagrams: Option<String>,
}

/// See [`ToAgent::Start`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Start {
    /// Start of the load (time zero of the run), in ns of the receiver's own clock. The baseline precedes
    /// it.
    pub at: i64,
}

/// Maximum time from now to the start, in addition to the baseline. The owner's limits on hours and length
/// are checked at the assignment, so the start must be soon after.
const MAX_LEAD: Duration = Duration::from_secs(60);

/// Checks a start that is `ahead` from now, with this baseline before it.
///
/// # Errors
/// If it is too far ahead.
pub fn check_lead(ahead: Duration, baseline: Duration) -> Result<(), String> {
    let most = baseline.checked_add(MAX_LEAD).unwrap_or(baseline);
    if ahead > most {
        let ahead = ahead.as_nanos() / 1_000_000_000;
        return Err(format!("the start is {ahead} s ahead: at most {most} is allowed"));
    }
    Ok(())
}

/// See [`ToController::Rows`].
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Rows {
    /// Sequence number, starting at 1 and increasing by 1.
    pub sequence: u64,
    /// The rows.
    pub batch: Batch,
}

/// See [`ToAgent::Ack`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Ack {
    /// Highest sequence number without gaps before it.
    pub sequence: u64,
}

/// See [`ToController::Progress`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Progress {
    /// Time of the sender, in ns since the start of the run.
    pub at: i64,
    /// Number of measured rows that are not acknowledged yet.
    pub pending: u64,
}

/// See [`ToController::Health`].
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct HealthMessage {
    /// The self-report.
    #[schemars(with = "health::HealthSchema")]
    pub health: Health,
}

/// See [`ToController::Done`].
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
pub struct Done {
    /// Error, if the part could not be completed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
}

/// See [`ToAgent::Stop`].
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Stop {
    /// Reason for people.
    pub reason: String,
}

/// See [`ToController::Bye`] and [`ToAgent::Bye`].
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
pub struct Bye {
    /// Reason for programs, if the end of the connection has a consequence for the receiver.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub code: Option<RejectReason>,
    /// Reason for people.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}

/// Error of parsing a message.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Malformed {
    /// The text exceeds the maximum length.
    #[error("message too long: found {length} bytes, at most {limit}")]
    TooLong {
        /// Length in bytes.
        length: usize,
        /// Maximum in bytes.
        limit: usize,
    },
    /// The text is not JSON, or not a message of this version.
    #[error("invalid message of protocol {VERSION}: {0}")]
    Unknown(String),
}

/// Messages of one direction.
pub trait Message: Serialize + DeserializeOwned {
    /// Maximum length of a message, in bytes of JSON.
    const LIMIT: usize;

    /// Serializes the message.
    fn to_text(&self) -> String {
        serde_json::to_string(self).expect("a message has text keys and finite numbers")
    }

    /// Parses a message.
    ///
    /// # Errors
    /// [`Malformed`] if the text is too long, not JSON, nested deeper than 128 levels, or not a message of
    /// this protocol.
    fn from_text(text: &str) -> Result<Self, Malformed> {
        if text.len() > Self::LIMIT {
            return Err(Malformed::TooLong {
                length: text.len(),
                limit: Self::LIMIT,
            });
        }
        serde_json::from_str(text).map_err(|error| Malformed::Unknown(shorten(error.to_string(), 200)))
    }
}

impl Message for ToController {
    const LIMIT: usize = MAX_TO_CONTROLLER;
}

impl Message for ToAgent {
    const LIMIT: usize = MAX_TO_AGENT;
}

/// Returns whether `text` is a valid name: 1 to 64 letters, digits and `-`.
#[must_use]
pub fn is_name(text: &str) -> bool {
    (1..=MAX_NAME).contains(&text.len()) && text.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'-')
}

/// Returns whether `text` is a valid name of a run: 1 to 128 letters, digits, `-`, `_` and `.`, not
/// beginning with `.`. Such a name is a valid file name on all systems and has no directory part.
#[must_use]
pub fn is_run(text: &str) -> bool {
    (1..=MAX_RUN_NAME).contains(&text.len())
        && !text.starts_with('.')
        && text
            .bytes()
            .all(|b| b.is_ascii_alphanumeric() || matches!(b, b'-' | b'_' | b'.'))
}

/// JSON Schema of all messages.
#[must_use]
pub fn schema() -> serde_json::Value {
    /// All messages of the netburn control protocol: during a run and between runs, in both directions.
    #[derive(JsonSchema)]
    #[schemars(untagged, rename = "Message")]
    #[expect(dead_code, reason = "only its schema is of use")]
    enum Either {
        Participant(ToController),
        Controller(ToAgent),
        Member(standing::FromMember),
        Fleet(standing::ToMember),
    }
    schemars::schema_for!(Either).to_value()
}

/// Truncates `text` to at most `limit` bytes, at a character boundary.
#[must_use]
pub fn shorten(mut text: String, limit: usize) -> String {
    if text.len() > limit {
        let end = (0..=limit).rev().find(|&at| text.is_char_boundary(at)).unwrap_or(0);
        text.truncate(end);
    }
    text
}
