//! Messages between the operator's commands and the fleet's controller. The commands are `netburn run
//! --on fleet`, `fleet list` and `fleet revoke`. The connection goes to `/control` on the controller's
//! machine.
//!
//! ```text
//! operator                                  controller
//!   open {protocol, secret}            ─→
//!                                      ←─   welcome {…}, or rejected {code, reason} and close
//!                                      ←─   members {members}            now and after each change
//!   acquire {run, port, …}             ─→                                from now on `/run/RUN` is proxied to it
//!                                      ←─   acquired {run}, or rejected
//!   invite {run, member, name, token}  ─→                                valid until the run is released: a member
//!                                                                        that reconnects is invited again
//!   release {run}                      ─→                                or the end of the connection
//!   revoke                             ─→                                request for a new token
//!                                      ←─   revoked {urls}
//! ```

use crate::late::Part;
use netburn_protocol::messages::standing::MemberInfo;
use netburn_protocol::messages::{Message, Rejected};
use serde::{Deserialize, Serialize};
use std::path::PathBuf;

/// Maximum length of a message in either direction, in bytes of JSON: the list of 4,096 members.
pub const MAX_CONTROL_MESSAGE: usize = 16 << 20;

/// Request of an operator.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "kebab-case")]
pub enum ControlRequest {
    /// Authentication. Only valid as the first message.
    Open(Open),
    /// Acquires a run.
    Acquire(AcquireRun),
    /// Invites a member to a run.
    Invite(InviteMember),
    /// Releases a run after its end.
    Release(ReleaseRun),
    /// Disconnects all members and replaces the token.
    Revoke,
}

/// Reply to an operator.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "kebab-case")]
pub enum ControlReply {
    /// The operator is authenticated.
    Welcome(ControlWelcome),
    /// The request was rejected.
    Rejected(Rejected),
    /// Connected members.
    Members(Members),
    /// The run is registered and proxied.
    Acquired(RunAcquired),
    /// The fleet has a new token.
    Revoked(ControlWelcome),
}

/// See [`ControlRequest::Open`].
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Open {
    /// Protocol version of the operator.
    pub protocol: u32,
    /// Secret that only this user's processes can read.
    pub secret: String,
}

/// See [`ControlRequest::Acquire`].
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct AcquireRun {
    /// Name of the run: see [`is_run`](netburn_protocol::messages::is_run).
    pub run: String,
    /// Loopback port to which connections to the run are proxied.
    pub port: u16,
    /// Folder of the run, for late results.
    pub folder: PathBuf,
    /// Agents of the run.
    pub parts: Vec<Part>,
    /// All members of the run, in any role. None of them may be in another held run.
    #[serde(default)]
    pub members: Vec<String>,
    /// Expected end, in seconds of Unix time. Both sides are on one machine.
    #[serde(default)]
    pub until: u64,
}

/// See [`ControlRequest::Invite`].
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct InviteMember {
    /// Name of the run.
    pub run: String,
    /// Name of the member.
    pub member: String,
    /// Name of the member in the run.
    pub name: String,
    /// Token of the member for the run.
    pub token: String,
}

/// See [`ControlRequest::Release`].
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ReleaseRun {
    /// Name of the run.
    pub run: String,
    /// Names of the parts whose results are missing.
    #[serde(default)]
    pub missing: Vec<String>,
}

/// See [`ControlReply::Acquired`].
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RunAcquired {
    /// Name of the run.
    pub run: String,
}

/// See [`ControlReply::Welcome`].
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ControlWelcome {
    /// Program and version.
    pub version: String,
    /// Name of the fleet.
    pub fleet: String,
    /// Token of the fleet.
    pub token: String,
    /// Join addresses, best first.
    pub urls: Vec<String>,
    /// True if the fleet listens on this machine only. Then its servers do too.
    #[serde(default)]
    pub loopback_only: bool,
    /// Access points that runs observe.
    #[serde(default)]
    pub observed: ObservedAccessPoints,
}

/// Access points that the runs on a fleet observe.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct ObservedAccessPoints {
    /// Addresses, such as `hall=ssh://root@192.168.1.1`.
    pub access_points: Vec<String>,
    /// Configuration file for the SSH client; `None`: the user's.
    pub ssh_config: Option<PathBuf>,
}

/// See [`ControlReply::Members`].
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Members {
    /// Members, ordered by name.
    pub members: Vec<MemberStatus>,
}

/// A connected member.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct MemberStatus {
    /// Name.
    pub name: String,
    /// Description of the member.
    pub about: MemberInfo,
    /// Program and version.
    pub version: String,
    /// Source address; `None`: over a Unix socket of this machine.
    pub address: Option<std::net::IpAddr>,
    /// Held run that the member is in.
    pub run: Option<String>,
    /// Expected end of that run, in seconds of Unix time.
    #[serde(default)]
    pub until: Option<u64>,
    /// Runs whose results the member still has.
    pub pending_results: Vec<String>,
}

impl ControlRequest {
    /// Type of the request, as serialized.
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
