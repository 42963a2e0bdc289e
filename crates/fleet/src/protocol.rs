//! What controller and participants say to each other: JSON messages, one object each, told apart by `type`.
//!
//! A participant is an agent, which drives stations, or the server that answers them. The order of a run:
//!
//! ```text
//! participant                                   controller
//!   hello {protocol, role, name, token}    ─→
//!                                          ←─   welcome, or refused {reason} and the end
//!   pong {id, received, sent}              ←→   ping {id}                many times, here and after the run
//!                                          ←─   assign (agents), serve (the server)
//!   ready {server's addresses}             ─→
//!                                          ←─   start {at, by the participant's own clock}
//!   rows {sequence, batch}                 ─→
//!                                          ←─   ack {sequence}
//!   progress {at}                          ─→                            every 250 ms, as a sign of life
//!                                          ←─   stop {reason}            to end early; the server is always stopped
//!   health, done                           ─→                            when all rows are acknowledged
//!                                          ←─   bye
//! ```
//!
//! Times are integer nanoseconds: of the participant's own monotonic clock in `pong` and `start`, since the run began
//! by that same clock in rows and `progress`. A JSON Schema of all messages is in `docs/protocol.schema.json`.

mod health;
mod reject_reason;
mod rows;
pub mod standing;
#[cfg(test)]
mod tests;

pub use reject_reason::RejectReason;
pub use rows::{Batch, MAX_BATCH_EVENTS, MAX_BATCH_LINKS, MAX_BATCH_ROWS, WrongRow};

use netburn_record::{Health, Role};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize, de::DeserializeOwned};
use std::net::SocketAddr;

/// The version of this protocol. Both sides must speak the same one.
pub const VERSION: u32 = 1;

/// The longest message a controller takes, in bytes of JSON: 1 MiB.
pub const MAX_TO_CONTROLLER: usize = 1 << 20;

/// The longest message a participant takes, in bytes of JSON: 16 MiB, for the plan in it.
pub const MAX_TO_AGENT: usize = 16 << 20;

/// The longest text of an event, a reason or a version, in bytes; longer ones are cut before they are sent.
pub const MAX_TEXT: usize = 4096;

/// The longest name of a participant, in bytes.
pub const MAX_NAME: usize = 64;

/// What a participant says.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "type", rename_all = "kebab-case")]
pub enum ToController {
    /// Who it is. The first message, and only the first.
    Hello(Hello),
    /// The answer to a ping, at once.
    Pong(Pong),
    /// It can start.
    Ready(Ready),
    /// What was measured.
    Rows(Rows),
    /// A sign of life while it runs.
    Progress(Progress),
    /// How well it measured, once, at the end.
    Health(HealthMessage),
    /// Its part is over: all it had to say is said and acknowledged.
    Done(Done),
    /// It leaves.
    Bye(Bye),
}

/// What a controller says.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "type", rename_all = "kebab-case")]
pub enum ToAgent {
    /// It has joined.
    Welcome(Welcome),
    /// What it said was refused. Before `welcome` the connection ends with this; after it only the message is lost.
    Refused(Refused),
    /// To be answered at once.
    Ping(Ping),
    /// An agent's part of the run.
    Assign(Assign),
    /// The server's part of the run.
    Serve(Serve),
    /// When to start.
    Start(Start),
    /// Rows up to and with this number are kept.
    Ack(Ack),
    /// End now, and bring home what there is.
    Stop(Stop),
    /// All is said; the connection ends.
    Bye(Bye),
}

/// See [`ToController::Hello`].
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Hello {
    /// The protocol version it speaks.
    pub protocol: u32,
    /// What it does.
    #[schemars(with = "health::RoleSchema")]
    pub role: Role,
    /// Its name: letters, digits and `-`, at most 64 bytes, unique in the fleet.
    pub name: String,
    /// The fleet's token.
    pub token: String,
    /// The program and its version, for people.
    pub version: String,
    /// Whether it was in this run before, and lost its connection.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub reconnect: bool,
}

/// See [`ToAgent::Welcome`].
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Welcome {
    /// The protocol version the controller speaks.
    pub protocol: u32,
    /// The program and its version, for people.
    pub version: String,
    /// For one that comes back: the last message of rows that came. The next are sent (again) from there.
    #[serde(default)]
    pub last_sequence: u64,
}

/// See [`ToAgent::Refused`].
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Refused {
    /// Reason for programs.
    #[serde(default)]
    pub code: RejectReason,
    /// Reason for people.
    pub reason: String,
}

/// See [`ToAgent::Ping`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Ping {
    /// Names it in the pong.
    pub id: u64,
}

/// See [`ToController::Pong`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Pong {
    /// The ping's.
    pub id: u64,
    /// When the ping arrived, in ns of the participant's own clock.
    pub received: i64,
    /// When this answer was sent, in ns of the participant's own clock.
    pub sent: i64,
}

/// See [`ToAgent::Assign`].
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Assign {
    /// The whole resolved plan, as a scenario document (`Plan::to_json`).
    pub plan: serde_json::Value,
    /// The stations it drives, by their numbers in the plan.
    pub stations: Vec<u16>,
    /// The server to measure against.
    pub target: ServerAddress,
}

/// Where a server is.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ServerAddress {
    /// Address and port of its HTTP.
    #[schemars(with = "String")]
    pub address: SocketAddr,
    /// The UDP port of its datagram echo, at the same address.
    pub datagram_port: u16,
    /// SHA-256 of its certificate (DER), in hexadecimal; absent when it speaks no TLS.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fingerprint: Option<String>,
}

/// See [`ToAgent::Serve`].
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Serve {
    /// The whole resolved plan, as a scenario document (`Plan::to_json`).
    pub plan: serde_json::Value,
    /// The most it sends, and the most it takes in, over all connections, in bit/s.
    pub rate_bps: u64,
}

/// See [`ToController::Ready`].
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
pub struct Ready {
    /// Where it answers, for a server.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub server: Option<ServerAddress>,
    /// Whether the server was reached, for an agent that has looked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reach: Option<Reach>,
    /// Whether it measures against a server of its own, so that what becomes of the run's is nothing to it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub own_server: bool,
    /// What the reader of its figures should know of how it measures, such as what a browser can't do.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
}

/// How the server answered before the run.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
pub struct Reach {
    /// Why not over TCP; `None`: it did, and consents.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tcp: Option<String>,
    /// Why not by datagrams; `None`: it did, or that isn't asked of this participant.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub datagrams: Option<String>,
}

/// See [`ToAgent::Start`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Start {
    /// The instant at which the load begins (time zero of the run), in ns of the participant's own clock. The baseline
    /// comes before it.
    pub at: i64,
}

/// See [`ToController::Rows`].
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Rows {
    /// From 1, one more each time.
    pub sequence: u64,
    /// The rows.
    pub batch: Batch,
}

/// See [`ToAgent::Ack`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Ack {
    /// The highest sequence number up to which nothing is missing.
    pub sequence: u64,
}

/// See [`ToController::Progress`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Progress {
    /// Its time, in ns since the run began.
    pub at: i64,
    /// Rows measured and not yet acknowledged.
    pub pending: u64,
}

/// See [`ToController::Health`].
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct HealthMessage {
    /// How well it measured.
    #[schemars(with = "health::HealthSchema")]
    pub health: Health,
}

/// See [`ToController::Done`].
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
pub struct Done {
    /// What went wrong, when its part could not be done in full.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
}

/// See [`ToAgent::Stop`].
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Stop {
    /// Why, for people.
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

/// Why a text is no message.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Malformed {
    /// It is longer than it may be.
    #[error("a message of {length} bytes, where {limit} are the most")]
    TooLong {
        /// Its length.
        length: usize,
        /// The limit.
        limit: usize,
    },
    /// It is not JSON, or no message that this version knows.
    #[error("not a message of protocol {VERSION}: {0}")]
    Unknown(String),
}

/// One direction's messages.
pub trait Message: Serialize + DeserializeOwned {
    /// The longest of them, in bytes of JSON.
    const LIMIT: usize;

    /// Its text.
    fn to_text(&self) -> String {
        serde_json::to_string(self).expect("a message has text keys and finite numbers")
    }

    /// Reads one.
    ///
    /// # Errors
    /// When it is too long, no JSON, too deep (128 levels) or not a message of this protocol.
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

/// Whether a participant may be called so: letters, digits and `-`, 1 to 64 of them.
#[must_use]
pub fn is_name(text: &str) -> bool {
    (1..=MAX_NAME).contains(&text.len()) && text.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'-')
}

/// The JSON Schema of all messages.
#[must_use]
pub fn schema() -> serde_json::Value {
    /// Every message of the netburn control protocol: in a run, both ways, and between runs, both ways.
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

/// `text`, cut to at most `limit` bytes at a character's end.
pub(crate) fn shorten(mut text: String, limit: usize) -> String {
    if text.len() > limit {
        let end = (0..=limit).rev().find(|&at| text.is_char_boundary(at)).unwrap_or(0);
        text.truncate(end);
    }
    text
}
