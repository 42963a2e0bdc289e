//! `netburn fleet join`.

use crate::args::JoinArgs;
use crate::exit::{Ended, Stop};

/// `netburn fleet join`.
pub(crate) fn join(args: &JoinArgs) -> Result<Ended, Stop> {
    let _ = args;
    Err(Stop::Wrong("this build has no `netburn fleet join`".to_owned()))
}
