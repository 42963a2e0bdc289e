//! The address of an access point that is observed.

pub use netburn_scenario::plan::Destination;
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
        let destination = address.parse().map_err(|_| ParseTargetError(address.to_owned()))?;
        Ok(Target {
            name: name.to_owned(),
            destination,
        })
    }
}

/// Characters of names.
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
        self.destination.host()
    }

    /// The address with its scheme.
    #[must_use]
    pub fn address(&self) -> String {
        self.destination.to_string()
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
