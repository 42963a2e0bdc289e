//! `netburn fleet revoke`.

use super::{found, runtime};
use crate::args::RevokeArgs;
use crate::exit::{CliError, ExitStatus};
use crate::terminal::{eprint_message, print_stdout};

/// `netburn fleet revoke`.
pub(crate) fn revoke(RevokeArgs {}: &RevokeArgs) -> Result<ExitStatus, CliError> {
    let welcome = runtime()?.block_on(async {
        let mut owner = found().await?;
        owner
            .revoke()
            .await
            .map_err(|error| CliError::Failed(error.to_string()))
    })?;
    eprint_message(
        "all devices were disconnected, and the dashboard has a new key (printed by the controller); new join addresses:",
    );
    print_stdout(&welcome.urls.iter().map(|url| format!("{url}\n")).collect::<String>())?;
    Ok(ExitStatus::Success)
}
