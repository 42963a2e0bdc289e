//! What a socket's packets are marked with.

use std::cell::Cell;
use std::os::fd::AsFd;

/// The DSCP that a socket was told last: none at first, and then it sends what its system has it send.
#[derive(Debug, Default)]
pub(crate) struct Marking(Cell<u8>);

impl Marking {
    /// Has `socket` send with `dscp` from now on. Where the system refuses, the answer goes without: it is one all the same.
    pub(crate) fn set(&self, socket: impl AsFd, dscp: u8) {
        if self.0.get() != dscp && netburn_linux::set_dscp(socket, dscp).is_ok() {
            self.0.set(dscp);
        }
    }
}
