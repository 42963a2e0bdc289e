//! `netburn fleet join`.

use crate::args::JoinArgs;
use crate::exit::{Ended, Stop};

/// `netburn fleet join`.
pub(crate) fn join(args: &JoinArgs) -> Result<Ended, Stop> {
    if args.install {
        return super::install::install(args);
    }
    if args.uninstall {
        return super::install::uninstall();
    }
    let _ = super::install::address(args);
    Err(Stop::Wrong("this build has no `netburn fleet join`".to_owned()))
}
