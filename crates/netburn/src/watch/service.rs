//! `netburn watch --install`: a watch that starts with its computer.

use super::alerts;
use crate::args::WatchArgs;
use crate::exit::{CliError, ExitStatus};
use crate::fleet::install::{account, cli_error};
use crate::terminal::eprint_message;
use netburn_deploy::install::{Installation, Program};
use std::path::Path;

/// Installs the service.
pub(super) fn install(args: &WatchArgs) -> Result<ExitStatus, CliError> {
    let failed = |error: &dyn std::fmt::Display| CliError::Failed(format!("this program can't be found: {error}"));
    let this = std::env::current_exe().map_err(|error| failed(&error))?;
    let dir = std::path::absolute(&args.dir).map_err(|error| CliError::Usage(error.to_string()))?;
    std::fs::create_dir_all(&dir).map_err(|error| CliError::Usage(format!("{}: {error}", dir.display())))?;
    let installation = Installation::for_this_system(account(), Program::Watch).map_err(cli_error)?;
    let secrets = secrets(args, |name| std::env::var(name).ok())?;
    installation
        .install_with_secrets(&this, &secrets, words(args, &dir)?, |event| {
            eprint_message(&event.to_string())
        })
        .map_err(cli_error)?;
    Ok(ExitStatus::Success)
}

/// Removes the service.
pub(super) fn uninstall() -> Result<ExitStatus, CliError> {
    let installation = Installation::for_this_system(account(), Program::Watch).map_err(cli_error)?;
    installation
        .uninstall(|event| eprint_message(&event.to_string()))
        .map_err(cli_error)?;
    Ok(ExitStatus::Success)
}

/// The options that can have passwords, as environment variables: a unit and the arguments are readable for all users.
fn secrets(
    args: &WatchArgs,
    variable: impl Fn(&str) -> Option<String>,
) -> Result<Vec<(&'static str, String)>, CliError> {
    let (exec, webhook) = alerts::actions(&args.alerts, variable)?;
    let webhook = webhook.map(|url| url.to_string());
    let all = [(alerts::EXEC, exec), (alerts::WEBHOOK, webhook)];
    Ok(all
        .into_iter()
        .filter_map(|(name, value)| Some((name, value?)))
        .collect())
}

/// The words after `netburn watch`, without the secrets.
fn words(args: &WatchArgs, dir: &Path) -> Result<Vec<String>, CliError> {
    let Some(dir) = dir.to_str() else {
        return Err(CliError::Usage(format!(
            "{}: found a path that is not UTF-8",
            dir.display()
        )));
    };
    let mut words = vec![dir.to_owned()];
    let mut option = |name: &str, value: Option<String>| {
        if let Some(value) = value {
            words.extend([name.to_owned(), value]);
        }
    };
    option("--server", args.server.as_ref().map(ToString::to_string));
    option("--goal", Some(args.goal.to_string()));
    option("--keep", args.keep.map(|size| size.to_string()));
    option("--interface", args.interface.clone());
    option("--load", args.load.load.map(|time| time.to_string()));
    option("--load-rate", args.load.load_rate.map(|rate| rate.to_string()));
    for rule in &args.alerts.alert {
        option("--alert", Some(rule.clone()));
    }
    option(
        "--metrics",
        args.alerts
            .metrics
            .map(|listen| listen.with_default_port(super::metrics::PORT).to_string()),
    );
    if args.load.yes {
        words.push("--yes".to_owned());
    }
    Ok(words)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::args::{Cli, Command};
    use clap::Parser;

    fn parsed(words: &[String]) -> WatchArgs {
        let all = ["netburn", "watch"].iter().map(|word| (*word).to_owned());
        match Cli::try_parse_from(all.chain(words.iter().cloned())).unwrap().command {
            Command::Watch(args) => *args,
            _ => unreachable!("the command is watch"),
        }
    }

    /// The service has the options of the command that installed it, some of them as environment variables.
    #[test]
    fn the_words_and_secrets_of_a_service_are_the_same_options() {
        let given = [
            "/srv/w",
            "--server",
            "[2001:db8::1]:4480",
            "--goal",
            "80ms",
            "--keep",
            "500MB",
            "--interface",
            "wlan0",
            "--load",
            "10s",
            "--load-rate",
            "20",
            "--alert",
            "server p95 > 100 ms for 5 min",
            "--alert",
            "cause line-down",
            "--exec",
            "echo $X",
            "--webhook",
            "https://example.net/a?b=c",
            "--metrics",
            "127.0.0.1",
            "--yes",
        ]
        .map(str::to_owned);
        let args = parsed(&given);
        let words = words(&args, Path::new("/srv/w")).unwrap();
        assert!(
            !words
                .iter()
                .any(|word| word.contains("echo") || word.contains("example.net"))
        );
        let mut again = parsed(&words);
        let secrets = secrets(&args, |_| None).unwrap();
        let read = |name: &str| {
            let found = secrets.iter().find(|(secret, _)| *secret == name);
            found.map(|(_, value)| value.clone())
        };
        (again.alerts.exec, again.alerts.webhook) = alerts::actions(&again.alerts, read).unwrap();
        let text = |args: &WatchArgs| format!("{args:?}").replace("port: None", "port: Some(4488)");
        assert_eq!(text(&again), text(&args));
    }

    /// An option is stronger than the environment, and no error shows the address.
    #[test]
    fn secrets_come_from_options_or_from_the_environment() {
        let plain = parsed(&["--alert", "cause line-down"].map(str::to_owned));
        assert_eq!(secrets(&plain, |_| None).unwrap(), []);
        let of_environment = |name: &str| Some(format!("https://example.org/{name}"));
        let exec = (alerts::EXEC, "https://example.org/NETBURN_WATCH_EXEC".to_owned());
        let webhook = (alerts::WEBHOOK, "https://example.org/NETBURN_WATCH_WEBHOOK".to_owned());
        assert_eq!(secrets(&plain, of_environment).unwrap(), [exec, webhook.clone()]);
        let given = parsed(&["--alert", "cause line-down", "--exec", "true"].map(str::to_owned));
        let exec = (alerts::EXEC, "true".to_owned());
        assert_eq!(secrets(&given, of_environment).unwrap(), [exec, webhook]);
        let error = secrets(&plain, |_| Some("ftp://token".to_owned())).unwrap_err();
        assert!(!format!("{error:?}").contains("token"), "{error:?}");
    }
}
