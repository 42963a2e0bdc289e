//! `netburn fleet list`.

use crate::args::FleetListArgs;
use crate::exit::{Ended, Stop};

/// `netburn fleet list`.
pub(crate) fn list(args: &FleetListArgs) -> Result<Ended, Stop> {
    let _ = args;
    Err(Stop::Wrong("this build has no `netburn fleet list`".to_owned()))
}
