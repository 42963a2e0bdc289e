//! `netburn watch --install`: a watch that starts with its computer.

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
    installation
        .install(&this, None, words(args, &dir)?, |event| {
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

/// The words after `netburn watch`.
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
    option("--keep", Some(args.keep.to_string()));
    option("--interface", args.interface.clone());
    option("--load", args.load.load.map(|time| time.to_string()));
    option("--load-rate", args.load.load_rate.map(|rate| rate.to_string()));
    for rule in &args.alerts.alert {
        option("--alert", Some(rule.clone()));
    }
    option("--exec", args.alerts.exec.clone());
    option("--webhook", args.alerts.webhook.as_ref().map(ToString::to_string));
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

    /// The service has the options of the command that installed it.
    #[test]
    fn the_words_of_a_service_are_the_same_options() {
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
        let again = parsed(&words(&args, Path::new("/srv/w")).unwrap());
        let text = |args: &WatchArgs| format!("{args:?}").replace("port: None", "port: Some(4488)");
        assert_eq!(text(&again), text(&args));
    }
}
