//! `netburn fleet serve`.

use crate::args::FleetServeArgs;
use crate::exit::{Ended, Stop};

/// `netburn fleet serve`.
pub(crate) fn serve(args: &FleetServeArgs) -> Result<Ended, Stop> {
    let _ = args;
    Err(Stop::Wrong("this build has no `netburn fleet serve`".to_owned()))
}
