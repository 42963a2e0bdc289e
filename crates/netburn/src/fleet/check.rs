//! `netburn fleet check`.

use crate::args::CheckArgs;
use crate::exit::{Ended, Stop};

/// `netburn fleet check`.
pub(crate) fn check(args: &CheckArgs) -> Result<Ended, Stop> {
    let _ = args;
    Err(Stop::Wrong("this build has no `netburn fleet check`".to_owned()))
}
