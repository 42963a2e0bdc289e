//! Why a login on an access point failed, and what corrects it. Pure.

use crate::target::{Destination, Target};

/// Why an access point can't be observed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LoginProblem {
    /// It accepts no key of the user.
    Key,
    /// The user has not confirmed its host key.
    UnknownHostKey,
    /// Its host key is another one than before.
    ChangedHostKey,
    /// Its name has no address.
    UnknownName,
    /// No answer from its address.
    Unreachable,
    /// It accepts no connection at its SSH port.
    Closed,
    /// It accepted the login, but started no POSIX shell.
    NoShell,
    /// The SSH client is not installed here.
    NotInstalled,
    /// Another cause.
    Other,
}

/// A login that failed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Refusal {
    /// Why, as a clause.
    pub reason: String,
    /// Kind of the cause.
    pub problem: LoginProblem,
}

/// Parts of messages of OpenSSH's client (ssh(1), in the locale C), with their causes. The first that occurs counts.
const MESSAGES: [(&str, LoginProblem); 11] = [
    ("REMOTE HOST IDENTIFICATION HAS CHANGED", LoginProblem::ChangedHostKey),
    ("Host key verification failed", LoginProblem::UnknownHostKey),
    ("Permission denied", LoginProblem::Key),
    ("Too many authentication failures", LoginProblem::Key),
    ("Could not resolve hostname", LoginProblem::UnknownName),
    ("Connection refused", LoginProblem::Closed),
    ("timed out", LoginProblem::Unreachable),
    ("No route to host", LoginProblem::Unreachable),
    ("Network is unreachable", LoginProblem::Unreachable),
    ("Connection reset", LoginProblem::Closed),
    ("Connection closed", LoginProblem::Closed),
];

impl LoginProblem {
    /// The cause in the messages of the SSH client. Without a message of the client the shell ended.
    #[must_use]
    pub fn from_messages(messages: &str) -> LoginProblem {
        let known = MESSAGES.iter().find(|(part, _)| messages.contains(part));
        match known {
            Some((_, problem)) => *problem,
            None if messages.trim().is_empty() => LoginProblem::NoShell,
            None => LoginProblem::Other,
        }
    }

    /// Correction in the imperative; `None` if netburn knows no correction.
    #[must_use]
    pub fn correction(self, target: &Target) -> Option<String> {
        if target.destination == Destination::Local {
            return (self == LoginProblem::NoShell)
                .then(|| "netburn needs a POSIX shell `sh` on this machine".to_owned());
        }
        let (address, host) = (target.address(), target.host());
        // ssh-keygen(1): -R hostname | [hostname]:port.
        let key_name = match target.destination.port() {
            Some(port) => format!("'[{host}]:{port}'"),
            None => host.to_owned(),
        };
        Some(match self {
            LoginProblem::Key => format!(
                "copy your public key to it, and test `ssh {address} true`; \
                 docs/how-to/observe-an-access-point.md has the commands for OpenWrt"
            ),
            LoginProblem::UnknownHostKey => format!("log in once with `ssh {address} true`, and confirm its host key"),
            LoginProblem::ChangedHostKey => format!(
                "if it was installed again, remove its old key with `ssh-keygen -R {key_name}` and log in once; if not, another \
                 machine may have its address"
            ),
            LoginProblem::UnknownName => format!("write its IP address instead of `{host}`"),
            LoginProblem::Unreachable => format!("check that {host} is its address, and that it is on"),
            LoginProblem::Closed => format!("start the SSH server on {host}, and check its port"),
            LoginProblem::NoShell => {
                "netburn can only observe systems with a POSIX shell, such as OpenWrt; remove this access point from the \
                 command"
                    .to_owned()
            }
            LoginProblem::NotInstalled => "install OpenSSH's client on this machine".to_owned(),
            LoginProblem::Other => return None,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Messages of OpenSSH 9.2p1.
    #[test]
    fn messages_of_the_client_have_a_cause() {
        let changed = "@    WARNING: REMOTE HOST IDENTIFICATION HAS CHANGED!     @\nHost key verification failed.\n";
        for (messages, problem) in [
            ("root@hall: Permission denied (publickey).\n", LoginProblem::Key),
            (
                "No ED25519 host key is known for hall and you have requested strict checking.\nHost key verification failed.",
                LoginProblem::UnknownHostKey,
            ),
            (changed, LoginProblem::ChangedHostKey),
            (
                "ssh: Could not resolve hostname hall: Name or service not known",
                LoginProblem::UnknownName,
            ),
            (
                "ssh: connect to host 192.168.1.1 port 22: Connection refused",
                LoginProblem::Closed,
            ),
            (
                "ssh: connect to host 192.168.1.1 port 22: Connection timed out",
                LoginProblem::Unreachable,
            ),
            (
                "ssh: connect to host 192.168.1.1 port 22: No route to host",
                LoginProblem::Unreachable,
            ),
            ("", LoginProblem::NoShell),
            ("sh: not found", LoginProblem::Other),
        ] {
            assert_eq!(LoginProblem::from_messages(messages), problem, "{messages}");
        }
    }

    #[test]
    fn a_correction_names_the_host() {
        let target: Target = "hall=ssh://root@192.168.1.1:2222".parse().unwrap();
        let correction = |problem: LoginProblem| problem.correction(&target).unwrap();
        assert!(correction(LoginProblem::UnknownHostKey).contains("`ssh ssh://root@192.168.1.1:2222 true`"));
        // ssh-keygen(1): -R hostname | [hostname]:port.
        assert!(correction(LoginProblem::ChangedHostKey).contains("`ssh-keygen -R '[192.168.1.1]:2222'`"));
        assert!(correction(LoginProblem::Unreachable).contains("that 192.168.1.1 is its address"));
        assert_eq!(LoginProblem::Other.correction(&target), None);
    }
}
