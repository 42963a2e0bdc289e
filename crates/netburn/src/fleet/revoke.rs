//! `netburn fleet revoke`.

use super::{found, runtime};
use crate::args::RevokeArgs;
use crate::exit::{Ended, Stop};
use crate::terminal::{data, say};

/// `netburn fleet revoke`.
pub(crate) fn revoke(RevokeArgs {}: &RevokeArgs) -> Result<Ended, Stop> {
    let welcome = runtime()?.block_on(async {
        let mut owner = found().await?;
        owner
            .revoke()
            .await
            .map_err(|error| Stop::NotMeasured(error.to_string()))
    })?;
    say(
        "everybody was thrown out, and the page of the runs has a new key, which the controller has printed; join anew with",
    );
    data(&welcome.urls.iter().map(|url| format!("{url}\n")).collect::<String>())?;
    Ok(Ended::Ran)
}
