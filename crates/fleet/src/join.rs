//! How a participant's process finds its controller, and its whole life.

use crate::agent::AgentOptions;
use crate::controller_session::ShutdownSignal;
use crate::controller_session::dial::SingleConnection;
use crate::local::FleetError;
use crate::{agent, controller_session, server};
use netburn_record::Role;
use std::net::SocketAddr;

/// The environment variable that tells a started process where to join, as what, and with which token. A token among
/// the arguments would be there for every user of the machine to read.
pub const VARIABLE: &str = "NETBURN_JOIN";

/// Where and as what to join.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Join {
    /// The controller, such as `ws://127.0.0.1:40123/`; [`INHERITED`] where standard input is a socket to it.
    pub url: String,
    /// What it lets in.
    pub token: String,
    /// As what.
    pub role: Role,
    /// Under which name.
    pub name: String,
    /// The process that started this one, on whose end this one ends too; `None` when nobody did.
    pub parent: Option<u32>,
    /// Where a server listens; port 0 is a free one. At an unspecified address it listens at all of them, and agents
    /// reach it by the one that they reach the controller by.
    pub listen: SocketAddr,
    /// The token of the fleet that a server consents to.
    pub fleet: Option<String>,
}

/// The address of a controller that standard input is connected to: for those who can't reach it over a network, or shouldn't over
/// the one that they measure.
pub const INHERITED: &str = "stdin:";

/// The whole life of an agent's process: joins, measures, brings home the results. Blocks.
///
/// # Errors
/// When it can't join, is refused, or loses its controller.
pub fn agent_main(join: &Join) -> Result<(), FleetError> {
    live(join, async {
        let channel = controller_session::connect(join).await?;
        agent::run(SingleConnection::new(channel), join, AgentOptions::default())
            .await
            .map(drop)
    })
}

/// The whole life of a server's process that belongs to one run. Blocks.
///
/// # Errors
/// When it can't join, is refused, can't listen, or loses its controller.
pub fn server_main(join: &Join) -> Result<(), FleetError> {
    live(join, async {
        let channel = controller_session::connect(join).await?;
        server::run(SingleConnection::new(channel), join, None, ShutdownSignal::default()).await
    })
}

fn live(join: &Join, life: impl Future<Output = Result<(), FleetError>>) -> Result<(), FleetError> {
    if let Some(parent) = join.parent {
        match netburn_linux::die_with_parent(parent) {
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
                return Err(FleetError::ControllerLost(
                    "the process that started this one has ended".to_owned(),
                ));
            }
            // Where the kernel can't, the end of the connection has to do.
            _ => {}
        }
    }
    // A server has a connection, and an agent a socket, for everything under way.
    if let Err(error) = netburn_linux::raise_open_files() {
        tracing::debug!(%error, "the limit on open files stays");
    }
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let runtime = runtime.map_err(|error| FleetError::Join(error.to_string()))?;
    runtime.block_on(life)
}

impl Join {
    /// What the process that started this one says in [`VARIABLE`].
    ///
    /// # Errors
    /// When it says nothing, or nothing that can be understood.
    pub fn from_environment() -> Result<Join, FleetError> {
        let text = std::env::var(VARIABLE).map_err(|_| FleetError::Join(format!("{VARIABLE} is not set")))?;
        Join::from_text(&text).ok_or_else(|| FleetError::Join(format!("{VARIABLE} can't be understood")))
    }

    /// It as one line for [`VARIABLE`]: role, name, parent, token, address, where to listen and the fleet's token,
    /// separated by spaces.
    #[must_use]
    pub fn to_text(&self) -> String {
        let role = match self.role {
            Role::Agent => "agent",
            Role::Server => "server",
        };
        let parent = self.parent.map_or_else(|| "-".to_owned(), |id| id.to_string());
        let fleet = self.fleet.as_deref().unwrap_or("-");
        format!(
            "{role} {} {parent} {} {} {} {fleet}",
            self.name, self.token, self.url, self.listen
        )
    }

    fn from_text(text: &str) -> Option<Join> {
        let mut parts = text.split(' ');
        let role = match parts.next()? {
            "agent" => Role::Agent,
            "server" => Role::Server,
            _ => return None,
        };
        let name = parts.next()?.to_owned();
        let parent = match parts.next()? {
            "-" => None,
            id => Some(id.parse().ok()?),
        };
        let token = parts.next()?.to_owned();
        let url = parts.next()?.to_owned();
        let listen = parts.next()?.parse().ok()?;
        let fleet = Some(parts.next()?).filter(|token| *token != "-").map(str::to_owned);
        let join = Join {
            url,
            token,
            role,
            name,
            parent,
            listen,
            fleet,
        };
        parts.next().is_none().then_some(join)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_join_survives_the_environment() {
        for (role, parent, fleet) in [
            (Role::Agent, Some(77), None),
            (Role::Server, None, Some("t0".to_owned())),
        ] {
            let join = Join {
                url: "ws://127.0.0.1:4321/".to_owned(),
                token: "0f".repeat(32),
                role,
                name: "living-room".to_owned(),
                parent,
                listen: "198.18.0.1:0".parse().unwrap(),
                fleet,
            };
            assert_eq!(Join::from_text(&join.to_text()), Some(join));
        }
        for wrong in [
            "",
            "agent",
            "agent a - t",
            "agent a x t u",
            "agent a - t u",
            "agent a - t u v -",
            "agent a - t u 127.0.0.1:0",
            "agent a - t u 127.0.0.1 -",
            "boss a - t u 127.0.0.1:0 -",
            "agent a - t u 127.0.0.1:0 - w",
        ] {
            assert_eq!(Join::from_text(wrong), None, "{wrong}");
        }
    }
}
