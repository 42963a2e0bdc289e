//! `netburn fleet check`: each phase of a login over SSH, timed, against a connection that is there.

use super::ssh::Ssh;
use crate::args::{CheckArgs, Format};
use crate::exit::{CliError, ExitStatus};
use crate::record::document;
use crate::terminal::print_stdout;
use netburn_fleet::ssh::{Facts, Finding, Transcript, findings};
use netburn_units::Duration;
use serde_json::json;
use std::fmt::Write as _;

/// Remote command: a minimal command that prints something.
const NOTHING: &str = "echo netburn";

/// Result of the check of a host.
#[derive(Debug)]
struct Checked {
    host: String,
    login: Transcript,
    reused: Option<Duration>,
    findings: Vec<Finding>,
}

/// `netburn fleet check`.
pub(crate) fn check(args: &CheckArgs) -> Result<ExitStatus, CliError> {
    let mut all = Vec::new();
    for host in &args.hosts {
        all.push(look(host, args)?);
    }
    let text = match args.format {
        Format::Text => all.iter().map(Checked::text).collect::<Vec<_>>().join("\n"),
        Format::Json => document(&all.iter().map(Checked::json).collect::<Vec<_>>()),
    };
    print_stdout(&text)?;
    if all.iter().all(|checked| checked.login.complete) {
        Ok(ExitStatus::Success)
    } else {
        Ok(ExitStatus::NotMeasured)
    }
}

fn look(host: &str, args: &CheckArgs) -> Result<Checked, CliError> {
    let ssh = Ssh::new(host, args.ssh_config.clone())?;
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
        facts.reused = ssh.reused(NOTHING)?.reused();
    }
    Ok(Checked {
        host: host.to_owned(),
        findings: findings(&login, &facts),
        reused: facts.reused,
        login,
    })
}

impl super::ssh::Timed {
    fn reused(self) -> Option<Duration> {
        self.ok.then_some(self.took)
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

fn ms(time: Duration) -> u64 {
    time.as_nanos() / 1_000_000
}

impl Checked {
    fn text(&self) -> String {
        let mut text = match (self.login.complete, self.reused) {
            (true, Some(reused)) => format!(
                "{}: {} ms to log in and run a command, {} ms over a connection that is there\n",
                self.host,
                ms(self.login.total()),
                ms(reused)
            ),
            (true, None) => format!(
                "{}: {} ms to log in and run a command\n",
                self.host,
                ms(self.login.total())
            ),
            (false, _) => format!(
                "{}: no login without a question: {}\n",
                self.host,
                netburn_report::sanitise::sanitise(self.login.complaint.as_deref().unwrap_or("ssh says nothing of it"))
            ),
        };
        for phase in &self.login.phases {
            let _ = writeln!(
                text,
                "{:>8} ms  {}",
                ms(phase.took),
                netburn_report::sanitise::sanitise(&phase.step.name())
            );
        }
        for finding in &self.findings {
            let _ = writeln!(
                text,
                "  slow, {} ms: {}",
                ms(finding.took),
                netburn_report::sanitise::sanitise(&finding.cause)
            );
            let _ = writeln!(text, "    what helps: {}", finding.cure);
        }
        if self.login.complete && self.findings.is_empty() {
            text.push_str("  nothing in it is slow\n");
        }
        if let Some(reused) = self.reused
            && reused * 3 < self.login.total()
        {
            text.push_str(
                "  to reuse connections always, in ~/.ssh/config: ControlMaster auto, ControlPath ~/.ssh/%C, ControlPersist 10m\n",
            );
        }
        text
    }

    fn json(&self) -> serde_json::Value {
        let phases = self.login.phases.iter();
        let phases = phases.map(|phase| json!({ "phase": phase.step.name(), "ms": ms(phase.took) }));
        let findings = self.findings.iter().map(|finding| {
            json!({ "phase": finding.phase, "ms": ms(finding.took), "cause": finding.cause, "cure": finding.cure })
        });
        json!({
            "host": self.host,
            "login_ms": self.login.complete.then(|| ms(self.login.total())),
            "reused_ms": self.reused.map(ms),
            "complaint": (!self.login.complete).then_some(&self.login.complaint),
            "phases": phases.collect::<Vec<_>>(),
            "findings": findings.collect::<Vec<_>>(),
        })
    }
}
