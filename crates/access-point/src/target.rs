//! The address of an access point that is observed.

use std::fmt;
use std::str::FromStr;

/// An access point that is observed: its name in the run, and how the SSH client reaches it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Target {
    /// Name in the run.
    pub name: String,
    /// Way to its shell.
    pub destination: Destination,
}

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
#[error(
    "`{0}` is no address of an access point: write it as ssh://root@192.168.1.1, \
     NAME=ssh://root@192.168.1.1, or local"
)]
pub struct ParseTargetError(String);

impl Target {
    /// An access point of that name at an address: `ssh://root@192.168.1.1` or `local`.
    ///
    /// # Errors
    /// If the text is no such address.
    pub fn named(name: &str, address: &str) -> Result<Target, ParseTargetError> {
        let destination = match address {
            LOCAL => Some(Destination::Local),
            _ => destination(address).map(Destination::Ssh),
        };
        let destination = destination.ok_or_else(|| ParseTargetError(address.to_owned()))?;
        Ok(Target {
            name: name.to_owned(),
            destination,
        })
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

impl FromStr for Target {
    type Err = ParseTargetError;

    /// `ssh://root@192.168.1.1`, whose name is its host, or `NAME=ssh://root@192.168.1.1`; `local` instead of the address for
    /// this machine.
    fn from_str(text: &str) -> Result<Target, ParseTargetError> {
        let wrong = || ParseTargetError(text.to_owned());
        match text.split_once('=') {
            Some((name, address)) => {
                let is_name = !name.is_empty() && name.len() <= 64 && name.chars().all(is_plain);
                is_name.then(|| Target::named(name, address)).ok_or_else(wrong)?
            }
            None => {
                let target = Target::named("", text)?;
                Ok(Target {
                    name: target.host().to_owned(),
                    ..target
                })
            }
        }
    }
}

impl fmt::Display for Target {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}={}", self.name, self.address())
    }
}

impl Target {
    /// The host, without user and port; `local` for this machine.
    #[must_use]
    pub fn host(&self) -> &str {
        match &self.destination {
            Destination::Ssh(destination) => host(destination),
            Destination::Local => LOCAL,
        }
    }

    /// The port, if it is in the address.
    #[must_use]
    pub fn port(&self) -> Option<&str> {
        let Destination::Ssh(destination) = &self.destination else {
            return None;
        };
        let rest = destination.strip_prefix("ssh://")?;
        rest.rsplit_once(':').map(|(_, port)| port)
    }

    /// The address with its scheme.
    #[must_use]
    pub fn address(&self) -> String {
        let Destination::Ssh(destination) = &self.destination else {
            return LOCAL.to_owned();
        };
        if destination.starts_with("ssh://") {
            return destination.clone();
        }
        match destination.rsplit_once('@') {
            Some((user, host)) if host.contains(':') => format!("ssh://{user}@[{host}]"),
            None if destination.contains(':') => format!("ssh://[{destination}]"),
            _ => format!("ssh://{destination}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_has_a_user_a_host_and_a_port() {
        for (text, name, destination) in [
            ("ssh://root@192.168.1.1", "192.168.1.1", "root@192.168.1.1"),
            ("ssh://openwrt", "openwrt", "openwrt"),
            ("ssh://openwrt.lan/", "openwrt.lan", "openwrt.lan"),
            ("ssh://root@ap:2222", "ap", "ssh://root@ap:2222"),
            ("ssh://root@[fd00::1]:22", "fd00::1", "ssh://root@[fd00::1]:22"),
            ("ssh://[fd00::1]", "fd00::1", "fd00::1"),
            ("hall=ssh://root@192.168.1.1", "hall", "root@192.168.1.1"),
            ("hall=ssh://root@ap:2222", "hall", "ssh://root@ap:2222"),
            ("ap=ssh://root@[fe80::1%eth0]", "ap", ""),
            ("ap=ssh://root@[fd00::1]", "ap", "root@fd00::1"),
            ("ap=ssh://root@[fd00::1]:22", "ap", "ssh://root@[fd00::1]:22"),
        ] {
            match text.parse::<Target>() {
                Ok(target) => {
                    let expected = Destination::Ssh(destination.to_owned());
                    assert_eq!((target.name.as_str(), &target.destination), (name, &expected));
                    assert_eq!(target.to_string().parse(), Ok(target), "{text}");
                }
                Err(_) => assert_eq!(destination, "", "{text}"),
            }
        }
    }

    #[test]
    fn this_machine_is_local() {
        for (text, name) in [("local", "local"), ("hall=local", "hall")] {
            let target: Target = text.parse().unwrap();
            assert_eq!((target.name.as_str(), &target.destination), (name, &Destination::Local));
            assert_eq!(target.to_string().parse(), Ok(target));
        }
    }

    #[test]
    fn other_texts_are_no_addresses() {
        for text in [
            "",
            "192.168.1.1",
            "http://192.168.1.1",
            "ssh://",
            "ssh://-oProxyCommand=reboot",
            "ssh://root@-x",
            "ssh://root@a b",
            "ssh://root@a;reboot",
            "ssh://root:secret@a",
            "ssh://a:0",
            "ssh://a:70000",
            "ssh://a:22:22",
            "=ssh://a",
            "a b=ssh://a",
            "ssh://[fd00::1",
            "ssh://[x]",
            "local:22",
            "ssh://local/x",
            "hall=Local",
        ] {
            assert!(text.parse::<Target>().is_err(), "{text}");
        }
    }
}
