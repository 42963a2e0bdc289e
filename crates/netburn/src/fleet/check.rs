//! `netburn fleet check`: each phase of a login over SSH, timed, compared with an existing
//! connection.

use super::ssh_error;
use crate::args::{CheckArgs, Format};
use crate::exit::{CliError, ExitStatus};
use crate::terminal::{document, print_stdout};
use netburn_deploy::login::LoginCheck;
use netburn_deploy::ssh::Ssh;
use netburn_units::Duration;
use serde_json::json;
use std::fmt::Write as _;

/// A host and the result of its check.
#[derive(Debug)]
struct Checked {
    host: String,
    result: LoginCheck,
}

/// `netburn fleet check`.
pub(crate) fn check(args: &CheckArgs) -> Result<ExitStatus, CliError> {
    let mut all = Vec::new();
    for host in &args.hosts {
        let ssh = Ssh::new(host, args.ssh_config.clone()).map_err(ssh_error)?;
        all.push(Checked {
            host: host.clone(),
            result: LoginCheck::run(&ssh).map_err(ssh_error)?,
        });
    }
    let text = match args.format {
        Format::Text => all.iter().map(Checked::text).collect::<Vec<_>>().join("\n"),
        Format::Json => document(&all.iter().map(Checked::json).collect::<Vec<_>>()),
    };
    print_stdout(&text)?;
    if all.iter().all(|checked| checked.result.login.complete) {
        Ok(ExitStatus::Success)
    } else {
        Ok(ExitStatus::NotMeasured)
    }
}

fn ms(time: Duration) -> u64 {
    time.as_nanos() / 1_000_000
}

impl Checked {
    fn text(&self) -> String {
        let mut text = match (self.result.login.complete, self.result.reused) {
            (true, Some(reused)) => format!(
                "{}: {} ms to log in and run a command, {} ms over an existing connection\n",
                self.host,
                ms(self.result.login.total()),
                ms(reused)
            ),
            (true, None) => format!(
                "{}: {} ms to log in and run a command\n",
                self.host,
                ms(self.result.login.total())
            ),
            (false, _) => format!(
                "{}: no login without user input: {}\n",
                self.host,
                netburn_report::sanitise::sanitise(
                    self.result.login.error.as_deref().unwrap_or("ssh printed no reason")
                )
            ),
        };
        for phase in &self.result.login.phases {
            let _ = writeln!(
                text,
                "{:>8} ms  {}",
                ms(phase.took),
                netburn_report::sanitise::sanitise(&phase.step.name())
            );
        }
        for finding in &self.result.findings {
            let _ = writeln!(
                text,
                "  slow, {} ms: {}",
                ms(finding.took),
                netburn_report::sanitise::sanitise(&finding.cause)
            );
            let _ = writeln!(text, "    remedy: {}", finding.remedy);
        }
        if self.result.login.complete && self.result.findings.is_empty() {
            text.push_str("  no slow phase\n");
        }
        if let Some(reused) = self.result.reused
            && reused * 3 < self.result.login.total()
        {
            text.push_str(
                "  to reuse connections, set in ~/.ssh/config: ControlMaster auto, ControlPath ~/.ssh/%C, ControlPersist 10m\n",
            );
        }
        text
    }

    fn json(&self) -> serde_json::Value {
        let phases = self.result.login.phases.iter();
        let phases = phases.map(|phase| json!({ "phase": phase.step.name(), "ms": ms(phase.took) }));
        let findings = self.result.findings.iter().map(|finding| {
            json!({ "phase": finding.phase, "ms": ms(finding.took), "cause": finding.cause, "remedy": finding.remedy })
        });
        json!({
            "host": self.host,
            "login_ms": self.result.login.complete.then(|| ms(self.result.login.total())),
            "reused_ms": self.result.reused.map(ms),
            "error": (!self.result.login.complete).then_some(&self.result.login.error),
            "phases": phases.collect::<Vec<_>>(),
            "findings": findings.collect::<Vec<_>>(),
        })
    }
}
