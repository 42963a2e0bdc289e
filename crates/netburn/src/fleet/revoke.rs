//! `netburn fleet revoke`.

use crate::args::RevokeArgs;
use crate::exit::{Ended, Stop};

/// `netburn fleet revoke`.
pub(crate) fn revoke(args: &RevokeArgs) -> Result<Ended, Stop> {
    let _ = args;
    Err(Stop::Wrong("this build has no `netburn fleet revoke`".to_owned()))
}
