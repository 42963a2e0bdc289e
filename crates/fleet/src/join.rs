//! How a participant's process finds its controller, and its whole life.

use crate::local::FleetError;
use netburn_record::Role;

/// The environment variable that tells a started process where to join, as what, and with which token. A token among
/// the arguments would be there for every user of the machine to read.
pub const VARIABLE: &str = "NETBURN_JOIN";

/// Where and as what to join.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Join {
    /// The controller, such as `ws://127.0.0.1:40123/`.
    pub url: String,
    /// What it lets in.
    pub token: String,
    /// As what.
    pub role: Role,
    /// Under which name.
    pub name: String,
}

/// The whole life of an agent's process: joins, measures, brings home the results.
///
/// # Errors
/// When it can't join, is refused, or loses its controller.
pub fn agent_main(join: &Join) -> Result<(), FleetError> {
    let _ = join;
    todo!()
}

/// The whole life of a server's process that belongs to one run.
///
/// # Errors
/// When it can't join, is refused, can't listen, or loses its controller.
pub fn server_main(join: &Join) -> Result<(), FleetError> {
    let _ = join;
    todo!()
}

impl Join {
    /// What the process that started this one says in [`VARIABLE`].
    ///
    /// # Errors
    /// When it says nothing, or nothing that can be understood.
    pub fn from_environment() -> Result<Join, FleetError> {
        todo!()
    }
}
