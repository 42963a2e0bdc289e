//! `netburn fleet`: the controller, its members, and what is done about them.

mod check;
mod deploy;
mod join;
mod list;
mod revoke;
mod serve;

use crate::args::{FleetArgs, FleetCommand};
use crate::exit::{Ended, Stop};

/// `netburn fleet …`.
pub(crate) fn fleet(args: &FleetArgs) -> Result<Ended, Stop> {
    match &args.command {
        FleetCommand::Serve(args) => serve::serve(args),
        FleetCommand::Join(args) => join::join(args),
        FleetCommand::List(args) => list::list(args),
        FleetCommand::Revoke(args) => revoke::revoke(args),
        FleetCommand::Deploy(args) => deploy::deploy(args),
        FleetCommand::Check(args) => check::check(args),
    }
}
