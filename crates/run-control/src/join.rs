//! Connection parameters of the process of an agent or server.

use netburn_record::Role;
use std::net::SocketAddr;

/// Environment variable with the connection parameters of a child process. Arguments would show the token
/// to every user of the machine.
pub const VARIABLE: &str = "NETBURN_JOIN";

/// Error of reading [`VARIABLE`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum JoinVariableError {
    /// The variable is not set.
    #[error("{VARIABLE} is not set")]
    NotSet,
    /// Its value has another form.
    #[error("{VARIABLE} is invalid")]
    Invalid,
}

/// Connection parameters of an agent or server.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Join {
    /// URL of the controller, such as `ws://127.0.0.1:40123/`; [`INHERITED`] if standard input is a socket
    /// to it.
    pub url: String,
    /// Token for the run.
    pub token: String,
    /// Role.
    pub role: Role,
    /// Name in the run.
    pub name: String,
    /// Parent process, at whose end this process ends; `None`: independent.
    pub parent: Option<u32>,
    /// Listening addresses of a server, at least one, with the same port; port 0 is any free port. If the first one is
    /// unspecified, agents use the address at which they reach the controller. Otherwise they try the addresses in
    /// this order.
    pub listen: Vec<SocketAddr>,
    /// Token of the fleet to which a server consents.
    pub fleet: Option<String>,
}

/// URL of a controller at the other end of standard input. It is for a process that can't reach the
/// controller over a network, or must not use the measured one.
pub const INHERITED: &str = "stdin:";

impl Join {
    /// Parses [`VARIABLE`].
    ///
    /// # Errors
    /// If it is not set or invalid.
    pub fn from_environment() -> Result<Join, JoinVariableError> {
        let text = std::env::var(VARIABLE).map_err(|_| JoinVariableError::NotSet)?;
        Join::from_text(&text).ok_or(JoinVariableError::Invalid)
    }

    /// Serializes the parameters as one line for [`VARIABLE`]: role, name, parent, token, URL, listening
    /// addresses (separated by commas) and the fleet's token, separated by spaces.
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
            self.name,
            self.token,
            self.url,
            self.listen
                .iter()
                .map(ToString::to_string)
                .collect::<Vec<_>>()
                .join(",")
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
        let listen = parts.next()?.split(',').map(str::parse);
        let listen = listen.collect::<Result<_, _>>().ok()?;
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
        for (role, parent, fleet, listen) in [
            (Role::Agent, Some(77), None, &["198.18.0.1:0"][..]),
            (
                Role::Server,
                None,
                Some("t0".to_owned()),
                &["0.0.0.0:4480", "[::]:4480"],
            ),
        ] {
            let join = Join {
                url: "ws://127.0.0.1:4321/".to_owned(),
                token: "0f".repeat(32),
                role,
                name: "living-room".to_owned(),
                parent,
                listen: listen.iter().map(|at| at.parse().unwrap()).collect(),
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
            "agent a - t u 127.0.0.1:0, -",
            "boss a - t u 127.0.0.1:0 -",
            "agent a - t u 127.0.0.1:0 - w",
        ] {
            assert_eq!(Join::from_text(wrong), None, "{wrong}");
        }
    }
}
