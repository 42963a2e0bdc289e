//! Messages between a fleet's controller and its members between runs, over the connection that a member
//! keeps open.
//!
//! ```text
//! member                                            controller (`netburn fleet serve`)
//!   register {protocol, name, token, about, pending} ─→
//!                                                    ←─   welcome, or rejected {code, reason} and close
//!   heartbeat                                        ─→   every 5 s
//!                                                    ←─   invite {run, name, token}    to take part in a run
//!   (a second connection, to /run/RUN, joins that run: `Hello`, with the name and token of the invitation)
//!                                                    ←─   request-results {run}        to deliver spooled results
//!   late-results {run, sequence, batch}              ─→
//!                                                    ←─   ack {run, sequence}
//!   late-results-end {run, error, health}            ─→
//!                                                    ←─   discard {run}                all results are on disk
//!   bye                                              ─→   or ←─, sent by either side
//! ```
//!
//! The second connection ends at the process that holds the run (`netburn run --on fleet`). The controller
//! only proxies its bytes.

use super::{Batch, Health, Message, Rejected, Role, is_name, shorten};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use std::collections::BTreeMap;

/// Maximum length of a message from a member, in bytes of JSON: 1 MiB, because it contains rows.
pub const MAX_FROM_MEMBER: usize = 1 << 20;
/// Maximum length of a message to a member, in bytes of JSON.
pub const MAX_TO_MEMBER: usize = 64 << 10;
/// Maximum number of labels of a member. Each key and value is a name ([`is_name`]).
pub const MAX_LABELS: usize = 16;
/// Maximum number of runs whose results a member offers.
pub const MAX_PENDING_RUNS: usize = 64;

/// Message from a member.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "type", rename_all = "kebab-case")]
pub enum FromMember {
    /// Identity of the member. Only valid as the first message.
    Register(Register),
    /// Heartbeat.
    Heartbeat,
    /// Rows that were not delivered during their run.
    LateResults(LateResults),
    /// End of the late rows of a run.
    LateResultsEnd(LateResultsEnd),
    /// The member leaves.
    Bye,
}

/// Message from the controller to a member.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "type", rename_all = "kebab-case")]
pub enum ToMember {
    /// The member is registered.
    Welcome(Registered),
    /// A message was rejected. Before `welcome` the connection closes after this.
    Rejected(Rejected),
    /// Invitation to take part in a run.
    Invite(Invite),
    /// Request for the results of a run, from the first message that is not acknowledged.
    RequestResults(RequestResults),
    /// Late rows of a run up to this sequence number are on disk.
    Ack(LateAck),
    /// The controller has all results of the run; the member deletes its copy.
    Discard(Discard),
    /// The controller shuts down or removes the member.
    Bye(super::Bye),
}

/// See [`FromMember::Register`].
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Register {
    /// Protocol version of the member.
    pub protocol: u32,
    /// Name: letters, digits and `-`, at most 64 bytes, unique in the fleet.
    pub name: String,
    /// Token of the fleet.
    pub token: String,
    /// Program and version, for people.
    pub version: String,
    /// Description of the member.
    pub about: MemberInfo,
    /// Runs whose results the member still has.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub pending: Vec<PendingResults>,
}

/// Description of a member.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct MemberInfo {
    /// Role that the member can take.
    #[schemars(with = "super::health::RoleSchema")]
    pub role: Role,
    /// Kind of program.
    pub kind: Kind,
    /// Operating system and processor, for people: `linux x86-64`, or a browser's description of itself.
    pub system: String,
    /// Interface that the traffic is bound to, if any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub interface: Option<String>,
    /// Labels that scenarios select members by. Keys and values are names.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub labels: BTreeMap<String, String>,
}

/// Kind of program.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Kind {
    /// netburn itself.
    Process,
    /// The station page, in a browser.
    Browser,
}

/// A run whose undelivered results a member has.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct PendingResults {
    /// Name of the run.
    pub run: String,
    /// Name of the member in the run.
    pub name: String,
    /// Number of spooled messages of rows.
    pub messages: u64,
}

/// See [`ToMember::Welcome`].
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Registered {
    /// Protocol version of the controller.
    pub protocol: u32,
    /// Program and version, for people.
    pub version: String,
    /// Name of the fleet, for people.
    pub fleet: String,
}

/// See [`ToMember::Invite`].
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Invite {
    /// Name of the run. The member opens a second connection to the path `/run/RUN`.
    pub run: String,
    /// Name of the member in the run.
    pub name: String,
    /// Token for the run.
    pub token: String,
}

/// See [`ToMember::RequestResults`].
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct RequestResults {
    /// Name of the run.
    pub run: String,
}

/// See [`FromMember::LateResults`].
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
pub struct LateResults {
    /// Name of the run.
    pub run: String,
    /// The [`proof`] of the part that measured the rows.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub proof: String,
    /// Sequence number of the rows in the run.
    pub sequence: u64,
    /// The rows.
    pub batch: Batch,
}

/// See [`FromMember::LateResultsEnd`].
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
pub struct LateResultsEnd {
    /// Name of the run.
    pub run: String,
    /// The [`proof`] of the part.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub proof: String,
    /// Reason why the part is incomplete, if it is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
    /// Self-report, if the agent reached the end of its part.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<super::health::HealthSchema>")]
    pub health: Option<Health>,
    /// Time at which the holder of the run stopped the agent, in ns since the start of the run. Until then
    /// the run was held, regardless of the end time in its record.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stop_requested_at: Option<i64>,
}

/// See [`ToMember::Ack`].
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct LateAck {
    /// Name of the run.
    pub run: String,
    /// Highest sequence number without gaps that is on disk.
    pub sequence: u64,
}

/// See [`ToMember::Discard`].
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Discard {
    /// Name of the run.
    pub run: String,
}

/// Proof that late results come from the agent that took part: SHA-256 of `late` and the token of the part,
/// in hexadecimal. A member's name is no proof, because every holder of the fleet's token can register an
/// unused name.
#[must_use]
pub fn proof(token: &str) -> String {
    let digest = Sha256::digest(format!("late {token}"));
    digest.iter().map(|byte| format!("{byte:02x}")).collect()
}

impl FromMember {
    /// Type of the message, as serialized.
    #[must_use]
    pub const fn name(&self) -> &'static str {
        match self {
            FromMember::Register(_) => "register",
            FromMember::Heartbeat => "heartbeat",
            FromMember::LateResults(_) => "late-results",
            FromMember::LateResultsEnd(_) => "late-results-end",
            FromMember::Bye => "bye",
        }
    }
}

impl Message for FromMember {
    const LIMIT: usize = MAX_FROM_MEMBER;
}

impl Message for ToMember {
    const LIMIT: usize = MAX_TO_MEMBER;
}

impl MemberInfo {
    /// Returns whether the number of labels, their names and the lengths of the texts are valid.
    #[must_use]
    pub fn is_sound(&self) -> bool {
        let labels = self.labels.iter();
        self.labels.len() <= MAX_LABELS
            && labels.into_iter().all(|(key, value)| is_name(key) && is_name(value))
            && self.system.len() <= super::MAX_TEXT
            && self.interface.as_ref().is_none_or(|name| name.len() <= 15)
    }

    /// Description of this program with the given labels.
    #[must_use]
    pub fn this_process(role: Role, interface: Option<String>, labels: BTreeMap<String, String>) -> MemberInfo {
        MemberInfo {
            role,
            kind: Kind::Process,
            system: shorten(format!("{} {}", std::env::consts::OS, std::env::consts::ARCH), 64),
            interface,
            labels,
        }
    }
}
