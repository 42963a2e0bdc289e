//! What a socket's packets are marked with.

use std::cell::Cell;
use std::os::fd::AsFd;

/// The DSCP that a socket was told last: none at first, and then it sends what its system has it send.
#[derive(Debug, Default)]
pub(crate) struct SocketDscp(Cell<u8>);

impl SocketDscp {
    /// Has `socket` send with `dscp` from now on, and whether it does. Where the system refuses, what is sent carries what was set
    /// last: on a connection an earlier answer's mark, on a socket that many share another client's.
    pub(crate) fn set(&self, socket: impl AsFd, dscp: u8) -> bool {
        if self.0.get() != dscp && netburn_linux::set_dscp(socket, dscp).is_ok() {
            self.0.set(dscp);
        }
        self.0.get() == dscp
    }

    /// Whether nothing was set: what is sent is as its system has it.
    pub(crate) fn is_plain(&self) -> bool {
        self.0.get() == 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::net::UdpSocket;

    #[test]
    fn a_mark_that_is_refused_leaves_the_one_before() {
        let socket = UdpSocket::bind("127.0.0.1:0").unwrap();
        let marking = SocketDscp::default();
        // 6 bits: 64 is refused.
        assert!(!marking.set(&socket, 64) && marking.is_plain());
        assert!(marking.set(&socket, 46) && !marking.is_plain());
        assert!(!marking.set(&socket, 64) && !marking.is_plain());
        assert!(marking.set(&socket, 46) && marking.set(&socket, 0) && marking.is_plain());
    }
}
