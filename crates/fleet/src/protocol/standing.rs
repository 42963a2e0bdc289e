//! What a fleet's controller and its members say between runs, over the connection that a member keeps open.
//!
//! ```text
//! member                                         controller (`netburn fleet serve`)
//!   enrol {protocol, name, token, about, waiting} ─→
//!                                                 ←─   welcome, or refused {reason} and the end
//!   alive                                         ─→   every 5 s
//!                                                 ←─   summon {run, name, token}     there is a part for it in a run
//!   (a second connection, to /run/RUN, takes part in that run: `Hello`, with the summons' name and token)
//!                                                 ←─   deliver {run}                 results that it kept are wanted here
//!   late {run, sequence, batch}                   ─→
//!                                                 ←─   kept {run, sequence}
//!   late-end {run, error, health}                 ─→
//!                                                 ←─   forget {run}                  all is on disk
//!   bye                                           ─→                                 or ←─, on either side's wish
//! ```
//!
//! The second connection ends at the process that holds the run (`netburn run --on fleet`); the controller only passes
//! its bytes on.

use super::{Batch, Health, Message, Refused, Role, is_name, shorten};
use ring::digest;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// The longest message of a member, in bytes of JSON: 1 MiB, for the rows in it.
pub const MAX_FROM_MEMBER: usize = 1 << 20;
/// The longest message to a member, in bytes of JSON.
pub const MAX_TO_MEMBER: usize = 64 << 10;
/// The most labels of a member; each key and value is a name ([`is_name`]).
pub const MAX_LABELS: usize = 16;
/// The most runs whose results may wait at a member.
pub const MAX_PENDING_RUNS: usize = 64;

/// What a member says.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "type", rename_all = "kebab-case")]
pub enum FromMember {
    /// Who it is. The first message, and only the first.
    Register(Register),
    /// A sign of life.
    Heartbeat,
    /// Results that a run didn't wait for.
    LateResults(LateResults),
    /// There are no more of them.
    LateResultsEnd(LateResultsEnd),
    /// It leaves.
    Bye,
}

/// What a controller says to a member.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "type", rename_all = "kebab-case")]
pub enum ToMember {
    /// It has joined.
    Welcome(Registered),
    /// What it said was refused. Before `welcome` the connection ends with this.
    Refused(Refused),
    /// There is a part for it in a run.
    Invite(Invite),
    /// The results of this run are wanted, from the first message that isn't kept.
    RequestResults(RequestResults),
    /// Late results of a run up to and with this number are on disk.
    Ack(LateAck),
    /// Nothing more is wanted of this run: what the member kept may be deleted.
    Discard(Discard),
    /// The controller ends, or has no place for the member any more.
    Bye(super::Bye),
}

/// See [`FromMember::Register`].
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Register {
    /// The protocol version it speaks.
    pub protocol: u32,
    /// Its name: letters, digits and `-`, at most 64 bytes, unique in the fleet.
    pub name: String,
    /// The fleet's token.
    pub token: String,
    /// The program and its version, for people.
    pub version: String,
    /// What it is.
    pub about: MemberInfo,
    /// Runs whose results it still has.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub pending: Vec<PendingResults>,
}

/// What a member is.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct MemberInfo {
    /// What it can do.
    #[schemars(with = "super::health::RoleSchema")]
    pub role: Role,
    /// What kind of program it is.
    pub kind: Kind,
    /// The system and its processor, for people: `linux x86-64`, or what a browser says of itself.
    pub system: String,
    /// The interface its traffic is bound to, where it is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub interface: Option<String>,
    /// Labels that scenarios can choose it by: name to value, each a name.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub labels: BTreeMap<String, String>,
}

/// What kind of program a member is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Kind {
    /// netburn itself.
    Process,
    /// The station page, in a browser.
    Browser,
}

/// A run whose results a member has kept.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct PendingResults {
    /// The run.
    pub run: String,
    /// Under which name it took part.
    pub name: String,
    /// How many messages of rows wait.
    pub messages: u64,
}

/// See [`ToMember::Welcome`].
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Registered {
    /// The protocol version the controller speaks.
    pub protocol: u32,
    /// The program and its version, for people.
    pub version: String,
    /// The fleet's name, for people.
    pub fleet: String,
}

/// See [`ToMember::Invite`].
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Invite {
    /// The run: a second connection is opened to the path `/run/RUN`.
    pub run: String,
    /// Under which name it is expected there.
    pub name: String,
    /// What lets it in there.
    pub token: String,
}

/// See [`ToMember::RequestResults`].
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct RequestResults {
    /// The run.
    pub run: String,
}

/// See [`FromMember::LateResults`].
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
pub struct LateResults {
    /// The run.
    pub run: String,
    /// The [`proof`] of the part that they are of.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub proof: String,
    /// The number that the rows had, or would have had, in the run.
    pub sequence: u64,
    /// The rows.
    pub batch: Batch,
}

/// See [`FromMember::LateResultsEnd`].
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
pub struct LateResultsEnd {
    /// The run.
    pub run: String,
    /// The [`proof`] of the part that it is of.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub proof: String,
    /// Why its part wasn't done in full, where it wasn't.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
    /// How well it measured, where it lived to say so.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<super::health::HealthSchema>")]
    pub health: Option<Health>,
    /// When the holder of the run told it to end, in ns of the run's time: until then the run was held, whatever its record has.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub told: Option<i64>,
}

/// See [`ToMember::Ack`].
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct LateAck {
    /// The run.
    pub run: String,
    /// The highest number up to which all is on disk.
    pub sequence: u64,
}

/// See [`ToMember::Discard`].
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Discard {
    /// The run.
    pub run: String,
}

/// What shows that late results are of who took part: SHA-256 of `late` and the token of the part in the run, in
/// hexadecimal. A member's name alone shows nothing: whoever knows the fleet's token may take one that is free.
#[must_use]
pub fn proof(token: &str) -> String {
    let digest = digest::digest(&digest::SHA256, format!("late {token}").as_bytes());
    digest.as_ref().iter().map(|byte| format!("{byte:02x}")).collect()
}

impl FromMember {
    /// Its type, as it is written.
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
    /// Whether its labels are few and are names, and its texts are short.
    #[must_use]
    pub fn is_sound(&self) -> bool {
        let labels = self.labels.iter();
        self.labels.len() <= MAX_LABELS
            && labels.into_iter().all(|(key, value)| is_name(key) && is_name(value))
            && self.system.len() <= super::MAX_TEXT
            && self.interface.as_ref().is_none_or(|name| name.len() <= 15)
    }

    /// What this program is, with these labels.
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
