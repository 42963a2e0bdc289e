//! Phases of a login from the output of `ssh -vvv` (RFC 4253, RFC 4252, RFC 4254; the texts are OpenSSH's).

use crate::ssh::OUTPUT;
use netburn_units::Duration;

/// A login, as seen by the client.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Transcript {
    /// Reached phases, in order.
    pub phases: Vec<Phase>,
    /// Authentication methods that the server offers.
    pub offered: Vec<String>,
    /// Version of the server, such as `OpenSSH_9.2p1`.
    pub server: Option<String>,
    /// True if the command was run.
    pub complete: bool,
    /// Last message of the client, if the login failed.
    pub error: Option<String>,
}

/// A phase.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Phase {
    /// Step of the login.
    pub step: Step,
    /// Length.
    pub took: Duration,
}

/// Step of a login.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Step {
    /// Name lookup by the client.
    Lookup,
    /// TCP handshake.
    Connect,
    /// Version exchange.
    Banner,
    /// Key exchange.
    Keys,
    /// Lookup of the user and the client by the server.
    User,
    /// An authentication method: its name, and whether it succeeded.
    Method(String, bool),
    /// Preparation of the session by the server.
    Session,
    /// Request of the command.
    Command,
    /// Start of the user's shell, up to its first output.
    Shell,
}

/// State of the reader.
#[derive(Debug, Clone, PartialEq, Eq)]
enum At {
    Lookup,
    Connect,
    Banner,
    Keys,
    User,
    Method(String),
    Between,
    Session,
    Command,
    Shell,
    Done,
}

impl Transcript {
    /// Reads lines with their times since the start of the client. Times must not decrease.
    #[must_use]
    pub fn read<'a>(lines: impl IntoIterator<Item = (Duration, &'a str)>) -> Transcript {
        let mut reader = Reader {
            read: Transcript::default(),
            at: At::Lookup,
            since: Duration::ZERO,
            output: false,
        };
        for (at, line) in lines {
            reader.line(at, line.trim_end());
        }
        reader.read.complete = reader.at == At::Done;
        reader.read
    }

    /// Total time of the steps for which `wanted` returns true.
    #[must_use]
    pub fn took(&self, wanted: impl Fn(&Step) -> bool) -> Duration {
        let those = self.phases.iter().filter(|phase| wanted(&phase.step));
        those.fold(Duration::ZERO, |sum, phase| sum + phase.took)
    }

    /// Total time.
    #[must_use]
    pub fn total(&self) -> Duration {
        self.took(|_| true)
    }
}

impl Step {
    /// Human-readable name.
    #[must_use]
    pub fn name(&self) -> String {
        match self {
            Step::Lookup => "name lookup".to_owned(),
            Step::Connect => "TCP".to_owned(),
            Step::Banner => "server's version".to_owned(),
            Step::Keys => "key exchange".to_owned(),
            Step::User => "server looks up user and client".to_owned(),
            Step::Method(name, true) => format!("{name}, accepted"),
            Step::Method(name, false) => format!("{name}, rejected"),
            Step::Session => "session".to_owned(),
            Step::Command => "command handed over".to_owned(),
            Step::Shell => "shell, up to its first output".to_owned(),
        }
    }
}

#[derive(Debug)]
struct Reader {
    read: Transcript,
    at: At,
    since: Duration,
    /// The output has arrived. On a busy machine it may precede messages about the session.
    output: bool,
}

impl Reader {
    fn line(&mut self, at: Duration, line: &str) {
        let debug = line.strip_prefix("debug").and_then(|rest| rest.split_once(": "));
        let text = match debug {
            Some((_, text)) => text,
            None => {
                if !line.is_empty() && line != OUTPUT {
                    self.read.error = Some(line.chars().take(200).collect());
                }
                line
            }
        };
        let at = at.max(self.since);
        self.output |= text == OUTPUT;
        if let Some(server) = text.split_once("remote software version ") {
            self.read.server = Some(server.1.chars().take(100).collect());
        }
        match &self.at {
            At::Lookup if text.starts_with("Connecting to ") => self.pass(at, Some(Step::Lookup), At::Connect),
            At::Connect if text.starts_with("Connection established") => self.pass(at, Some(Step::Connect), At::Banner),
            At::Banner if text.starts_with("Remote protocol version ") => self.pass(at, Some(Step::Banner), At::Keys),
            At::Keys if text.contains("SSH2_MSG_NEWKEYS received") => self.pass(at, Some(Step::Keys), At::User),
            At::Session
                if text.starts_with("channel_input_open_confirmation") || text.starts_with("Sending command") =>
            {
                let next = if self.output { At::Done } else { At::Command };
                self.pass(at, Some(Step::Session), next);
            }
            At::Command if text.starts_with("exec request accepted") => self.pass(at, Some(Step::Command), At::Shell),
            // The output of a fast command may precede the message.
            At::Command if text == OUTPUT => self.pass(at, Some(Step::Command), At::Done),
            At::Shell if text == OUTPUT => self.pass(at, Some(Step::Shell), At::Done),
            At::User | At::Method(_) | At::Between => self.authentication(at, text),
            _ => {}
        }
    }

    fn authentication(&mut self, at: Duration, text: &str) {
        if text.starts_with("Authenticated to ") || text.starts_with("Authentication succeeded (") {
            let step = match &self.at {
                At::Method(name) => Some(Step::Method(name.clone(), true)),
                // No authentication was required.
                At::User => Some(Step::User),
                _ => None,
            };
            self.pass(at, step, At::Session);
        } else if let Some(offered) = text.strip_prefix("Authentications that can continue: ") {
            let offered = offered.split(',').take(32).map(str::to_owned);
            self.read.offered = offered.collect();
            match self.at.clone() {
                At::User => self.pass(at, Some(Step::User), At::Between),
                // Several keys may be rejected in sequence.
                At::Method(name) => self.pass(at, Some(Step::Method(name, false)), At::Between),
                _ => {}
            }
        } else if let Some(next) = text.strip_prefix("Next authentication method: ") {
            if let At::Method(name) = self.at.clone() {
                self.pass(at, Some(Step::Method(name, false)), At::Between);
            }
            self.at = At::Method(next.trim().chars().take(40).collect());
        } else if self.at == At::Between && text.starts_with("Offering public key: ") {
            self.at = At::Method("publickey".to_owned());
        }
    }

    fn pass(&mut self, at: Duration, step: Option<Step>, next: At) {
        let took = at - self.since;
        if let Some(step) = step {
            match self.read.phases.last_mut() {
                Some(last) if last.step == step => last.took += took,
                _ => self.read.phases.push(Phase { step, took }),
            }
        }
        self.since = at;
        self.at = next;
    }
}
