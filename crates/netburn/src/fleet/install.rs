//! `netburn fleet join --install`: a member that starts with its device.

use crate::args::{JoinArgs, Label};
use crate::exit::{CliError, ExitStatus};
use crate::terminal::eprint_message;
use netburn_deploy::ENVIRONMENT;
use netburn_deploy::install::{Account, InstallError, Installation, Program};
use netburn_protocol::join_url::JoinUrl;
use std::io;

/// `netburn fleet join --install`.
pub(crate) fn install(args: &JoinArgs) -> Result<ExitStatus, CliError> {
    let Some(url) = address(args) else {
        return Err(CliError::Usage(format!(
            "--install needs the address to join: `netburn fleet serve` prints it (or set {ENVIRONMENT})"
        )));
    };
    let installation = Installation::for_this_system(account(), Program::Agent).map_err(cli_error)?;
    let this =
        std::env::current_exe().map_err(|error| CliError::Failed(format!("this program can't be found: {error}")))?;
    installation
        .install(&this, Some(&url), join_words(args), |event| {
            eprint_message(&event.to_string())
        })
        .map_err(cli_error)?;
    Ok(ExitStatus::Success)
}

/// `netburn fleet join --uninstall`.
pub(crate) fn uninstall() -> Result<ExitStatus, CliError> {
    let installation = Installation::for_this_system(account(), Program::Agent).map_err(cli_error)?;
    installation
        .uninstall(|event| eprint_message(&event.to_string()))
        .map_err(cli_error)?;
    Ok(ExitStatus::Success)
}

/// The user of this process.
pub(crate) fn account() -> Account {
    Account {
        is_root: netburn_platform::process::is_root(),
        id: netburn_platform::process::user(),
    }
}

pub(crate) fn cli_error(error: InstallError) -> CliError {
    let text = error.to_string();
    match error {
        InstallError::Write { source, .. } if source.kind() != io::ErrorKind::PermissionDenied => {
            CliError::Failed(text)
        }
        InstallError::Start { .. } => CliError::Failed(text),
        _ => CliError::Usage(text),
    }
}

/// The address to join, from the arguments or the environment.
pub(crate) fn address(args: &JoinArgs) -> Option<String> {
    let url = args
        .url
        .clone()
        .or_else(|| std::env::var(ENVIRONMENT).ok().filter(|url| !url.is_empty()))?;
    // A separate token is appended to the address.
    match (&args.token, url.parse::<JoinUrl>()) {
        (Some(token), Ok(parsed)) if parsed.token.is_none() => Some(format!("{}#{token}", url.trim_end_matches('#'))),
        _ => Some(url),
    }
}

/// The words after `netburn fleet join`.
fn join_words(args: &JoinArgs) -> Vec<String> {
    let mut all = words(args.name.as_deref(), &args.labels, args.interface.as_deref());
    let mut option = |name: &str, value: Option<String>| {
        if let Some(value) = value {
            all.extend([name.to_owned(), value]);
        }
    };
    option("--server", args.server.clone());
    option("--max-rate", args.limits.max_rate.map(|rate| rate.to_string()));
    option("--max-bytes", args.limits.max_bytes.map(|bytes| bytes.to_string()));
    option("--max-duration", args.limits.max_duration.map(|time| time.to_string()));
    option("--hours", args.limits.hours.map(|hours| hours.to_string()));
    if args.serve {
        all.push("--serve".to_owned());
    }
    all
}

/// Options of `netburn fleet join` as words.
pub(crate) fn words(name: Option<&str>, labels: &[Label], interface: Option<&str>) -> Vec<String> {
    let mut words = Vec::new();
    for (option, value) in [("--name", name), ("--interface", interface)] {
        words.extend(
            value
                .map(|value| [option.to_owned(), value.to_owned()])
                .into_iter()
                .flatten(),
        );
    }
    for label in labels {
        words.extend(["--label".to_owned(), format!("{}={}", label.key, label.value)]);
    }
    words
}
