//! A timed login into a host, and what is slow in it.

use super::{Facts, Finding, Transcript, findings};
use crate::ssh::{Ssh, SshError};
use netburn_units::Duration;

/// Remote command: a minimal command that prints something.
const NOTHING: &str = "echo netburn";

/// A timed login, compared with an existing connection.
#[derive(Debug)]
pub struct LoginCheck {
    /// The login.
    pub login: Transcript,
    /// Time of the same command over an existing connection.
    pub reused: Option<Duration>,
    /// Causes that make the login slow, slowest first.
    pub findings: Vec<Finding>,
}

impl LoginCheck {
    /// Logs in and runs a command, without prompts. If that succeeds, it reads the remote host's settings, and runs the
    /// command again over an existing connection.
    ///
    /// # Errors
    /// If the client can't be started. A failed login is no error.
    pub fn run(ssh: &Ssh) -> Result<LoginCheck, SshError> {
        let cold = ssh.login(NOTHING)?;
        let login = Transcript::read(cold.lines.iter().map(|(at, line)| (*at, line.as_str())));
        let mut facts = Facts {
            client_hosts: hosts_line(),
            ..Facts::default()
        };
        if login.complete {
            // The first command opens the master connection and queries the remote host.
            if let Ok(told) = ssh.run(Facts::question()) {
                facts.learn(&String::from_utf8_lossy(&told.stdout));
            }
            let again = ssh.reused(NOTHING)?;
            facts.reused = again.ok.then_some(again.took);
        }
        Ok(LoginCheck {
            findings: findings(&login, &facts),
            reused: facts.reused,
            login,
        })
    }
}

/// The `hosts:` line of this machine.
fn hosts_line() -> Option<String> {
    let text = std::fs::read_to_string("/etc/nsswitch.conf").ok()?;
    let lines = text
        .lines()
        .map(|line| line.split('#').next().unwrap_or_default().trim());
    lines
        .filter(|line| line.starts_with("hosts:"))
        .map(str::to_owned)
        .next()
}
