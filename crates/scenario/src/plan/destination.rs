//! Way to the shell of a real access point, which a run on a fleet observes.

use crate::decode::{Context, FromNode};
use crate::node::Node;
use crate::scalars::parsed;
use crate::value::PlanValue;
use schemars::{Schema, SchemaGenerator, json_schema};
use std::fmt;
use std::str::FromStr;

/// Way to the shell of an access point.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Destination {
    /// A destination for the SSH client: `root@192.168.1.1` or `ssh://root@192.168.1.1:2222`.
    Ssh(String),
    /// netburn runs on the access point itself.
    Local,
}

/// Address of the machine on which netburn runs.
const LOCAL: &str = "local";

/// The text is no address of an access point.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is no address of an access point: write it as ssh://root@192.168.1.1, or local")]
pub struct ParseDestinationError(String);

impl Destination {
    /// The host, without user and port; `local` for this machine.
    #[must_use]
    pub fn host(&self) -> &str {
        match self {
            Destination::Ssh(destination) => host(destination),
            Destination::Local => LOCAL,
        }
    }

    /// The port, if it is in the address.
    #[must_use]
    pub fn port(&self) -> Option<&str> {
        let Destination::Ssh(destination) = self else {
            return None;
        };
        let rest = destination.strip_prefix("ssh://")?;
        rest.rsplit_once(':').map(|(_, port)| port)
    }
}

impl FromStr for Destination {
    type Err = ParseDestinationError;

    /// `ssh://root@192.168.1.1` or `local`.
    fn from_str(text: &str) -> Result<Destination, ParseDestinationError> {
        let destination = match text {
            LOCAL => Some(Destination::Local),
            _ => destination(text).map(Destination::Ssh),
        };
        destination.ok_or_else(|| ParseDestinationError(text.to_owned()))
    }
}

impl fmt::Display for Destination {
    /// The address with its scheme.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Destination::Ssh(destination) = self else {
            return f.write_str(LOCAL);
        };
        if destination.starts_with("ssh://") {
            return f.write_str(destination);
        }
        match destination.rsplit_once('@') {
            Some((user, host)) if host.contains(':') => write!(f, "ssh://{user}@[{host}]"),
            None if destination.contains(':') => write!(f, "ssh://[{destination}]"),
            _ => write!(f, "ssh://{destination}"),
        }
    }
}

impl FromNode for Destination {
    fn read(node: &Node, cx: &mut Context) -> Option<Self> {
        let wanted = "an address of an access point, such as `\"ssh://root@192.168.1.1\"`, or `\"local\"`";
        parsed(node, cx, wanted, |text| text.parse().ok())
    }

    fn schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": "string", "pattern": "^(ssh://.+|local)$", "x-value": "an address, `\"ssh://root@192.168.1.1\"` or `\"local\"`" })
    }
}

impl PlanValue<Destination> for Destination {
    fn from_key(key: &Destination) -> Self {
        key.clone()
    }

    fn to_json(&self) -> serde_json::Value {
        self.to_string().into()
    }
}

/// `ssh://[USER@]HOST[:PORT]` (draft-ietf-secsh-scp-sftp-ssh-uri, as in ssh(1)), without the scheme if it has no port.
fn destination(address: &str) -> Option<String> {
    let rest = address.strip_prefix("ssh://")?;
    let rest = rest.strip_suffix('/').unwrap_or(rest);
    let (user, host) = match rest.rsplit_once('@') {
        Some((user, host)) => (Some(user), host),
        None => (None, rest),
    };
    let is_word = |text: &str| !text.is_empty() && !text.starts_with('-') && text.chars().all(is_plain);
    let host_end = host.rfind(']').map_or(0, |at| at + 1);
    let (name, port) = match host[host_end..].split_once(':') {
        Some((before, port)) => (&host[..host_end + before.len()], Some(port)),
        None => (host, None),
    };
    let bare = name.strip_prefix('[').and_then(|name| name.strip_suffix(']'));
    let is_valid = user.is_none_or(|user| is_word(user) && !user.contains(':'))
        && match bare {
            Some(bare) => bare.parse::<std::net::Ipv6Addr>().is_ok(),
            None => is_word(name) && !name.contains(':'),
        }
        && port.is_none_or(|port| port.parse::<u16>().is_ok_and(|port| port > 0));
    if !is_valid {
        return None;
    }
    Some(match port {
        Some(_) => format!("ssh://{rest}"),
        None => match (user, bare) {
            (Some(user), Some(bare)) => format!("{user}@{bare}"),
            (None, Some(bare)) => bare.to_owned(),
            _ => rest.to_owned(),
        },
    })
}

/// The host of a destination, without user, port and brackets.
fn host(destination: &str) -> &str {
    let has_port = destination.starts_with("ssh://");
    let rest = destination.trim_start_matches("ssh://");
    let host = rest.rsplit_once('@').map_or(rest, |(_, host)| host);
    let host = match host.rsplit_once(':') {
        Some((host, _)) if has_port => host,
        _ => host,
    };
    host.trim_start_matches('[').trim_end_matches(']')
}

/// Characters of users and hosts. A shell and the SSH client give them no other meaning.
fn is_plain(character: char) -> bool {
    character.is_ascii_alphanumeric() || matches!(character, '.' | '-' | '_' | ':' | '%')
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Document, Environment};

    fn plan(lines: &str, environment: Environment) -> Result<(crate::Plan, Vec<String>), String> {
        let text = format!("duration = \"10 s\"\n[station.a]\nworkload = \"browsing\"\n{lines}");
        let document = Document::from_toml("t.toml", &text).map_err(|error| error.to_string())?;
        document.resolve_for(environment).map_err(|error| error.to_string())
    }

    #[test]
    fn an_access_point_that_is_only_observed_is_allowed_on_fleets() {
        let lines = "[ap.hall]\nobserve = \"ssh://root@192.168.1.1\"\n";
        let (fleet, notes) = plan(lines, Environment::Fleet).unwrap();
        let expected = Destination::Ssh("root@192.168.1.1".to_owned());
        assert_eq!(fleet.aps[0].observe, Some(expected));
        assert_eq!(notes, Vec::<String>::new());
        // The document of the plan gives the same plan.
        assert_eq!(crate::Plan::from_json(&fleet.to_json()), Ok(fleet));
        let simulate = plan(lines, Environment::Simulate).unwrap_err();
        assert!(simulate.contains("the access point has no radios"), "{simulate}");
    }

    #[test]
    fn the_key_has_a_note_where_the_access_point_is_modelled() {
        let lines = "joins = \"hall.5g\"\ndistance = \"3 m\"\n[ap.hall]\nrating = \"AC1750\"\nobserve = \"local\"\n";
        let notes = |environment| plan(lines, environment).unwrap().1.join("\n");
        let simulate = notes(Environment::Simulate);
        assert!(
            simulate.contains("ap.hall.observe") && simulate.contains("only runs on a fleet observe"),
            "{simulate}"
        );
        let fleet = notes(Environment::Fleet);
        assert!(
            fleet.contains("ap.hall.rating") && !fleet.contains("observe"),
            "{fleet}"
        );
    }

    #[test]
    fn an_invalid_address_is_an_error_with_the_right_form() {
        for address in ["192.168.1.1", "ssh://root@a;reboot", "hall=local", ""] {
            let error = plan(&format!("[ap.hall]\nobserve = \"{address}\"\n"), Environment::Fleet).unwrap_err();
            assert!(error.contains("ssh://root@192.168.1.1"), "{error}");
        }
    }
}
