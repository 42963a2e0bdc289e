//! What a fleet's owner and its controller say: `netburn run --on fleet`, `fleet list` and `fleet revoke`, over a
//! connection to `/operator` on the controller's machine.
//!
//! ```text
//! owner                                     controller
//!   open {protocol, secret}            ─→
//!                                      ←─   welcome {…}, or refused {reason} and the end
//!                                      ←─   members {members}            now and whenever it changes
//!   hold {run, port, …}                ─→                                from now on `/run/RUN` is passed on to it
//!                                      ←─   held {run}, or refused
//!   summon {run, member, name, token}  ─→                                kept until the run is released: who comes
//!                                                                        back is summoned again
//!   release {run}                      ─→                                or the end of the connection
//!   revoke                             ─→                                a new token
//!                                      ←─   revoked {url}
//! ```

use crate::late::Part;
use crate::protocol::standing::MemberInfo;
use crate::protocol::{Message, Refused};
use serde::{Deserialize, Serialize};
use std::path::PathBuf;

/// The longest message either way, in bytes of JSON: the list of 4,096 members.
pub const MAX_CONTROL_MESSAGE: usize = 16 << 20;

/// What an owner says.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "kebab-case")]
pub enum ControlRequest {
    /// It may. The first message, and only the first.
    Open(Open),
    /// It holds a run.
    Acquire(AcquireRun),
    /// A member has a part in a run.
    Invite(InviteMember),
    /// The run is over.
    Release(ReleaseRun),
    /// Everybody is to be thrown out, and nobody comes back with the token there was.
    Revoke,
}

/// What a controller says to an owner.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "kebab-case")]
pub enum ControlReply {
    /// It may.
    Welcome(ControlWelcome),
    /// It may not; or what it said changes nothing, for this reason.
    Refused(Refused),
    /// Who is here.
    Members(Members),
    /// The run is known, and passed on.
    Acquired(RunAcquired),
    /// The fleet has a new token.
    Revoked(ControlWelcome),
}

/// See [`ControlRequest::Open`].
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Open {
    /// The protocol version it speaks.
    pub protocol: u32,
    /// What only this user's processes can read.
    pub secret: String,
}

/// See [`ControlRequest::Acquire`].
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct AcquireRun {
    /// The run: see [`is_run`](crate::spool::is_run).
    pub run: String,
    /// The port on loopback that its participants are passed on to.
    pub port: u16,
    /// Its folder: where results go that come home late.
    pub folder: PathBuf,
    /// Who takes part.
    pub parts: Vec<Part>,
    /// All members that are in it, in whatever role: none of them may be in another run that is held.
    #[serde(default)]
    pub members: Vec<String>,
    /// When it is expected to be over, in seconds of Unix time. Both ends are on one machine.
    #[serde(default)]
    pub until: u64,
}

/// See [`ControlRequest::Invite`].
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct InviteMember {
    /// The run.
    pub run: String,
    /// Whom.
    pub member: String,
    /// Under which name it is expected there.
    pub name: String,
    /// What lets it in there.
    pub token: String,
}

/// See [`ControlRequest::Release`].
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ReleaseRun {
    /// The run.
    pub run: String,
    /// The parts whose results are missing, by their names in the run.
    #[serde(default)]
    pub missing: Vec<String>,
}

/// See [`ControlReply::Acquired`].
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RunAcquired {
    /// The run.
    pub run: String,
}

/// See [`ControlReply::Welcome`].
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ControlWelcome {
    /// The program and its version, for people.
    pub version: String,
    /// What the fleet is called.
    pub fleet: String,
    /// The fleet's token.
    pub token: String,
    /// Where to join, the best first.
    pub urls: Vec<String>,
    /// Whether it listens on this machine alone: then nothing that it has to do with listens elsewhere.
    #[serde(default)]
    pub loopback_only: bool,
}

/// See [`ControlReply::Members`].
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Members {
    /// By name.
    pub members: Vec<MemberStatus>,
}

/// A member that is here.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct MemberStatus {
    /// Its name.
    pub name: String,
    /// What it is.
    pub about: MemberInfo,
    /// The program and its version, for people.
    pub version: String,
    /// The address that it comes from; `None`: this machine, over a Unix socket.
    pub address: Option<std::net::IpAddr>,
    /// The run that it is in: one that is held.
    pub run: Option<String>,
    /// When that is expected to be over, in seconds of Unix time.
    #[serde(default)]
    pub until: Option<u64>,
    /// Runs whose results it still has.
    pub pending_results: Vec<String>,
}

impl ControlRequest {
    /// Its type, as it is written.
    #[must_use]
    pub const fn name(&self) -> &'static str {
        match self {
            ControlRequest::Open(_) => "open",
            ControlRequest::Acquire(_) => "acquire",
            ControlRequest::Invite(_) => "invite",
            ControlRequest::Release(_) => "release",
            ControlRequest::Revoke => "revoke",
        }
    }
}

impl Message for ControlRequest {
    const LIMIT: usize = MAX_CONTROL_MESSAGE;
}

impl Message for ControlReply {
    const LIMIT: usize = MAX_CONTROL_MESSAGE;
}
