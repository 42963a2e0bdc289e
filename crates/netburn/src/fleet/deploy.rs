//! `netburn fleet deploy`.

use crate::args::DeployArgs;
use crate::exit::{Ended, Stop};

/// `netburn fleet deploy`.
pub(crate) fn deploy(args: &DeployArgs) -> Result<Ended, Stop> {
    let _ = args;
    Err(Stop::Wrong("this build has no `netburn fleet deploy`".to_owned()))
}
