//! The alert rules of a watch, and their actions.

mod action;
#[cfg_attr(unix, path = "alerts/shell/unix.rs")]
#[cfg_attr(windows, path = "alerts/shell/windows.rs")]
mod shell;

use crate::args::AlertArgs;
use crate::exit::CliError;
use crate::terminal::eprint_message;
use action::{Action, Notice, START};
use netburn_analysis::explain::Kind;
use netburn_record::UnixTime;
use netburn_report::sanitise::sanitise;
use netburn_traffic::fetch::Url;
use netburn_watch::Sample;
use netburn_watch::alert::{Alert, Change};
use netburn_watch::hour::Reading;
use netburn_watch::rule::Rule;

/// Environment variable with the command of `--exec`. Unlike arguments, other users can't read it.
pub(super) const EXEC: &str = "NETBURN_WATCH_EXEC";
/// Environment variable with the URL of `--webhook`.
pub(super) const WEBHOOK: &str = "NETBURN_WATCH_WEBHOOK";

/// Maximum number of rules.
const MAX_RULES: usize = 100;

/// All rules.
pub(super) struct Alerts {
    alerts: Vec<Alert>,
    action: Action,
}

impl Alerts {
    /// Parses the rules, and starts the tasks of their actions.
    pub(super) fn new(args: &AlertArgs) -> Result<Alerts, CliError> {
        let (exec, webhook) = actions(args, |name| std::env::var(name).ok())?;
        Ok(Alerts {
            alerts: check(args)?,
            action: Action::new(exec, webhook),
        })
    }

    /// A probe ended.
    pub(super) fn handle_sample(&mut self, sample: Sample) {
        for alert in &mut self.alerts {
            alert.handle_sample(sample);
        }
    }

    /// There were no probes for a while.
    pub(super) fn handle_gap(&mut self) {
        for alert in &mut self.alerts {
            alert.handle_gap();
        }
    }

    /// The analysis of a finished hour named these causes.
    pub(super) fn handle_causes(&mut self, causes: &[&str], hour: &str) {
        for alert in &mut self.alerts {
            if let Some(change) = alert.handle_causes(causes) {
                report(&self.action, alert, change, UnixTime::now(), Some(hour));
            }
        }
    }

    /// Evaluates all rules.
    pub(super) fn poll(&mut self, now: Reading) {
        for alert in &mut self.alerts {
            if let Some(change) = alert.poll(now.mono) {
                report(&self.action, alert, change, now.wall, None);
            }
        }
    }

    /// Texts of the rules, and whether each alert is active.
    pub(super) fn states(&self) -> Vec<(String, bool)> {
        let state = |alert: &Alert| (alert.rule().text.clone(), alert.is_active());
        self.alerts.iter().map(state).collect()
    }
}

fn report(action: &Action, alert: &Alert, change: Change, at: UnixTime, hour: Option<&str>) {
    let notice = Notice {
        state: if change.starts { START } else { "end" },
        rule: alert.rule().text.clone(),
        value: change.value.map(|value| value.to_string()),
        part: alert.part().map(|part| part.name()),
        at: at.rfc3339(),
        hour: hour.map(str::to_owned),
    };
    eprint_message(&sanitise(&notice.line()));
    action.perform(notice);
}

/// The command and the URL of the actions, from the arguments or from the environment.
pub(super) fn actions(
    args: &AlertArgs,
    variable: impl Fn(&str) -> Option<String>,
) -> Result<(Option<String>, Option<Url>), CliError> {
    let variable = |name| variable(name).filter(|value| !value.is_empty());
    let exec = args.exec.clone().or_else(|| variable(EXEC));
    let webhook = match (&args.webhook, variable(WEBHOOK)) {
        (Some(url), _) => Some(url.clone()),
        (None, Some(text)) => {
            let url = text.parse();
            // The address is a secret, which the text of an error would print.
            Some(url.map_err(|_| CliError::Usage(format!("{WEBHOOK}: expected a URL of http or https")))?)
        }
        (None, None) => None,
    };
    Ok((exec, webhook))
}

/// Parses the rules.
pub(super) fn check(args: &AlertArgs) -> Result<Vec<Alert>, CliError> {
    let causes: Vec<&str> = Kind::ALL.iter().map(|kind| kind.name()).collect();
    if args.alert.len() > MAX_RULES {
        let found = args.alert.len();
        return Err(CliError::Usage(format!(
            "--alert: found {found} rules, expected at most {MAX_RULES}"
        )));
    }
    let rules = args.alert.iter().map(|text| Rule::parse(text, &causes));
    let alerts: Result<Vec<Alert>, _> = rules.map(|rule| rule.map(Alert::new)).collect();
    alerts.map_err(|error| CliError::Usage(format!("--alert: {error}")))
}
