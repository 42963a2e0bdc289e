//! `netburn crosscheck`: the models compared with independent programs.

mod lab;
mod ns3;

use crate::args::{Against, CrosscheckArgs};
use crate::exit::{Ended, Stop};

pub(crate) use lab::flow;

/// `netburn crosscheck --against PROGRAM`.
pub(crate) fn crosscheck(args: &CrosscheckArgs) -> Result<Ended, Stop> {
    match args.against {
        Against::Ns3 => ns3::crosscheck(args),
        Against::Lab | Against::Kernel => lab::crosscheck(args),
    }
}
